"""The same 30 kernels timed in 10 fresh processes: by this package, by Triton, by Kernel Tuner.

    python benchmarks/repeatability.py --json benchmarks/results/repeatability_h200.json

The candidates come from the shipped recording: over its problems in turn, the fastest config of
one mechanism after the other. They are compiled once. Each process is new, takes the candidates
in an order of its own, and times each of them

- as a study does: in a lane, verified, under the policy ``standard`` (cold cache; median);
- by ``triton.testing.do_bench`` with its defaults (25 ms and 100 ms, cache flushed; median);
- by Kernel Tuner's loop and CuPy observer with its defaults (7 launches, cache as it is; mean of
  the 7: what it stores), after one launch that warms up.

All three start the same cubin with the same arguments. A peer that is not installed is left out
with a line. ``spread`` is the slowest process over the fastest, relative to their median;
``95 %`` is how far from the median 95 % of the processes lie at most. The goal is a spread of 1 %
for kernels over 20 µs, and of 2 % below.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from importlib.util import find_spec
from itertools import cycle, islice
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from needs import torch
from resampled import recorded_times
from results_file import write_json

from autotune.device import Device, open_device
from autotune.records import STANDARD, Binary, Candidate, Config, Failure, Limits, load_kernel
from autotune.verify import Verifier

KERNEL = "gemm"
OURS, TRITON, KERNEL_TUNER = "autotune", "do_bench", "Kernel Tuner"
PEERS = {TRITON: ("torch", "triton"), KERNEL_TUNER: ("kernel_tuner",)}
BRIEF_US = 20.0
PACKAGES = ("autotune-kernels", "cupy-cuda13x", "torch", "triton", "kernel_tuner")
Fields = Mapping[str, Any]


def main() -> None:
    """Time all candidates in each process, print a table, and keep it."""
    arguments = _arguments()
    if arguments.once is not None:
        _time_once(arguments)
        return
    chosen = choose(arguments.recording, arguments.candidates)
    tools = [OURS, *_installed(arguments.device)]
    about = _compile(arguments.device, chosen)
    runs = [_process(arguments, chosen, tools, seed) for seed in range(arguments.processes)]
    rows = [_row(each, [run[index] for run in runs]) for index, each in enumerate(chosen)]
    show(rows, tools)
    if arguments.json is not None:
        about |= {"processes": arguments.processes, "policy": "standard", "tools": tools}
        write_json(arguments.json, rows, packages=PACKAGES, about=about)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--recording", default="h200")
    parser.add_argument("--candidates", type=int, default=30)
    parser.add_argument("--processes", type=int, default=10)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--once", type=Path, help=argparse.SUPPRESS)  # what a process is told
    return parser.parse_args()


def choose(recording: str, count: int) -> list[Fields]:
    """Return problem and config of ``count`` candidates: problem by problem, other mechanisms."""
    _, times = recorded_times(recording, load_kernel(KERNEL))
    fastest = {
        problem: list(islice(_by_mechanism(some, skip), count))
        for skip, (problem, some) in enumerate(times.items())
    }
    found: list[Fields] = []
    for place in range(count):
        for problem, configs in fastest.items():
            if place < len(configs) and len(found) < count:
                found.append({"problem": problem.as_dict(), "config": configs[place].as_dict()})
    return found


def _by_mechanism(times: Mapping[Config, float], skip: int) -> Iterator[Config]:
    """Yield the fastest config of each mechanism, from the ``skip``-th on and then around."""
    fastest: dict[Any, Config] = {}
    for config in sorted(times, key=lambda config: times[config]):
        fastest.setdefault(config["mechanism"], config)
    names = sorted(fastest)
    return (fastest[name] for name in islice(cycle(names), skip, skip + len(names)))


def _installed(device: str) -> list[str]:
    found = []
    for tool, modules in PEERS.items():
        missing = [name for name in modules if find_spec(name) is None]
        if missing:
            print(f"left out: {tool}; not installed: {', '.join(missing)}", file=sys.stderr)
        elif not device.startswith("cuda"):
            print(f"left out: {tool}, which times on a GPU, not on {device}", file=sys.stderr)
        else:
            found.append(tool)
    return found


def _compile(name: str, chosen: Sequence[Fields]) -> dict[str, Any]:
    """Build every candidate into the store of binaries; return what the device is."""
    with closing(open_device(name, limits=Limits())) as device:
        builds = [device.build(_candidate(each, device)) for each in chosen]
        for build in builds:
            _built(build.result())
        return {"device": device.identity.name, "driver": device.identity.driver}


def _candidate(fields: Fields, device: Device) -> Candidate:
    kernel = load_kernel(KERNEL)
    return Candidate(
        kernel_ref=KERNEL,
        problem=kernel.problem_type.parse(fields["problem"]),
        config=Config(fields["config"]),
        target=device.identity.target,
        kernel=kernel,
    )


def _built(built: Binary | Failure) -> Binary:
    if isinstance(built, Failure):
        raise SystemExit(f"a candidate does not build: {built.message}")
    return built


def _process(
    arguments: argparse.Namespace, chosen: Sequence[Fields], tools: Sequence[str], seed: int
) -> list[dict[str, float]]:
    """Return the time of each candidate by each tool in a fresh process, in µs."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder, "candidates.json")
        told.write_text(json.dumps({"chosen": chosen, "tools": tools, "seed": seed}))
        command = [sys.executable, __file__, "--once", told, "--device", arguments.device]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"process {seed} failed:\n{done.stderr}")
    times: list[dict[str, float]] = json.loads(done.stdout.splitlines()[-1])
    return times


def _time_once(arguments: argparse.Namespace) -> None:
    """Be one process: time every candidate by every tool and print the times as JSON."""
    asked = json.loads(arguments.once.read_text())
    order = list(range(len(asked["chosen"])))
    random.Random(asked["seed"]).shuffle(order)  # noqa: S311 - not a secret
    with closing(open_device(arguments.device, limits=Limits())) as device:
        candidates = [_candidate(each, device) for each in asked["chosen"]]
        binaries = [_built(device.build(each).result()) for each in candidates]
        ours = {index: _ours(device, candidates[index], binaries[index]) for index in order}
    times = [{OURS: ours[index]} for index in range(len(order))]
    makers = {TRITON: _do_bench, KERNEL_TUNER: _kernel_tuner}
    for tool in asked["tools"][1:]:
        clock = makers[tool]()
        for index in order:
            times[index][tool] = clock(_starter(candidates[index], binaries[index]))
    print(json.dumps(times))


def _ours(device: Device, candidate: Candidate, binary: Binary) -> float:
    outcome = device.measure(candidate, binary, STANDARD)
    if outcome.measurement is None:
        raise SystemExit(f"{candidate.config}: {outcome.status}: {outcome.message}")
    return outcome.measurement.median_ns / 1e3


Start = Callable[[], None]


def _starter(candidate: Candidate, binary: Binary) -> Start:
    """Return a function that launches the same cubin on CuPy's current stream."""
    import cupy

    from autotune.device.loaded import LoadedKernel

    launch = candidate.launch()
    inputs = Verifier(candidate.kernel, candidate.problem, STANDARD.replace(verify=False), cupy)
    arrays = dict(inputs.inputs)
    operands = candidate.kernel.operands(candidate.problem)
    for each in (*(op for op in operands if op.output), *launch.scratch):
        arrays[each.name] = cupy.empty(each.size_bytes, cupy.uint8)
    loaded = LoadedKernel(cupy.RawModule(path=binary.path), binary, launch)
    packed = loaded.pack({name: array.data.ptr for name, array in arrays.items()})

    def start() -> None:
        assert arrays  # live as long as this function
        loaded.start(packed)

    return start


def _do_bench() -> Callable[[Start], float]:
    """Return Triton's clock, in µs."""
    from triton.testing import do_bench

    torch.cuda.init()
    return lambda start: 1e3 * float(do_bench(start, return_mode="median"))


def _kernel_tuner() -> Callable[[Start], float]:
    """Return Kernel Tuner's clock, in µs."""
    from kernel_tuner.core import DeviceInterface, KernelSource

    interface = DeviceInterface(KernelSource("gemm", "", "CUPY"), quiet=True)

    def clock(start: Start) -> float:
        def launch(*_: Any, stream: Any, **__: Any) -> None:
            with stream:
                start()

        result: dict[str, Any] = {}
        interface.dev.run_kernel(launch, [], (1, 1, 1), (1, 1))
        interface.benchmark_default(launch, [], (1, 1, 1), (1, 1), result)
        return 1e3 * float(result["time"])

    return clock


def _row(chosen: Fields, runs: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    tools = {tool: spreads([run[tool] for run in runs]) for tool in runs[0]}
    return {**chosen, "tools": tools}


def spreads(times_us: Sequence[float]) -> dict[str, Any]:
    """Return the median of the processes' times, how far apart they lie, and the times."""
    middle = median(times_us)
    away = [abs(each / middle - 1) for each in times_us]
    return {
        "median_us": middle,
        "spread": (max(times_us) - min(times_us)) / middle,
        "spread_95": quantiles(away, n=20, method="inclusive")[-1] if len(away) > 1 else 0.0,
        "times_us": list(times_us),
    }


def show(rows: Sequence[Fields], tools: Sequence[str]) -> None:
    """Print each candidate's time and spread by tool, and what is worst above and below 20 µs."""
    print(f"{'spread (95 %), in %':46}", *(f"{tool:>24}" for tool in tools))
    for row in rows:
        problem = ",".join(map(str, row["problem"].values()))
        cells = (
            f"{each['median_us']:9.2f} µs {_percent(each)}"
            for each in (row["tools"][tool] for tool in tools)
        )
        print(f"{problem + ' ' + row['config']['mechanism']:46}", *(f"{c:>24}" for c in cells))
    for name, some in by_length(rows).items():
        worst = ([row["tools"][tool]["spread"] for row in some] for tool in tools)
        cells = (f"{100 * max(each):.2f}, {100 * median(each):.2f}" for each in worst)
        print(f"{name + f': worst, median of {len(some)}':46}", *(f"{c:>24}" for c in cells))


def by_length(rows: Sequence[Fields]) -> dict[str, list[Fields]]:
    """Return the rows of brief and of longer kernels, by our median; none is empty."""
    groups: dict[str, list[Fields]] = {}
    for row in rows:
        brief = row["tools"][OURS]["median_us"] < BRIEF_US
        groups.setdefault(f"{'below' if brief else 'over'} {BRIEF_US:g} µs", []).append(row)
    return groups


def _percent(each: Mapping[str, float]) -> str:
    return f"{100 * each['spread']:.2f} ({100 * each['spread_95']:.2f})"


if __name__ == "__main__":
    main()
