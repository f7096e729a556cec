"""A small recording, made through the store as a study makes it."""

from __future__ import annotations

from driving import BRISK, FAULTY

from autotune.device import open_device
from autotune.records import (
    Config,
    DeviceIdentity,
    Limits,
    Measurement,
    Resources,
    Status,
    Target,
    Toolchain,
    Trial,
    load_kernel,
)
from autotune.store import Context, Store

KERNEL = load_kernel(FAULTY)
PROBLEM = KERNEL.problem_type(17, 19, 23)
H200 = DeviceIdentity(
    kind="cuda",
    name="NVIDIA H200",
    target=Target(
        arch="sm_90a", sm_count=132, shared_bytes_per_block=1, shared_bytes_per_sm=1, l2_bytes=1
    ),
    memory_bytes=1,
    driver="580.1",
)
CONTEXT = Context(
    kernel="faulty_matmul",
    kernel_ref=FAULTY,
    source_digest="d" * 32,
    problem=PROBLEM,
    device=H200,
    toolchain=Toolchain(compiler="nvrtc", version="13.0"),
    policy=BRISK,
)


def trial(number, fault, status, **more):
    config = Config(fault=fault, twin=0)
    return Trial(number=number, problem_key=PROBLEM.key, config=config, status=status, **more)


COMPILED = {"resources": Resources(registers=40, warnings=("C7510",)), "binary_key": "b" * 32}
TRIALS = (
    trial(
        0,
        "none",
        Status.OK,
        measurement=Measurement(
            samples_ns=(11.0, 12.0, 10.0), launches_per_sample=7, sm_clock_mhz=1980
        ),
        verified=True,
        compile_ns=123,
        **COMPILED,
    ),
    trial(1, "compile_error", Status.COMPILE_ERROR, message="error: no"),
    trial(2, "hang", Status.TIMEOUT, message="still running", **COMPILED),
    trial(3, "nan", Status.INCORRECT, message="got nan", **COMPILED),
)


def record(path, *parts):
    with Store.open(str(path)) as store:
        study = store.begin_study("recorded", spec={}, sampler="random", seed=0)
        for context, trials in parts:
            for each in trials:
                store.record(study, context, each)
    return open_device(f"recording:{path}", limits=Limits())
