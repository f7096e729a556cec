from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from autotune.errors import InvalidInput, NoValidConfig
from autotune.interop import export_results, import_files
from autotune.interop.t4 import check
from autotune.records import (
    QUICK,
    Config,
    DeviceIdentity,
    Measurement,
    Resources,
    Status,
    Target,
    Toolchain,
    Trial,
)
from autotune.store import Context, Filter, Store, StoredProblem

DEVICE = DeviceIdentity(
    kind="cuda",
    name="NVIDIA H200",
    target=Target(
        arch="sm_90a",
        sm_count=132,
        shared_bytes_per_block=232_448,
        shared_bytes_per_sm=233_472,
        l2_bytes=60 << 20,
    ),
    memory_bytes=140 << 30,
    driver="580.0",
)


def context(m=64):
    return Context(
        kernel="gemm",
        kernel_ref="gemm",
        source_digest="ab" * 16,
        problem=StoredProblem((("m", m), ("n", 32), ("dtype", "bf16"))),
        device=DEVICE,
        toolchain=Toolchain(compiler="nvrtc", version="13.0"),
        policy=QUICK,
    )


def measured():
    """Return one trial of every status."""
    for number, status in enumerate(Status):
        ran = status in (Status.OK, Status.STOPPED_EARLY)
        samples = (1000.123, 1001.5, 999.0, 1003.25)
        yield Trial(
            number=number,
            problem_key="",
            config=Config(tile=2**number, loop="fast" if number % 2 else "1"),
            status=status,
            message="" if status is Status.OK else f"why: {status}\nand more",
            measurement=Measurement(
                samples_ns=samples,
                launches_per_sample=7,
                sm_clock_mhz=1980,
                power_w=651.25,
                temperature_c=55,
            )
            if ran
            else None,
            resources=Resources(registers=128, static_shared_bytes=1024, warnings=("C7510",))
            if status is not Status.COMPILE_ERROR
            else None,
            compile_ns=123_456_789,
            device_ns=12_345_678,
            verified=status is Status.OK,
        )


@pytest.fixture
def ours(store):
    study = store.begin_study("ours", spec={}, sampler="tpe", seed=0)
    return [store.record(study, context(), trial) for trial in measured()]


def exported(store, path, layout="t4", **wanted):
    export_results(path, store, Filter(**wanted), layout=layout)
    return json.loads(path.read_text())


def again(path, tmp_path):
    """Import ``path`` into a database of its own; return its rows."""
    with Store.open(str(tmp_path / "again.db")) as other:
        list(import_files([path], other))
        return other.rows()


HELD = (
    *("number", "config", "status", "message", "measurement", "resources"),
    *("compile_ns", "device_ns", "finished_at", "verified"),
)


@pytest.mark.usefixtures("ours")
def test_our_results_come_back_from_t4_with_all_that_it_holds(store, ours, tmp_path):
    exported(store, tmp_path / "t4.json")
    rows = again(tmp_path / "t4.json", tmp_path)
    for name in HELD:
        assert [getattr(r.trial, name) for r in rows] == [getattr(t, name) for t in ours], name
    back = rows[0].context
    for name in ("kernel", "device", "toolchain"):
        assert getattr(back, name) == getattr(context(), name)
    assert back.problem.key == context().problem.key


@pytest.mark.parametrize("name", ["cache.json", "cache_old.json", "ktt.json", "t4.json"])
def test_what_was_imported_comes_back_from_t4_as_it_was(imported, store, tmp_path, name):
    rows, told = imported(name)
    document = exported(store, tmp_path / f"{told.study}.json", studies=(told.study,))
    check(document, "exported")
    back = again(tmp_path / f"{told.study}.json", tmp_path)
    held = set(HELD) - {"finished_at"}  # old files do not say when
    for one, other in zip(rows, back, strict=True):
        assert all(getattr(one.trial, each) == getattr(other.trial, each) for each in held)
    assert back[0].context.problem.key == rows[0].context.problem.key


def test_a_t4_file_comes_back_to_the_last_digit(imported, store, data, tmp_path):
    imported("t4.json")
    given = json.loads((data / "t4.json").read_text())
    document = exported(store, tmp_path / "out.json")
    assert document["results"] == given["results"][:4]  # the fifth repeats the first
    assert given["metadata"].items() <= document["metadata"].items()
    assert document["schema_version"] == given["schema_version"]


def test_a_cache_comes_back_to_the_last_digit(imported, store, data, tmp_path):
    imported("cache.json")
    given = json.loads((data / "cache.json").read_text())
    assert exported(store, tmp_path / "out.json", "kernel-tuner") == given


def test_a_cache_survives_being_t4(imported, store, data, tmp_path):
    imported("cache.json")
    exported(store, tmp_path / "cache.json")
    with Store.open(str(tmp_path / "t4.db")) as other:
        list(import_files([tmp_path / "cache.json"], other))
        document = exported(other, tmp_path / "out.json", "kernel-tuner")
    assert document == json.loads((data / "cache.json").read_text())


def test_every_failure_has_a_word_that_kernel_tuner_knows(store, ours, tmp_path):
    cache = exported(store, tmp_path / "out.json", "kernel-tuner")["cache"]
    told = {row["time"] for row in cache.values() if isinstance(row["time"], str)}
    assert told == {"InvalidConfig", "CompilationFailedConfig", "RuntimeFailedConfig"}
    assert len(cache) == len(ours)


@pytest.mark.usefixtures("ours")
def test_one_file_holds_one_problem(store, ours, tmp_path):
    study = store.begin_study("second", spec={}, sampler="tpe", seed=0)
    store.record(study, context(m=128), ours[0])
    with pytest.raises(InvalidInput, match="gemm m=64,n=32,dtype=bf16 on NVIDIA H200; gemm m=128"):
        export_results(tmp_path / "out.json", store, Filter(), layout="t4")
    with pytest.raises(NoValidConfig):
        export_results(tmp_path / "out.json", store, Filter(problem={"m": 1}), layout="t4")
    assert not (tmp_path / "out.json").exists()
    chosen = exported(store, tmp_path / "out.json", problem={"m": 128})
    assert len(chosen["results"]) == 1


SIMULATION = """
import json, sys, warnings
warnings.simplefilter("ignore")
from kernel_tuner import tune_kernel
from kernel_tuner.util import read_cache

path = sys.argv[1]
cache = read_cache(path, open_cache=False)
known = set(cache["cache"])
results, _ = tune_kernel(
    cache["kernel_name"], "", cache["problem_size"], [], cache["tune_params"],
    restrictions=lambda p: ",".join(str(p[k]) for k in cache["tune_params_keys"]) in known,
    simulation_mode=True, cache=path, strategy="brute_force", quiet=True, verbose=False,
)
times = [r["time"] for r in results if "__error__" not in r]
print("told", json.dumps([len(results), len(times), min(times)]))
"""


@pytest.fixture
def simulate():
    """Let Kernel Tuner's own simulation go through a cache."""
    python = os.environ.get("AUTOTUNE_TEST_KERNEL_TUNER_PYTHON", sys.executable)
    found = subprocess.run([python, "-c", "import kernel_tuner"], capture_output=True, check=False)
    if found.returncode:
        pytest.skip("kernel_tuner is not installed")

    def run(path):
        words = [python, "-c", SIMULATION, str(path)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.rpartition("told ")[2])

    return run


def test_kernel_tuner_simulates_what_was_imported(imported, store, tmp_path, simulate):
    imported("cache.json")
    exported(store, tmp_path / "out.json", "kernel-tuner")
    assert simulate(tmp_path / "out.json") == [5, 2, 0.0101]


@pytest.mark.usefixtures("ours")
def test_kernel_tuner_simulates_our_own_results(store, ours, tmp_path, simulate):
    exported(store, tmp_path / "out.json", "kernel-tuner")
    assert simulate(tmp_path / "out.json") == [len(ours), 1, ours[0].median_ns / 1e6]
