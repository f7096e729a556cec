"""An exam looks harder than tuning: at NaN and infinities, and while the device is busy."""

from __future__ import annotations

import dataclasses
import itertools
import math
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from autotune.records import QUICK, Operand, Policy, Status, Tolerance
from autotune.verify import Exam, Verifier, decode, encode
from autotune.verify.case import draw_cases
from autotune.verify.load import Load
from autotune.verify.nonfinite import as_stored

sys.path.insert(0, str(Path(__file__).parent))
from product_kernel import Product, ProductProblem, right

EXAM = Exam.of(2)


def check(run, kernel=None, problem=None, exam=EXAM):
    return Verifier(kernel or Product(), problem or ProductProblem(), exam, np).check(run)


def floats(arrays, name):
    return decode(arrays[name], "bf16", "float64")


def put(arrays, values):
    with np.errstate(all="ignore"):
        arrays["c"][...] = encode(values.astype(np.float32), "bf16", np)


def quietly(run):
    def silent(arrays):
        with np.errstate(all="ignore"):
            run(arrays)

    return silent


@pytest.mark.parametrize("dtype", ["bf16", "fp16", "fp32", "fp64"])
def test_a_right_candidate_passes_an_exam(dtype):
    run = quietly(lambda arrays: right(arrays, dtype))
    assert check(run, problem=ProductProblem(dtype=dtype)) is None


def drops_nan(arrays):
    put(arrays, np.nan_to_num(floats(arrays, "a") @ floats(arrays, "b"), nan=0, posinf=np.inf))


def saturates(arrays):
    put(arrays, np.clip(floats(arrays, "a") @ floats(arrays, "b"), -3e38, 3e38))


def leaks(arrays):
    """Add what a row holds, times zero, to its neighbour: a tail that is multiplied, not masked."""
    sums = floats(arrays, "a") @ floats(arrays, "b")
    put(arrays, sums + 0 * np.roll(sums, 1, axis=0))


def turns_infinity_round(arrays):
    sums = floats(arrays, "a") @ floats(arrays, "b")
    put(arrays, np.where(np.isinf(sums), -sums, sums))


@pytest.mark.parametrize("run", [drops_nan, saturates, leaks, turns_infinity_round])
def test_what_is_right_on_numbers_alone_fails_an_exam(run):
    run = quietly(run)
    assert check(run, exam=Policy(draws=2)) is None
    failure = check(run)
    assert failure.status is Status.INCORRECT
    assert " is nan inputs" in failure.message or "inf inputs" in failure.message


def test_a_kernel_may_say_that_it_passes_nothing_on():
    class Clamps(Product):
        def tolerance(self, problem):
            return Tolerance(relative=2**-8, absolute=1e-5, passes_nonfinite=False)

    assert check(quietly(saturates), Clamps()) is None


def test_the_first_spoilt_place_is_the_last_and_the_inputs_of_timing_are_finite():
    cases = draw_cases(Product(), ProductProblem(), EXAM, np)
    names = [case.name for case in cases]
    assert names == [
        "integers", "last is nan", "any 1 is inf", "any 2 is -inf", "random 1", "random 0"
    ]  # fmt: skip
    for name in "ab":
        bad = [~np.isfinite(decode(case.inputs[name], "bf16", "float64")) for case in cases]
        assert [int(each.sum()) for each in bad] == [0, 1, 1, 1, 0, 0]
        assert bad[1].reshape(-1)[-1]


def test_a_lone_number_becomes_nan_but_never_infinite():
    """The sign of a sum that is nearly zero, times infinity, is no fault of a kernel."""

    class Scaled(Product):
        def operands(self, problem):
            return (*super().operands(problem), Operand(name="scale", dtype="fp32", shape=(1,)))

        def reference(self, problem, inputs, xp):
            return {"c": inputs["a"] @ inputs["b"] * inputs["scale"]}

    spoilt = draw_cases(Scaled(), ProductProblem(), EXAM, np)[1:4]
    scales = [float(case.inputs["scale"][0]) for case in spoilt]
    assert np.isnan(scales[0])
    assert np.isfinite(scales[1:]).all()


def test_whole_numbers_hold_nothing_that_is_not_finite():
    class Whole(Product):
        def operands(self, problem):
            return tuple(
                Operand(name=op.name, dtype="int32", shape=op.shape, output=op.output)
                for op in super().operands(problem)
            )

    names = [case.name for case in draw_cases(Whole(), ProductProblem(), EXAM, np)]
    assert names == ["integers", "random 1", "random 0"]


def test_an_answer_that_overflows_eight_bits_is_the_nan_that_they_hold():
    operand = Operand(name="c", dtype="e4m3", shape=(3,), output=True)
    stored = as_stored(np.array([np.inf, np.nan, 1.5]), operand, xp=np)
    assert np.isnan(stored[:2]).all()
    assert stored[2] == 1.5


def threads_begun_since_now():
    """Return what tells them; those of other tests may end meanwhile."""
    before = set(threading.enumerate())
    return lambda: set(threading.enumerate()) - before


def test_a_race_that_only_a_busy_device_shows_is_nondeterministic():
    begun_since = threads_begun_since_now()

    def run(arrays):
        right(arrays)
        if begun_since() and not np.isnan(decode(arrays["a"], "bf16", "float32")).any():
            arrays["c"][0, 0] ^= 1

    run = quietly(run)
    failure = check(run)
    assert failure.status is Status.NONDETERMINISTIC
    assert failure.message.startswith("while the device was busy, run 2 differs from run 1")
    assert check(run, exam=Policy(draws=2)) is None
    assert not begun_since()


def test_a_load_ends_with_its_block_also_when_that_raises():
    begun_since = threads_begun_since_now()

    def fail():
        with Load(np):
            assert len(begun_since()) == 1
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert not begun_since()


def test_an_exam_has_an_identity_of_its_own():
    assert Exam.of(2).key != Policy(draws=2).key != Exam.of(3).key


def test_what_is_wrong_once_in_a_thousand_launches_shows_while_there_is_patience():
    launches = itertools.count(1)

    def seldom_wrong(arrays):
        right(arrays, "bf16")
        if next(launches) % 1000 == 500:
            put(arrays, floats(arrays, "a") @ floats(arrays, "b") + 1)

    patient = dataclasses.replace(Exam.of_many_launches(QUICK), patience_ms=math.inf)
    failure = check(seldom_wrong, exam=patient)
    assert failure.status is Status.NONDETERMINISTIC
    assert "differs from run 1" in failure.message
    launches = itertools.count(1)
    assert check(seldom_wrong, exam=dataclasses.replace(patient, patience_ms=0.0)) is None
