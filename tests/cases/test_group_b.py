"""The compile stage: what a row says of a binary, for which device, and a broken machine."""

from __future__ import annotations

import sqlite3

import pytest
from doublings import run, statuses

from autotune.device import open_device, recordings
from autotune.device.live import LiveDevice
from autotune.errors import ToolchainBroken
from autotune.records import (
    DeviceIdentity,
    Limits,
    Measurement,
    Outcome,
    Status,
    Target,
    load_kernel,
)
from autotune.toolchain import Nvrtc
from kernel_space.gemm import hopper

H200 = Target(
    arch="sm_90a",
    sm_count=132,
    shared_bytes_per_block=232_448,
    shared_bytes_per_sm=233_472,
    l2_bytes=60 << 20,
)
ADA = Target(
    arch="sm_89",
    sm_count=142,
    shared_bytes_per_block=101_376,
    shared_bytes_per_sm=102_400,
    l2_bytes=96 << 20,
)
MADE = ("right", "spills", "asks_for_registers")
SPILLING = "SELECT config, registers FROM trial_flat WHERE spill_bytes > 0"


class AbsentGpu:
    """A lane where there is no GPU: whatever reaches it takes a microsecond."""

    def identity(self):
        return DeviceIdentity(
            kind="cuda", name="NVIDIA H200", target=H200, memory_bytes=1 << 37, driver="580"
        )

    def measure(self, job, *, config, binary, best_ns=None):
        return Outcome(status=Status.OK, measurement=Measurement(samples_ns=(1000.0,) * 5))

    def close(self):
        pass


@pytest.fixture
def compiling():
    """Return an H200 on which everything is real but the launches."""
    device = LiveDevice("cuda:0", compiler=Nvrtc(), lane=AbsentGpu(), limits=Limits())
    yield device
    device.close()


def rows_tell_what_is_slow(device, store, path):
    run(device, store, *MADE, language="cuda", counts=(10_007,))
    rows = {row.trial.config["candidate"]: row.trial for row in store.rows()}
    spills, warned = rows["spills"], rows["asks_for_registers"]
    assert spills.status is Status.RESOURCES
    assert spills.message == f"spills {spills.resources.spill_bytes} bytes to local memory"
    assert warned.resources.warnings[0].startswith("(C7508) Potential Performance Loss")
    assert rows["right"].resources.warnings == ()
    with sqlite3.connect(path) as raw:
        found = raw.execute(SPILLING).fetchall()
    raw.close()
    assert found == [('{"candidate":"spills"}', spills.resources.registers)]
    assert [row.trial.config["candidate"] for row in store.failures()] == ["spills"]


def test_rows_tell_spills_and_warnings_and_a_query_finds_them(compiling, store, tmp_path):
    rows_tell_what_is_slow(compiling, store, tmp_path / "cases.db")


@pytest.mark.gpu
def test_rows_tell_spills_and_warnings_and_a_query_finds_them_on_a_gpu(gpu, store, tmp_path):
    if gpu.identity.target.arch != "sm_90a":
        pytest.skip("the warning is of Hopper's compiler")
    rows_tell_what_is_slow(gpu, store, tmp_path / "cases.db")


OF_HOPPER = [
    ("gemm", {"m": 512, "n": 512, "k": 512, "dtype": "bf16"}, list(hopper.MECHANISMS)),
    ("stream", {"count": 1 << 20}, ["bulk"]),
]


@pytest.mark.parametrize(("name", "fields", "mechanisms"), OF_HOPPER)
def test_an_older_device_is_offered_nothing_of_hopper(name, fields, mechanisms):
    kernel = load_kernel(name)
    problem = kernel.problem_type.parse(fields)
    for target, offered in ((ADA, False), (H200, True)):
        space = kernel.space(problem, target).restricted({"mechanism": mechanisms})
        assert (next(iter(space), None) is not None) is offered
    assert kernel.default(problem, ADA)["mechanism"] not in mechanisms


def test_the_recorded_h200_is_compiled_for_with_the_a():
    recording = open_device(f"recording:{recordings()['h200']}", limits=Limits())
    assert recording.identity.target.arch == "sm_90a"
    recording.close()


@pytest.mark.gpu
def test_a_gpu_with_warp_group_products_is_compiled_for_with_the_a(gpu):
    target = gpu.identity.target
    assert target.arch.endswith("a") == (target.capability >= 90)


def test_a_fault_of_the_generated_header_is_one_fault_whatever_its_folder(host, store):
    with pytest.raises(ToolchainBroken, match="'absent' is not a member of 'Fate'"):
        run(host, store, *(f"absent:{number}" for number in range(14)))
    assert set(statuses(store).values()) == {"compile_error"}
    assert len({row.trial.message for row in store.rows()}) == 1
