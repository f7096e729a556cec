"""Configs and NVIDIA's library at one problem, on the same matrices."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from arms import arrays
from contenders import Contender, Library, complain
from harness import brief_us, buffer_sets, interleave, median_us
from matrices import exact_product, wrong_elements
from unseen_candidates import Builds
from unseen_rules import KERNEL

from autotune.records import Config
from kernel_space.gemm import GemmProblem

FINALISTS = 3  # of the fastest configs, and of cublasLt's ranks
RANKS = 8
TORCH = "torch.matmul"
WARMUP_S = 0.1
Times = dict[str, float]  # in µs, by name


class Meeting:
    """All who compute a problem.

    Args:
        problem: What they compute.
        builds: Has the configs' binaries.
        configs: Who competes with the library.

    Attributes:
        wrong: How many elements were wrong, by the name of the config that made them.
    """

    def __init__(self, problem: GemmProblem, builds: Builds, configs: Iterable[Config]) -> None:
        self._problem = problem
        sets = buffer_sets(KERNEL.cost(problem).bytes)
        self._buffers = [arrays(problem.operands) for _ in range(sets)]
        self._exact = exact_product(problem, self._buffers[0])
        self._ours = builds.contenders(problem, configs, buffers=self._buffers)
        self._is_right: dict[str, bool] = {}
        self.wrong: dict[str, int] = {}

    def brief_us(self) -> Times:
        """Return about what each config takes, the fastest first, without those that fail."""
        return self._brief_us(self._ours.values())

    def right(self, names: Iterable[str]) -> Iterator[str]:
        """Yield those of the configs whose product is right."""
        for name in names:
            if name not in self._is_right:
                self._is_right[name] = self._check(name)
            if self._is_right[name]:
                yield name

    def in_turns(self, names: Iterable[str], *, rounds: int) -> Times:
        """Return the medians of these configs and of the library's best, timed in turns."""
        library = {
            each.name: each for each in Library(RANKS).contenders(self._problem, self._buffers)
        }
        fastest = [*self._brief_us(library.values())]
        met = [library[name] for name in dict.fromkeys([TORCH, *fastest[:FINALISTS]])]
        arms = {each.name: each.arm for each in [*map(self._ours.__getitem__, names), *met]}
        return median_us(interleave(arms, len(self._buffers), rounds=rounds, warmup_s=WARMUP_S))

    def _brief_us(self, contenders: Iterable[Contender]) -> Times:
        times: Times = {}
        for each in contenders:
            try:
                times[each.name] = brief_us(each.arm, len(self._buffers))
            except Exception as error:  # noqa: BLE001 - whatever stops one, the others go on
                complain(f"{self._problem}: {each.name}: {error}")
        return {name: times[name] for name in sorted(times, key=times.__getitem__)}

    def _check(self, name: str) -> bool:
        """Return whether a config's product is right, and count what is not."""
        result = self._buffers[0]["c"].fill_(math.nan)
        self._ours[name].arm(0)
        wrong = wrong_elements(self._problem, result, self._exact)
        if wrong:
            self.wrong[name] = wrong
            complain(f"{self._problem}: {name}: {wrong} elements are wrong")
        return not wrong
