"""A rung: one step of the ladder that a kernel's mechanisms form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from autotune.records.config import Config, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """One way to compute, described by how it differs from the way below it.

    Attributes:
        name: What it is called.
        where: The values, by parameter, that make a config one of this rung.
        preferred: Configs of this rung that may stand for it, best first: the first that keeps
            every rule does. There is at least one.
        change: What is different from the rung below, in a few words.
        why: Why that helps, in a sentence.
    """

    name: str
    where: Mapping[str, Value]
    preferred: tuple[Config, ...]
    change: str
    why: str

    def __post_init__(self) -> None:
        """Refuse what could not be shown, or be one of its configs."""
        if not (isinstance(self.name, str) and self.name.strip() and self.name.isprintable()):
            raise ValueError(f"the name of a rung is printable text, not {self.name!r}")
        for text in (self.change, self.why):
            if not (isinstance(text, str) and text.isprintable()):
                raise ValueError(f"rung {self.name!r} is told in lines of text, not {text!r}")
        if not isinstance(self.where, Mapping):
            raise TypeError(f"rung {self.name!r}: 'where' maps names to values, not {self.where!r}")
        if not all(isinstance(config, Config) for config in self.preferred):
            raise TypeError(f"rung {self.name!r} prefers configs, not {self.preferred!r:.60}")
        if not self.preferred:
            raise ValueError(f"rung {self.name!r} prefers no config")
        for config in self.preferred:
            if not self.holds(config):
                raise ValueError(f"rung {self.name!r} prefers {config}, which its 'where' excludes")

    def holds(self, config: Mapping[str, Value]) -> bool:
        """Return whether ``config`` is one of this rung."""
        return all(config.get(name) == value for name, value in self.where.items())
