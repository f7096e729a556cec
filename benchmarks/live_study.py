"""Studies on a GPU, in one process: what ``live.py`` starts again and again.

It is told one JSON object, and answers with one. As ``autotune tune``, it imports no torch.
"""

from __future__ import annotations

import gc
import json
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from importlib import import_module
from importlib.util import find_spec
from statistics import fmean
from typing import Any

from resampled_study import exports
from savings import alone, sampled

from autotune.device import Device, open_device
from autotune.records import (
    STANDARD,
    Candidate,
    Config,
    Failure,
    Limits,
    Measurement,
    Outcome,
    load_kernel,
    tied,
)
from autotune.store import Store
from autotune.study import StudySpec, run_study

LOOK_S = 0.05
Row = dict[str, Any]


class Metered:
    """A device that counts the seconds in which it measures, but for the first measurement.

    Attributes:
        measured_s: All of them.
        again_s: Those of configs that had been measured before: by a yardstick or a final.
        samples_s: What the samples that are kept took of them, on the device.
        first_s: What the first measurement took, with all that readies the lane.
        first_at: When it was done.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self._seen: set[Config] = set()
        self.measured_s = self.again_s = self.samples_s = self.first_s = 0.0
        self.first_at: float | None = None

    def measure(self, candidate: Candidate, *asked: Any, **how: Any) -> Outcome:
        """Measure, and add up how long it took."""
        began = time.monotonic()
        outcome = self._device.measure(candidate, *asked, **how)
        seconds = time.monotonic() - began
        if self.first_at is None:
            self.first_at, self.first_s = began + seconds, seconds
        else:
            self._count(seconds, candidate.config, outcome.measurement)
        self._seen.add(candidate.config)
        return outcome

    def _count(self, seconds: float, config: Config, measured: Measurement | None) -> None:
        self.measured_s += seconds
        self.again_s += seconds if config in self._seen else 0.0
        if measured is not None:
            self.samples_s += sum(measured.samples_ns) * measured.launches_per_sample / 1e9

    def __getattr__(self, name: str) -> Any:
        """Be the device in all else."""
        return getattr(self._device, name)


def main() -> None:
    """Run what is asked for on the first argument's device, and print what became of it."""
    gc.set_threshold(50_000)  # as the command line has it
    asked = json.loads(sys.argv[1])
    with closing(open_device(asked["device"], limits=Limits())) as device:
        began = datetime.fromtimestamp(asked["began"], UTC)
        studies = []
        for patient in asked["patient"]:
            studies.append(_tuned(device, _study(asked, patient=patient), began))
            began = datetime.now(UTC)
        known = [Config(each) for each in asked["known"]]
        known_ns = [_time_ns(device, _study(asked), config) for config in known]
    print(json.dumps({"studies": studies, "known_ns": known_ns}))


def _study(asked: Mapping[str, Any], *, patient: bool = False) -> StudySpec:
    kernel = load_kernel(asked["kernel"])
    spec = StudySpec(
        name="live",
        kernel_ref=asked["kernel"],
        kernel=kernel,
        problems=(kernel.problem_type.parse(asked["problem"]),),
        sampler=asked["sampler"],
        trials=asked["trials"],
        policy=sampled(STANDARD, "all" if patient else "both"),
    )
    return alone(spec) if patient else spec


def _tuned(device: Device, spec: StudySpec, began: datetime) -> Row:
    """Run a study in a database of its own; times count from ``began``, in seconds."""
    metered: Any = Metered(device)
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(Store.open(f"{folder}/results.db")) as store,
    ):
        with _utilization(metered) as looks:
            run_study(spec, device=metered, store=store)
        ended, seconds = time.monotonic(), (datetime.now(UTC) - began).total_seconds()
        [exported] = exports(store, spec).values()
        finals = store.finals().values()
        even = [exported, *(each for final in finals for each in tied(final.finalists))]
        trials = [row.trial for row in store.rows()]
    return {
        "exported": exported.as_dict(),
        "tied": [each.as_dict() for each in even],
        "seconds": seconds,
        "before_first_s": seconds - (ended - metered.first_at) - metered.first_s,
        "first_s": metered.first_s,
        "gpu_s": metered.measured_s,
        "again_s": metered.again_s,
        "samples_s": metered.samples_s,
        "busy": metered.measured_s / (ended - metered.first_at),
        "utilization": fmean(looks) / 100 if looks else None,
        "trials": [
            (each.median_ns, (each.finished_at - began).total_seconds())
            for each in trials
            if each.median_ns is not None
        ],
    }


def _time_ns(device: Device, spec: StudySpec, config: Config) -> float | None:
    """Return what a config takes as the study measures, in ns, or None if it fails."""
    [problem] = spec.problems
    candidate = Candidate(
        kernel_ref=spec.kernel_ref,
        problem=problem,
        config=config,
        target=device.identity.target,
        kernel=spec.kernel,
    )
    built = device.build(candidate).result()
    if isinstance(built, Failure):
        return None
    measurement = device.measure(candidate, built, spec.policy).measurement
    return measurement.median_ns if measurement else None


@contextmanager
def _utilization(metered: Metered) -> Iterator[list[int]]:
    """Yield a list that NVML's readings are added to, from the first measurement on, in percent.

    They are the share of time in which a kernel ran; there are none where NVML is not.
    """
    looks: list[int] = []
    done = threading.Event()
    thread = threading.Thread(target=_look, args=(metered, looks, done), daemon=True)
    thread.start()
    try:
        yield looks
    finally:
        done.set()
        thread.join()


def _look(metered: Metered, looks: list[int], done: threading.Event) -> None:
    if find_spec("pynvml") is None:
        return
    nvml = import_module("pynvml")
    try:
        nvml.nvmlInit()
        handle = nvml.nvmlDeviceGetHandleByIndex(0)
        while not done.wait(LOOK_S):
            if metered.first_at is not None:
                looks.append(nvml.nvmlDeviceGetUtilizationRates(handle).gpu)
    except nvml.NVMLError:
        return


if __name__ == "__main__":
    main()
