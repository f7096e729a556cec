"""The logs are NVRTC 13.0's own, for sm_90a."""

from __future__ import annotations

from pathlib import Path

import pytest

from autotune.records import Resources
from autotune.toolchain.compiler import compile_error
from autotune.toolchain.ptxas import entries, read_resources

LOGS = Path(__file__).parent / "logs"


def log(name):
    return (LOGS / f"{name}.txt").read_text()


def test_each_kernel_has_its_own_registers_and_what_spills_counts_for_the_unit():
    text = log("spills_two_kernels")
    assert entries(text) == {"k", "tiny"}
    spilled = 1544 + 1612
    assert read_resources(text, "k") == Resources(registers=64, spill_bytes=spilled)
    assert read_resources(text, "tiny") == Resources(
        registers=10, static_shared_bytes=1024, spill_bytes=spilled
    )


def test_a_called_function_spills_on_its_kernels_account():
    resources = read_resources(log("called_function_spills"), "k")
    assert (resources.registers, resources.spill_bytes) == (64, 1528 + 1596)


def test_an_ignored_setmaxnreg_is_a_warning():
    (warning,) = read_resources(log("setmaxnreg_ignored"), "k").warnings
    assert warning.startswith("(C7508) Potential Performance Loss: 'setmaxnreg' ignored")


def test_warnings_that_repeat_for_each_line_are_told_once():
    codes = [w.partition(" ")[0] for w in read_resources(log("wgmma_serialized"), "k").warnings]
    assert codes == ["(C7519)", "(C7517)", "(C7511)"]


@pytest.mark.parametrize("line", ["ptxas warning : odd", "ptxas a.ptx, line 5; warning : odd"])
def test_a_warning_needs_no_code(line):
    assert read_resources(line, "k").warnings == ("odd",)


def test_a_failure_tells_the_error_and_not_the_statistics():
    message = compile_error(log("shared_too_large")).message
    assert "Entry function 'k' uses too much shared data" in message
    assert "Used 10 registers" not in message
