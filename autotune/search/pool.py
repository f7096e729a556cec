"""The configs that a searcher may choose from, as arrays, and which of them are free."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from autotune.records import Config, Value
from autotune.space import Parameter, Space

FAR = 2**30  # more than all axes have levels, and twice it is no overflow


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """One parameter that varies among the configs of a pool.

    Attributes:
        name: The parameter's name.
        levels: Those of its values that occur, in the parameter's order. A code is a position
            in this tuple.
        ordered: True if neighbouring levels behave alike.
    """

    name: str
    levels: tuple[Value, ...]
    ordered: bool


class Pool:
    """Valid configs, each with one code for each axis, some of them taken.

    A row is a config's position in ``valid``. Rows lie as many steps apart as there are levels
    between them on the ordered axes, plus one for each unordered axis on which they differ.

    Args:
        space: Says which parameters are ordered.
        valid: Distinct configs.
        seed: Decides the random order of the rows and which of equally near rows is nearest.

    Attributes:
        axes: The parameters that vary.
        codes: The code of each row on each axis, int32 [axis, row].
        shuffled: Every row, in random order.
        taken_count: How many rows are taken.
    """

    def __init__(self, space: Space, valid: Sequence[Config], *, seed: int) -> None:
        self.seed = seed
        columns = _columns(valid)
        axes = (_axis(parameter, columns) for parameter in space.parameters)
        self.axes = tuple(axis for axis in axes if len(axis.levels) > 1)
        self._code = [{level: i for i, level in enumerate(axis.levels)} for axis in self.axes]
        self.codes = np.empty((len(self.axes), len(valid)), dtype=np.int32)
        for axis, code, row in zip(self.axes, self._code, self.codes, strict=True):
            row[:] = [code[value] for value in columns[axis.name]]
        order = np.random.default_rng(seed).permutation(len(valid))
        self.shuffled: list[int] = order.tolist()
        self.taken_count = 0
        self._configs = tuple(valid)
        self._row = {config: row for row, config in enumerate(valid)}
        self._handicap = np.zeros(len(valid), dtype=np.int32)  # FAR once a row is taken
        self._lottery = np.argsort(order)

    def __len__(self) -> int:
        return len(self._configs)

    def row(self, config: Config) -> int | None:
        """Return the row of ``config``, or None if the pool lacks it."""
        return self._row.get(config)

    def encode(self, config: Config) -> list[int] | None:
        """Return the codes of a config that the pool may lack, or None if it has no such levels."""
        each = zip(self.axes, self._code, strict=True)
        try:
            return [code[config[axis.name]] for axis, code in each]
        except KeyError:
            return None

    def is_free(self, row: int) -> bool:
        """Return True until ``row`` is taken."""
        return not self._handicap[row]

    def are_free(self, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return which of ``rows`` are free."""
        free: NDArray[np.bool_] = self._handicap[rows] == 0
        return free

    def take(self, row: int) -> Config:
        """Return the config of ``row``, which is not free from now on."""
        self.taken_count += self.is_free(row)
        self._handicap[row] = FAR
        return self._configs[row]

    def steps(self, point: ArrayLike) -> NDArray[np.int32]:
        """Return how many steps each row, free or not, is away from ``point``."""
        away = np.zeros(len(self), dtype=np.int32)
        for code, at, axis in zip(self.codes, np.asarray(point, np.int32), self.axes, strict=True):
            away += np.abs(code - at) if axis.ordered else code != at
        return away

    def nearest(self, point: ArrayLike) -> tuple[int, int]:
        """Return the free row nearest to ``point`` and how many steps away it is.

        Args:
            point: One code for each axis; no config needs to have them all.
        """
        away = self.steps(point) + self._handicap
        least = away.min()
        tied = np.flatnonzero(away == least)
        return int(tied[self._lottery[tied].argmin()]), int(least)


def _columns(configs: Sequence[Config]) -> dict[str, list[Value]]:
    """Return what ``configs``, all of the same parameters, have of each."""
    names = tuple(configs[0]) if configs else ()
    values = [value for config in configs for value in config.values()]
    return {name: values[at :: len(names)] for at, name in enumerate(names)}


def _axis(parameter: Parameter, columns: Mapping[str, Sequence[Value]]) -> Axis:
    present = set(columns.get(parameter.name, ()))
    levels = tuple(value for value in parameter.values if value in present)
    return Axis(name=parameter.name, levels=levels, ordered=parameter.ordered)
