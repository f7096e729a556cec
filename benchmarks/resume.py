"""How long a study takes to go on where it stopped, with so many trials in its database.

    python benchmarks/resume.py --json benchmarks/results/resume.json

A study of a made-up space has ``--recorded`` trials in an SQLite file, written as a search would
have left them: right ones of up to 11 samples, some that were given up, some that failed, a
reading of the yardstick for every 25 and a final. Then ``autotune tune`` runs in a fresh process,
as a person would start it:

- ``finished``: as many trials are asked for as there are: it finds nothing to do, and says so;
- ``goes on``: ten more are asked for: what is known is told to the sampler before it chooses;
- ``begins``: the same ten into an empty database, to compare with.

On the host device, which compiles, verifies and times, and holds a final after new trials; and on
the recording that the file is, which has to be read beside the study's own rows.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

from results_file import write_json

from autotune.device import Device, open_device
from autotune.records import Config, Finalist, Measurement, Reading, Resources, Status, Trial
from autotune.store import Store
from autotune.study import StudySpec, load_study
from autotune.study.question import Question

PACKAGES = ("autotune-kernels", "numpy", "optuna", "sqlalchemy")
EVERY = 25  # trials between two readings
MORE = 10
KERNEL = Path(__file__).with_name("resume_kernel.py")
STUDY = f"""
name = "resume"
kernel = "{KERNEL}:Knobbed"
[search]
sampler = "tpe"
[policy]
preset = "quick"
[problems]
shapes = [[64, 64, 64]]
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One way to start the study: on which device, from which file, for how many trials."""

    device: str
    name: str
    database: Path
    trials: int


def main() -> None:
    """Fill the databases, start the study again and again, print a table, and keep it."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as folder:
        arms = prepared(Path(folder), arguments.recorded)
        rows = [measured(arm, Path(folder), arguments.runs) for arm in arms]
    show(rows)
    if arguments.json is not None:
        about = {
            "recorded": arguments.recorded,
            "runs": arguments.runs,
            "machine": platform.machine(),
            "processors": os.cpu_count(),
            "load": os.getloadavg()[0],
        }
        write_json(arguments.json, rows, packages=PACKAGES, about=about)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recorded", type=int, default=100_000, help="trials in the database")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def prepared(folder: Path, recorded: int) -> list[Arm]:
    """Write the study and its databases into ``folder``; return every way to start it."""
    path, measured = folder / "study.toml", folder / "measured.db"
    path.write_text(STUDY)
    spec = load_study(path)
    with closing(open_device("host", limits=spec.limits)) as host:
        fill(measured, spec, host, recorded + MORE)  # the recording knows ten more
    recording = f"recording:{measured}"
    with closing(open_device(recording, limits=spec.limits)) as device:
        fill(folder / "replayed.db", spec, device, recorded)
    return [
        Arm(device=device, name=name, database=database, trials=trials)
        for device, kept, there in (
            ("host", measured, recorded + MORE),
            (recording, folder / "replayed.db", recorded),
        )
        for name, database, trials in (
            ("finished", kept, there),
            ("goes on", kept, there + MORE),
            ("begins", folder / "none.db", MORE),
        )
    ]


def fill(path: Path, spec: StudySpec, device: Device, count: int) -> None:
    """Write a study that has made so many trials on ``device``."""
    question = Question(spec, spec.problems[0], device)
    with Store.open(str(path)) as store:
        study_id = store.import_study(
            spec.name,
            spec=spec.as_dict(),
            sampler=spec.sampler,
            context=question.context,
            entries=((trial, None) for trial in trials(question, count)),
        )
        if device.replays:
            return
        for after in range(EVERY, count + 1, EVERY):
            reading = Reading(
                after=after, config=question.default.config, measurement=_drawn(after)
            )
            store.record_reading(study_id, question.context, reading)
        finalists = [
            Finalist(config=config, rounds_ns=(1e5, 1.01e5, 1.02e5))
            for config in islice(question.valid(), spec.final.candidates)
        ]
        store.record_final(study_id, question.context, finalists)


def trials(question: Question, count: int) -> Iterator[Trial]:
    """Yield trials such as a search makes: the default first, then any."""
    default = question.default.config
    others = (config for config in question.valid() if config != default)
    for number, config in enumerate(islice((default, *others), count)):
        yield _trial(number, config, question.problem.key)


def _trial(number: int, config: Config, problem_key: str) -> Trial:
    status = (Status.OK, Status.OK, Status.STOPPED_EARLY, Status.RESOURCES)[number % 4]
    failed = status is Status.RESOURCES
    return Trial(
        number=number,
        problem_key=problem_key,
        config=config,
        status=status,
        message="240 bytes spilled" if failed else "",
        measurement=None if failed else _drawn(number),
        resources=Resources(registers=168, static_shared_bytes=1024),
        binary_key=f"{number:032x}",
        compile_ns=400_000_000,
        device_ns=20_000_000,
        verified=not failed,
    )


def _drawn(number: int) -> Measurement:
    chance = random.Random(number)  # noqa: S311 - no secret
    usual_ns = 1e5 * chance.uniform(1.0, 4.0) if number % EVERY else 1.5e5
    count = chance.randint(3, 11)
    samples = (usual_ns * chance.gauss(1.0, 0.005) for _ in range(count))
    return Measurement(samples_ns=tuple(samples), launches_per_sample=4, sm_clock_mhz=1980)


def measured(arm: Arm, folder: Path, runs: int) -> dict[str, Any]:
    """Start the study again and again and return a row: how long it took."""
    seconds = [started(arm, folder) for _ in range(runs)]
    return {
        "device": arm.device.partition(":")[0],
        "start": arm.name,
        "trials": arm.trials,
        **{name: median(each[name] for each in seconds) for name in ("wall_s", "cpu_s")},
        "worst_wall_s": max(each["wall_s"] for each in seconds),
    }


def started(arm: Arm, folder: Path) -> dict[str, float]:
    """Run ``autotune tune`` on a copy of the database; return its time, its children's too."""
    copy = folder / "copy.db"
    copy.unlink(missing_ok=True)
    if arm.database.exists():
        shutil.copyfile(arm.database, copy)
    command = [sys.executable, "-m", "autotune", "tune", str(folder / "study.toml"), "-q"]
    command += ["--device", arm.device, "--db", str(copy), "--trials", str(arm.trials)]
    before, began = os.times(), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    wall_s, after = time.perf_counter() - began, os.times()
    spent = after.children_user + after.children_system
    return {
        "wall_s": wall_s,
        "cpu_s": spent - before.children_user - before.children_system,
    }


def show(rows: list[Mapping[str, Any]]) -> None:
    """Print a line for each way to start."""
    print(f"{'device':12}{'start':10}{'trials':>9}{'wall s':>9}{'worst':>8}{'CPU s':>8}")
    for row in rows:
        print(
            f"{row['device']:12}{row['start']:10}{row['trials']:9}"
            f"{row['wall_s']:9.2f}{row['worst_wall_s']:8.2f}{row['cpu_s']:8.2f}"
        )


if __name__ == "__main__":
    main()
