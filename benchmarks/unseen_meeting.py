"""A problem's candidates for its fastest config, their binaries, and their meeting with cuBLAS."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future

from arms import Buffers, arrays, kernel_arm
from contenders import Contender, Library, complain
from harness import brief_us, buffer_sets, interleave, median_us
from matrices import exact_product, wrong_elements
from unseen_problems import KERNEL, Measured, nearest
from unseen_rules import Rules

from autotune.records import Binary, Config, Failure, SourceUnit, Target
from autotune.toolchain import CompilePool
from kernel_space.gemm import GemmProblem

POOLED = 25  # of the fastest configs of each problem that was tuned
NEIGHBOURS, WINNERS = 3, 3  # of how many problems how many configs
FINALISTS = 3  # of the fastest configs, and of cublasLt's ranks
RANKS = 8
TORCH = "torch.matmul"
WARMUP_S = 0.1
Times = dict[str, float]  # in µs, by name


class Candidates:
    """The configs that meet on a problem: it is tuned with them.

    They are all that the table holds, what was fastest on the nearest problems that were tuned, and
    those that the kernel's model predicts to be fastest, of all that was fast on some problem.

    Args:
        rules: What answers.
        measured: What is known of problems that were tuned.
        target: The device.
        predicted: How many are taken for their prediction alone.
        crossed: Take those, too, that were measured on so many problems; 0: no more.
    """

    def __init__(
        self,
        rules: Rules,
        measured: Measured,
        target: Target,
        *,
        predicted: int,
        crossed: int = 0,
    ) -> None:
        self._rules, self._measured, self._target = rules, measured, target
        self._count = predicted
        known = Counter(config for times in measured.values() for config in times)
        self._crossed = [config for config, count in known.items() if 0 < crossed <= count]

    def of(self, problem: GemmProblem) -> list[Config]:
        """Return the configs that the kernel takes for a problem, each once."""
        near = nearest(problem, self._measured, NEIGHBOURS)
        winners = [config for other in near for config in [*self._measured[other]][:WINNERS]]
        offered = [*self._rules.answers(problem).values(), *self._rules.portfolio(problem)]
        found = dict.fromkeys([*offered, *self._valid(problem, [*winners, *self._crossed])])
        return list(found | dict.fromkeys(self._promising(problem)))

    def _promising(self, problem: GemmProblem) -> list[Config]:
        alike = nearest(problem, self._measured, len(self._measured))
        fast = dict.fromkeys(c for other in alike for c in [*self._measured[other]][:POOLED])
        times = KERNEL.estimates(problem, self._valid(problem, fast), self._target)
        return sorted(times, key=times.__getitem__)[: self._count]

    def _valid(self, problem: GemmProblem, configs: Iterable[Config]) -> list[Config]:
        space = KERNEL.space(problem, self._target)
        return [config for config in configs if config in space]


class Builds:
    """Binaries of configs: one for all problems and configs whose code is the same.

    Args:
        pool: What compiles them, all at once.
        target: The device.

    Attributes:
        names: A short name for each config that was asked for.
    """

    def __init__(self, pool: CompilePool, target: Target) -> None:
        self._pool, self._target = pool, target
        self._started: dict[SourceUnit, Future[Binary | Failure]] = {}
        self.names: dict[Config, str] = {}

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._started)

    def start(self, problem: GemmProblem, configs: Iterable[Config]) -> None:
        """Begin to compile what is not compiled yet."""
        for config in configs:
            self.names.setdefault(config, f"config {len(self.names)}")
            unit = KERNEL.unit(problem, config, self._target)
            if unit not in self._started:
                self._started[unit] = self._pool.submit(unit)

    def contenders(
        self, problem: GemmProblem, configs: Iterable[Config], *, buffers: Sequence[Buffers]
    ) -> dict[str, Contender]:
        """Return what launches each config that compiled, by its name."""
        found = {}
        for config in configs:
            built = self._started[KERNEL.unit(problem, config, self._target)].result()
            if isinstance(built, Failure):
                complain(f"{problem}: {config}: {built.message}")
                continue
            arm = kernel_arm(KERNEL, problem, config=config, binary=built, buffers=buffers)
            name = self.names[config]
            found[name] = Contender(name=name, arm=arm, facts=config.as_dict())
        return found


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
