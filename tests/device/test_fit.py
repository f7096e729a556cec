from __future__ import annotations

import pytest

from autotune.device.fit import misfit, slow
from autotune.records import Launch, Resources, Target

H200 = Target(
    arch="sm_90a",
    sm_count=132,
    shared_bytes_per_block=232_448,
    shared_bytes_per_sm=233_472,
    l2_bytes=60 << 20,
)


def fits(*, threads=256, registers=128, static=0, dynamic=0):
    launch = Launch(grid=(1, 1, 1), block=(threads, 1, 1), shared_bytes=dynamic, arguments=())
    resources = Resources(registers=registers, static_shared_bytes=static)
    return misfit(resources, launch, H200)


@pytest.mark.parametrize(
    "takes",
    [
        {},
        {"threads": 512, "registers": 128},  # exactly all registers
        {"threads": 256, "registers": 255},
        {"dynamic": 232_448},
        {"static": 1024, "dynamic": 231_424},
        {"threads": 1024, "registers": 64},
    ],
)
def test_what_fits_is_run(takes):
    assert fits(**takes) is None


@pytest.mark.parametrize(
    ("takes", "reason"),
    [
        ({"threads": 1056, "registers": 8}, "1056 threads in a block; the device allows 1024"),
        ({"threads": 512, "registers": 129}, "129 registers x 512 threads take 69632"),
        ({"threads": 1024, "registers": 65}, "the device has 65536"),
        ({"static": 1025, "dynamic": 231_424}, "232449 bytes of shared memory"),
    ],
)
def test_what_does_not_fit_says_what_it_lacks(takes, reason):
    assert reason in fits(**takes)


def test_only_what_spills_is_not_worth_measuring():
    assert slow(Resources(spill_bytes=8)) == "spills 8 bytes to local memory"
    assert slow(Resources(registers=255)) is None
