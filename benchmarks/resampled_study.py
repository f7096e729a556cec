"""A study over a recording whose noise is drawn again: what ``flips`` and ``savings`` share."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resampled import DRIFT, FORGETS, ResampledDevice

from autotune.records import Config, DeviceIdentity, Policy, Problem, load_kernel
from autotune.store import Store
from autotune.study import StudySpec, run_study
from autotune.table import build_table

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small systems, and runs side by side
PACKAGES = ("autotune-kernels", "numpy", "optuna")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A study that has run: its device, its database, and the config that it exports by problem."""

    device: ResampledDevice
    store: Store
    exported: dict[Problem, Config]


def make_parser(description: str | None, *, runs: int) -> argparse.ArgumentParser:
    """Return a parser of the options that every such benchmark has; ``runs`` is a default."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--recording", default="h200")
    parser.add_argument("--kernel", default="gemm")
    parser.add_argument("--runs", type=int, default=runs)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--drift", type=float, default=DRIFT, help="standard deviation, relative")
    parser.add_argument("--json", type=Path)
    return parser


def study(
    arguments: argparse.Namespace, problems: tuple[Problem, ...], *, sampler: str, policy: Policy
) -> StudySpec:
    """Return the study that is run again and again."""
    return StudySpec(
        name="resampled",
        kernel_ref=arguments.kernel,
        kernel=load_kernel(arguments.kernel),
        problems=problems,
        sampler=sampler,
        trials=arguments.trials,
        policy=policy,
    )


@contextmanager
def ran(spec: StudySpec, arguments: argparse.Namespace, seed: int) -> Iterator[Ran]:
    """Run the study once with the noise of ``seed``, in a folder of its own."""
    device = ResampledDevice(arguments.recording, seed=seed, drift=arguments.drift)
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(device),
        closing(Store.open(f"{folder}/results.db")) as store,
    ):
        run_study(spec, device=device, store=store)
        yield Ran(device=device, store=store, exported=exports(store, spec))


def exports(store: Store, spec: StudySpec) -> dict[Problem, Config]:
    """Return the config that a table of these results answers with, by problem."""
    [kernel] = build_table(store).document["kernels"].values()
    parse = spec.kernel.problem_type.parse
    return {parse(entry["problem"]): Config(entry["config"]) for entry in kernel["entries"]}


def provenance(arguments: argparse.Namespace, device: DeviceIdentity) -> dict[str, Any]:
    """Return what there is to say of where the rows come from."""
    return {
        "recorded_on": device.name,
        "driver": device.driver,
        **{name: getattr(arguments, name) for name in ("runs", "trials", "drift")},
        "search_seed": 0,
        "noise_seeds": f"0 to {arguments.runs - 1}",
        "drift_forgets_after": FORGETS,
    }
