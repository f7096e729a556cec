"""Run one strategy of Kernel Tuner on a recorded space, in Kernel Tuner's own simulation mode.

A script for an interpreter that has Kernel Tuner, which need not be ours: it imports nothing of
this package. It reads one JSON object from stdin and writes one to stdout; what Kernel Tuner
prints goes to stderr. Without a strategy it says which there are.
"""

from __future__ import annotations

import contextlib
import json
import random
import sys
import warnings
from typing import Any

PATIENCE = 50  # evaluations, for each that is new: a strategy that repeats itself is ended then


def main() -> None:
    """Answer one request."""
    warnings.simplefilter("ignore")
    request = json.load(sys.stdin)
    with contextlib.redirect_stdout(sys.stderr):
        answer = _searched(request) if "strategy" in request else _about()
    json.dump(answer, sys.stdout)


def _about() -> dict[str, Any]:
    from importlib.metadata import version

    from kernel_tuner.interface import strategy_map

    return {"version": version("kernel_tuner"), "strategies": list(strategy_map)}


def _searched(request: dict[str, Any]) -> list[list[str]]:
    """Return the keys of the configs that each seed evaluated, in order, each once."""
    with open(request["cache"], encoding="utf-8") as file:  # noqa: PTH123 - told as text
        recorded = json.load(file)
    return [_one_search(request, recorded, seed) for seed in request["seeds"]]


def _one_search(request: dict[str, Any], recorded: dict[str, Any], seed: int) -> list[str]:
    import numpy as np
    from kernel_tuner import interface
    from kernel_tuner.runners import simulation
    from kernel_tuner.util import StopCriterionReached

    seen: dict[str, None] = {}
    most = request["max_fevals"]
    recorder = _recorder(seen, PATIENCE * most)
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - what Kernel Tuner draws from
    interface.Searchspace = lambda *_, **__: _space(recorded)
    plain, simulation.SimulationRunner = simulation.SimulationRunner, recorder
    try:
        with contextlib.suppress(StopCriterionReached):
            interface.tune_kernel(
                recorded["kernel_name"],
                "",
                tuple(recorded["problem_size"]),
                [],
                recorded["tune_params"],
                cache=request["cache"],
                strategy=request["strategy"],
                strategy_options={"max_fevals": most},
                simulation_mode=True,
                quiet=True,
            )
    finally:
        simulation.SimulationRunner = plain
    return list(seen)


def _recorder(seen: dict[str, None], most: int) -> Any:
    """Return a runner that notes in ``seen`` what is evaluated, and ends what goes on for ever."""
    from kernel_tuner.runners.simulation import SimulationRunner
    from kernel_tuner.util import StopCriterionReached

    class Recorder(SimulationRunner):  # type: ignore[misc]  # of a package without types
        asked = 0

        def run(self, parameter_space: Any, tuning_options: Any) -> Any:
            configs = list(parameter_space)
            self.asked += max(1, len(configs))
            if self.asked > most:
                raise StopCriterionReached("it only repeats itself")
            results = super().run(configs, tuning_options)
            for config, result in zip(configs, results):  # noqa: B905 - Python 3.9 lacks strict
                key = ",".join(map(str, config))
                if result is not None and key in tuning_options.cache:
                    seen.setdefault(key)
            return results

    return Recorder


def _space(recorded: dict[str, Any]) -> Any:
    """Return what was recorded, failures too, as the space: no other config is allowed."""
    from constraint import FunctionConstraint
    from kernel_tuner.searchspace import Searchspace

    names, rows = recorded["tune_params_keys"], recorded["cache"].values()
    known = {tuple(row[name] for name in names) for row in rows}
    space = Searchspace(None, None, None, from_cache=recorded)
    space._modified_restrictions = [FunctionConstraint(lambda *values: values in known)]  # noqa: SLF001 - where tune_kernel looks
    return space


if __name__ == "__main__":
    main()
