"""Contexts and trials for the store's tests, and for the processes that they start."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from autotune.records import (
    QUICK,
    Config,
    DeviceIdentity,
    Finalist,
    Measurement,
    Problem,
    Reading,
    Resources,
    Status,
    Target,
    Toolchain,
    Trial,
)
from autotune.store import Context

STUDY = {"spec": {"kernel": "gemm"}, "sampler": "tpe", "seed": 7}
CONFIG = {
    "block_m": 128,
    "block_n": 128,
    "block_k": 32,
    "warp_m": 64,
    "warp_n": 64,
    "stages": 4,
    "copy_bytes": 16,
    "l1": "bypass",
    "mechanism": "cp_async",
    "raster": 8,
}


@dataclass(frozen=True)
class MatmulProblem(Problem):
    m: int
    n: int = 64
    k: int = 64
    dtype: str = "bf16"


def device(name="NVIDIA H200", driver="580.1", uuid="GPU-1"):
    target = Target(
        arch="sm_90a",
        sm_count=132,
        shared_bytes_per_block=232_448,
        shared_bytes_per_sm=233_472,
        l2_bytes=50 << 20,
    )
    return DeviceIdentity(
        kind="cuda", name=name, target=target, memory_bytes=140 << 30, driver=driver, uuid=uuid
    )


def context(m=64, **changes):
    fields = {
        "kernel": "gemm",
        "kernel_ref": "gemm",
        "source_digest": "ab" * 16,
        "problem": MatmulProblem(m),
        "device": device(),
        "toolchain": Toolchain(compiler="nvrtc", version="13.0"),
        "policy": QUICK,
    }
    return Context(**{**fields, **changes})


def config(number):
    return Config(CONFIG, serial=number)


def ok(number, median_ns=1000.0, **changes):
    samples = tuple(round(median_ns * (1 + step / 1000), 3) for step in range(-5, 6))
    fields = {
        "number": number,
        "problem_key": context().problem.key,
        "config": config(number),
        "status": Status.OK,
        "measurement": Measurement(
            samples_ns=samples,
            launches_per_sample=7,
            sm_clock_mhz=1980,
            power_w=651.25,
            temperature_c=55,
            energy_mj=6.25,
            error=0.125,
        ),
        "resources": Resources(registers=128, static_shared_bytes=1024, warnings=("C7510",)),
        "dynamic_shared_bytes": 98_304,
        "binary_key": "cd" * 16,
        "compile_ns": 123_456_789,
        "device_ns": 12_345_678,
        "verified": True,
    }
    return Trial(**{**fields, **changes})


def final(*rounds_ns):
    rounds = rounds_ns or ((1000.5, 1001.0, 999.0), (1010.0, 1012.5, 1011.0))
    return [Finalist(config=config(i), rounds_ns=each) for i, each in enumerate(rounds)]


def reading(after=5, median_ns=1000.0):
    timed = dataclasses.replace(ok(0, median_ns).measurement, energy_mj=None, error=None)
    return Reading(after=after, config=config(0), measurement=timed)


def failed(number, status=Status.RESOURCES, message="needs 300 KiB of shared memory"):
    return Trial(
        number=number,
        problem_key=context().problem.key,
        config=config(number),
        status=status,
        message=message,
    )
