"""Which device a table serves: the same, a kin with a warning, or none."""

from __future__ import annotations

import pytest

from autotune.dispatch import Device, Running, fit

GIB = 1 << 30
H200 = Running(
    kind="cuda",
    name="NVIDIA H200",
    arch="sm_90a",
    sm_count=132,
    shared_bytes_per_block=232448,
    memory_bytes=140 * GIB,
)
TUNED = Device(
    **H200._asdict(),
    shared_bytes_per_sm=233472,
    registers_per_sm=65536,
    threads_per_block=1024,
    l2_bytes=62914560,
    driver="580.00",
)
CASES = {
    "the same card": ({}, "exact", ""),
    "the same card, a little less memory": ({"memory_bytes": 138 * GIB}, "exact", ""),
    "a variant of the name": (
        {"name": "NVIDIA H200 NVL"},
        "compatible",
        "tuned on NVIDIA H200, and this is NVIDIA H200 NVL",
    ),
    "GH200": (
        {"name": "NVIDIA GH200 480GB", "memory_bytes": 95 * GIB},
        "compatible",
        (
            "tuned on NVIDIA H200, and this is NVIDIA GH200 480GB; "
            "tuned with 140 GiB of memory, and here are 95 GiB"
        ),
    ),
    "fewer multiprocessors": (
        {"name": "NVIDIA H100 PCIe", "sm_count": 114, "memory_bytes": 80 * GIB},
        "compatible",
        (
            "tuned on NVIDIA H200, and this is NVIDIA H100 PCIe; "
            "tuned on 132 multiprocessors, and here are 114; "
            "tuned with 140 GiB of memory, and here are 80 GiB"
        ),
    ),
    "a MIG slice of a whole card": (
        {"name": "NVIDIA H200 MIG 7g.141gb"},
        "compatible",
        "tuned on NVIDIA H200, and this is NVIDIA H200 MIG 7g.141gb",
    ),
    "a small MIG slice": (
        {"name": "NVIDIA H200 MIG 1g.18gb", "sm_count": 16, "memory_bytes": 17 * GIB},
        "refused",
        "the table is for 132 multiprocessors, and this device has 16",
    ),
    "less shared memory": (
        {"shared_bytes_per_block": 101376},
        "refused",
        "the table is for 232448 bytes of shared memory in a block, and this device has 101376",
    ),
    "more shared memory": (
        {"shared_bytes_per_block": 260000},
        "compatible",
        "tuned for 232448 bytes of shared memory in a block, and here are 260000",
    ),
    "another architecture": (
        {"name": "NVIDIA A100", "arch": "sm_80", "sm_count": 108},
        "refused",
        "the table is for sm_90a, and this device is sm_80",
    ),
    "a host": (
        {"kind": "host", "arch": "x86_64"},
        "refused",
        "the table is for sm_90a, and this device is x86_64",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_each_kind_of_device_has_an_answer(case):
    changes, answer, why = CASES[case]
    assert fit(TUNED, H200._replace(**changes)) == (answer, why)


def test_a_slice_does_not_speak_for_the_whole_card():
    assert fit(TUNED._replace(sm_count=16), H200).answer == "refused"
