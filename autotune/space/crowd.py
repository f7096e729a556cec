"""Many configs, judged at once by the rules of a space."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from autotune.records import Config, Value
from autotune.space.parameter import Where
from autotune.space.space import Space

Members = int  # some of the configs: a bit for each of them, the lowest for the first
Alike = tuple[dict[str, Value], Members]  # values, and the configs that have them


class Crowd:
    """Configs that the spaces of many problems are to choose from.

    A rule is asked once for all configs that it cannot tell apart. Which ones these are follows
    from what it uses, so that it is found out once for all problems.

    Args:
        configs: The configs.
    """

    def __init__(self, configs: Sequence[Config]) -> None:
        self._configs = configs
        self._named = cache(self._find_named)
        self._alike = cache(self._find_alike)

    def within(self, space: Space) -> list[Config]:
        """Return those that keep every rule of ``space``.

        Raises:
            InvalidInput: A rule's own code raises, or answers with neither words nor None.
        """
        kept = self._named(tuple(parameter.name for parameter in space.parameters))
        for parameter in space.parameters:
            for values, members in self._alike((parameter.name,)):
                if values[parameter.name] not in parameter.values:
                    kept &= ~members
        for rule in space.rules():
            for values, members in self._alike(rule.uses, rule.where):
                # A rule may rely on those before it: it is not asked of what broke one of them.
                if kept & members and rule.judge(values) is not None:
                    kept &= ~members
        return [config for at, config in enumerate(self._configs) if kept >> at & 1]

    def _find_named(self, names: tuple[str, ...]) -> Members:
        """Return the configs that give values to these parameters and to no others."""
        same = (config.keys() == set(names) for config in self._configs)
        return sum(1 << at for at, is_same in enumerate(same) if is_same)

    def _find_alike(self, names: tuple[str, ...], where: Where | None = None) -> list[Alike]:
        """Return the configs that are as ``where`` says, by their values of some parameters."""
        found: dict[tuple[Value, ...], Members] = {}
        for at, config in enumerate(self._configs):
            concerned = where is None or config.get(where[0]) in where[1]
            if concerned and all(name in config for name in names):
                values = tuple(config[name] for name in names)
                found[values] = found.get(values, 0) | (1 << at)
        return [(dict(zip(names, values, strict=True)), some) for values, some in found.items()]
