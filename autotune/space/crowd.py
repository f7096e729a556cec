"""Many configs, judged at once by the rules of a space."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from autotune.records import Config, Value
from autotune.space.space import Space

Among = tuple[str, tuple[Value, ...]] | None
Bits = int  # one for each config, the lowest for the first
Alike = tuple[dict[str, Value], Bits]  # values, and the configs that have them


class Crowd:
    """Configs that the spaces of many problems are to choose from.

    A rule is asked once for all configs that it cannot tell apart. Which ones these are follows
    from what it uses, so that it is found out once for all problems.

    Args:
        configs: The configs.
    """

    def __init__(self, configs: Sequence[Config]) -> None:
        self._configs = configs
        self._named = cache(self._of_names)
        self._alike = cache(self._told_apart)

    def within(self, space: Space) -> list[Config]:
        """Return those that keep every rule of ``space``.

        Raises:
            InvalidInput: A rule's own code raises, or answers with neither words nor None.
        """
        left = self._named(tuple(parameter.name for parameter in space.parameters))
        for parameter in space.parameters:
            for values, members in self._alike((parameter.name,)):
                if values[parameter.name] not in parameter.values:
                    left &= ~members
        for rule in space.rules():
            for values, members in self._alike(rule.uses, rule.among):
                if left & members and rule.judge(values) is not None:
                    left &= ~members
        return [config for at, config in enumerate(self._configs) if left >> at & 1]

    def _of_names(self, names: tuple[str, ...]) -> Bits:
        alike = (config.keys() == set(names) for config in self._configs)
        return sum(right << at for at, right in enumerate(alike))

    def _told_apart(self, names: tuple[str, ...], among: Among = None) -> list[Alike]:
        found: dict[tuple[Value, ...], Bits] = {}
        for at, config in enumerate(self._configs):
            some = among is None or config.get(among[0]) in among[1]
            if some and all(name in config for name in names):
                values = tuple(config[name] for name in names)
                found[values] = found.get(values, 0) | 1 << at
        return [(dict(zip(names, values, strict=True)), bits) for values, bits in found.items()]
