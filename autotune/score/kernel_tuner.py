"""Kernel Tuner's strategies on our landscapes: run elsewhere, and counted by the same rule."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from autotune.errors import AutotuneError, InvalidInput
from autotune.interop.kernel_tuner import document
from autotune.records import Config, Value
from autotune.score.landscape import Landscape
from autotune.score.replay import Budget

PREFIX = "kernel_tuner:"
DEFAULT = sys.executable
_CLIMBERS = "its climber does not look at neighbours: it goes on from one to the next"
FAULTY = {  # by version, then strategy; all of it shows in a simulation only where configs failed
    "1.5.0": {
        "bayes_opt": "it takes a failure for a time of 1.8e308",
        **dict.fromkeys(("greedy_ils", "greedy_mls", "mls", "ordered_greedy_mls"), _CLIMBERS),
    }
}
_DRIVER = Path(__file__).with_name("kernel_tuner_driver.py")


def require(names: Sequence[str], interpreter: str) -> None:
    """Raise unless the Kernel Tuner of ``interpreter`` has strategies of these names, sound ones.

    Raises:
        InvalidInput: It is no Python interpreter, has no Kernel Tuner, or not such a strategy.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="autotune-") as folder:
            about = _asked(interpreter, {}, folder)
    except AutotuneError as error:
        raise InvalidInput(
            f"{interpreter} has no Kernel Tuner: {error.message}",
            hint="name a Python that has it with --kernel-tuner PYTHON",
        ) from error
    faults = FAULTY.get(about["version"], {})
    sound = [name for name in about["strategies"] if name not in faults]
    for name in names:
        if name not in sound:
            why = faults.get(name, "there is no such strategy")
            raise InvalidInput(
                f"strategy {name!r} of Kernel Tuner {about['version']}: {why}; "
                f"allowed: {', '.join(sound)}"
            )


def searched(
    landscape: Landscape,
    strategy: str,
    *,
    seeds: Sequence[int],
    budget: Budget,
    interpreter: str,
) -> list[list[int]]:
    """Return the rows that ``strategy`` evaluated with each seed, in order, each row once.

    What it evaluates again it takes from its own cache, at no cost.

    Raises:
        AutotuneError: Kernel Tuner fails.
    """
    rows = {_key(landscape, config): row for row, config in enumerate(landscape.configs)}
    with tempfile.TemporaryDirectory(prefix="autotune-") as folder:
        cache = Path(folder) / "cache.json"
        cache.write_text(json.dumps(_recorded(landscape)), encoding="utf-8")
        request = {
            "cache": cache.name,
            "strategy": strategy,
            "seeds": list(seeds),
            "max_fevals": _most(landscape, budget),
        }
        found = _asked(interpreter, request, folder)
    if not all(found):
        raise AutotuneError(f"Kernel Tuner's {strategy} evaluates nothing on {landscape.name}")
    return [_until(landscape, [rows[key] for key in keys], budget) for keys in found]


def _asked(interpreter: str, request: dict[str, Any], folder: str) -> Any:
    # Not by its name: the folder of a script is where its imports are looked for first.
    script = _DRIVER.read_text(encoding="utf-8")
    try:
        ended = subprocess.run(
            [_located(interpreter), "-c", script],
            cwd=folder,
            input=json.dumps(request),
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise AutotuneError(f"it cannot be started: {error.strerror}") from error
    if ended.returncode:
        lines = ended.stderr.strip().splitlines()
        what = request.get("strategy", "Kernel Tuner")
        raise AutotuneError(f"{what}: {lines[-1] if lines else f'exit code {ended.returncode}'}")
    try:
        return json.loads(ended.stdout)
    except ValueError:
        raise AutotuneError(f"it answers {ended.stdout!r:.60}") from None


def _located(interpreter: str) -> str:
    """Return where an interpreter is, if not on the PATH, whatever folder it is started in.

    A link stays one: it is what tells a virtual environment from the Python beneath.
    """
    return str(Path(interpreter).absolute()) if os.sep in interpreter else interpreter


def _most(landscape: Landscape, budget: Budget) -> int:
    """Return how many evaluations surely use the budget up, but no more than twice the usual."""
    fitting = int(np.searchsorted(np.cumsum(np.sort(landscape.cost_ns)), budget.cost_ns)) + 1
    usual = budget.cost_ns / float(np.median(landscape.cost_ns))
    most = max(budget.measurements, min(fitting, round(2 * usual)))
    return min(most, len(landscape.configs))


def _until(landscape: Landscape, rows: list[int], budget: Budget) -> list[int]:
    """Return the rows within the budget."""
    spent = np.cumsum(landscape.cost_ns[rows])
    enough = int(np.searchsorted(spent, budget.cost_ns, "right")) + 1
    return rows[: max(enough, budget.measurements)]


def _recorded(landscape: Landscape) -> dict[str, Any]:
    """Return the landscape as a cache file of Kernel Tuner."""
    number = {p.name: _numeric(p.values) for p in landscape.space.parameters}
    results = (
        (_result(landscape, row, number), status) for row, status in enumerate(landscape.statuses)
    )
    header = {
        "device_name": landscape.device,
        "kernel_name": landscape.kernel,
        "problem_size": [1],
        "tune_params": {
            p.name: [_told(value, number[p.name]) for value in p.values]
            for p in landscape.space.parameters
        },
    }
    return document(results, header, unit_ns=1.0)


def _result(landscape: Landscape, row: int, number: dict[str, bool]) -> dict[str, Any]:
    config, value_ns = landscape.configs[row], float(landscape.value_ns[row])
    timed = [{"name": "time", "value": value_ns, "unit": "ns"}] if np.isfinite(value_ns) else []
    return {
        "configuration": {name: _told(config[name], number[name]) for name in number},
        "times": {"compilation": float(landscape.cost_ns[row]), "benchmark": 0.0, "validation": 0},
        "measurements": timed,
    }


def _numeric(values: Sequence[Value]) -> bool:
    """Return True if all values are numbers, fractions among them, which we hold as text."""
    try:
        return all(str(float(value)) == value for value in values if isinstance(value, str))
    except ValueError:
        return False


def _told(value: Value, numeric: bool) -> int | float | str:  # noqa: FBT001 - of a parameter
    return float(value) if numeric and isinstance(value, str) else value


def _key(landscape: Landscape, config: Config) -> str:
    return ",".join(str(config[parameter.name]) for parameter in landscape.space.parameters)
