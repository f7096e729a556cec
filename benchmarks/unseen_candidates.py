"""What may be the fastest config of a problem, and binaries that many problems share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import Future

from arms import Buffers, kernel_arm
from contenders import Contender, complain
from unseen_rules import KERNEL, Measured, Rules, nearest

from autotune.records import Binary, Config, Failure, SourceUnit, Target
from autotune.toolchain import CompilePool
from kernel_space.gemm import GemmProblem

POOLED = 25  # of the fastest configs of each problem that was tuned
NEIGHBOURS, WINNERS = 3, 3  # of how many problems how many configs


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
        return [config for config in configs if space.broken(config) is None]


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
