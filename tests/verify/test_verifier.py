from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import numpy as np
import pytest

from autotune.errors import InvalidInput
from autotune.records import Policy, Status, Tolerance
from autotune.verify import Verifier, decode, encode
from autotune.verify.case import draw_cases

sys.path.insert(0, str(Path(__file__).parent))
from product_kernel import Product, ProductProblem, right

POLICY = Policy(draws=2, repeats=2)
PROBLEM = ProductProblem()


def check(run, kernel=None, problem=PROBLEM, policy=POLICY):
    return Verifier(kernel or Product(), problem, policy, np).check(run)


@pytest.mark.parametrize("dtype", ["bf16", "fp16", "fp32", "fp64"])
def test_a_right_candidate_passes(dtype):
    problem = ProductProblem(dtype=dtype)
    assert check(lambda arrays: right(arrays, dtype), problem=problem) is None


def test_the_largest_error_is_a_share_of_what_is_tolerated():
    problem = ProductProblem(dtype="fp64")
    tolerance = Product().tolerance(problem)
    verifier = Verifier(Product(), problem, POLICY, np)

    def off(arrays):
        right(arrays, "fp64")
        value = arrays["c"][2, 3]
        arrays["c"][2, 3] += 0.25 * (tolerance.absolute + tolerance.relative * abs(value))

    assert verifier.largest_error(lambda arrays: right(arrays, "fp64")) < 1e-6
    assert verifier.largest_error(off) == pytest.approx(0.25, rel=1e-3)


def spoil(change):
    """Return a candidate whose right output is spoilt by ``change``, given floats."""

    def run(arrays):
        right(arrays)
        values = decode(arrays["c"], "bf16", "float32")
        arrays["c"][...] = encode(change(values), "bf16", np)

    return run


def one(value):
    def change(c):
        c[2, 3] = value
        return c

    return change


def half_written(arrays):
    kept = arrays["c"].copy()
    right(arrays)
    arrays["c"][3:] = kept[3:]


def half_of_k(arrays):
    a, b = (decode(arrays[name], "bf16", "float64") for name in "ab")
    arrays["c"][...] = encode((a[:, :32] @ b[:32]).astype(np.float32), "bf16", np)


WRONG = {
    "one NaN": (spoil(one(np.nan)), "1 of 35 elements of c are wrong; at [2, 3]: got nan"),
    "one Inf": (spoil(one(np.inf)), "1 of 35 elements of c are wrong; at [2, 3]: got inf"),
    "all NaN": (spoil(lambda c: c * np.nan), "35 of 35"),
    "zeros": (spoil(np.zeros_like), "elements of c are wrong"),
    "transposed": (spoil(lambda c: c.T.reshape(c.shape)), "elements of c are wrong"),
    "half written": (half_written, "14 of 35 elements of c are wrong; at [3, 0]: got nan"),
    "half of k": (half_of_k, "elements of c are wrong"),
    "nothing": (lambda _arrays: None, "35 of 35 elements of c are wrong; at [0, 0]: got nan"),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("exact", [True, False])
def test_a_wrong_output_is_incorrect(name, exact):
    class Kernel(Product):
        def tolerance(self, problem):
            return Tolerance(relative=2**-8, absolute=1e-5, exact_integers=exact)

    run, message = WRONG[name]
    failure = check(run, Kernel())
    assert failure.status is Status.INCORRECT
    assert message in failure.message
    assert ("(integers inputs)" if exact else "(random 1 inputs)") in failure.message


def test_one_step_of_the_output_dtype_is_wrong_on_integers_and_right_on_random_inputs():
    def run(arrays):
        right(arrays)
        arrays["c"][0, 0] += 1  # the next bf16

    assert "(integers inputs)" in check(run).message

    class Kernel(Product):
        def tolerance(self, problem):
            return Tolerance(relative=2**-7, absolute=1e-5, exact_integers=False)

    assert check(run, Kernel(), policy=Policy(repeats=0)) is None


@pytest.mark.parametrize(("k", "first"), [((1 << 20) - 1, "integers"), (1 << 20, "random 1")])
def test_integers_are_drawn_only_while_their_sums_stay_exact(k, first):
    problem = ProductProblem(m=1, n=1, k=k)
    names = [case.name for case in draw_cases(Product(), problem, POLICY, np)]
    assert names[0] == first
    assert names[-1] == "random 0"


@pytest.mark.parametrize("past", [True, False])
def test_writing_beside_the_output_is_incorrect(past):
    def run(arrays):
        right(arrays)
        start = arrays["c"].ctypes.data
        at = arrays["c"].nbytes + 3 if past else -2
        ctypes.c_uint8.from_address(start + at).value = 0

    failure = check(run)
    assert failure.status is Status.INCORRECT
    where = "past the end of output c, 4 from it" if past else "before output c, 2 from it"
    assert f"wrote 1 bytes {where}" in failure.message


def test_a_candidate_that_wavers_is_nondeterministic():
    runs = []

    def run(arrays):
        right(arrays)
        runs.append(1)
        if len(runs) == 5:  # integers, two random, then the second repeat
            arrays["c"][0, 0] ^= 1

    class Kernel(Product):
        def tolerance(self, problem):
            return Tolerance(relative=1.0, absolute=1.0)

    failure = check(run, Kernel())
    assert failure.status is Status.NONDETERMINISTIC
    assert "run 3 differs from run 1 on the same inputs in 1 of 35 elements of c" in failure.message


def test_changing_an_input_is_incorrect_and_seen_by_the_next_check():
    verifier = Verifier(Product(), PROBLEM, POLICY, np)

    def run(arrays):
        right(arrays)
        arrays["a"][0, 0] ^= 1

    assert verifier.check(run).status is Status.INCORRECT
    assert not verifier.intact()


def test_an_accumulating_candidate_is_incorrect():
    def run(arrays):
        before = decode(arrays["c"], "bf16", "float32")
        right(arrays)
        arrays["c"][...] = encode(decode(arrays["c"], "bf16", "float32") + before, "bf16", np)

    assert check(run).status is Status.INCORRECT


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_reference_that_is_not_finite_stops_everything(bad):
    class Kernel(Product):
        def reference(self, problem, inputs, xp):
            answer = super().reference(problem, inputs, xp)
            answer["c"][1, 1] = bad
            return answer

    with pytest.raises(InvalidInput, match="NaN or infinite in 1 of 35 elements of 'c'"):
        Verifier(Kernel(), PROBLEM, POLICY, np)


def test_a_reference_of_another_shape_or_name_is_refused():
    class Transposed(Product):
        def reference(self, problem, inputs, xp):
            return {"c": super().reference(problem, inputs, xp)["c"].T}

    class Misnamed(Product):
        def reference(self, problem, inputs, xp):
            return {"d": super().reference(problem, inputs, xp)["c"]}

    with pytest.raises(InvalidInput, match=r"shape \(7, 5\), not \(5, 7\)"):
        Verifier(Transposed(), PROBLEM, POLICY, np)
    with pytest.raises(InvalidInput, match="has no output 'c', only d"):
        Verifier(Misnamed(), PROBLEM, POLICY, np)


def test_a_tolerance_narrower_than_the_outputs_rounding_is_refused():
    class Kernel(Product):
        def tolerance(self, problem):
            return Tolerance(relative=2**-12, absolute=0.0)

    with pytest.raises(InvalidInput, match="narrower than the rounding of its outputs"):
        Verifier(Kernel(), PROBLEM, POLICY, np)


def test_references_are_computed_once_for_all_candidates():
    calls = []

    class Kernel(Product):
        def reference(self, problem, inputs, xp):
            calls.append(1)
            return super().reference(problem, inputs, xp)

    verifier = Verifier(Kernel(), PROBLEM, POLICY, np)
    for _ in range(3):
        assert verifier.check(right) is None
    assert len(calls) == 3  # integers and two draws


def test_without_verification_nothing_runs_but_inputs_are_there():
    verifier = Verifier(Product(), PROBLEM, Policy(verify=False), np)
    assert verifier.check(lambda _arrays: pytest.fail("it ran")) is None
    assert set(verifier.inputs) == {"a", "b"}


def test_an_empty_sum_must_be_written_as_zeros():
    problem = ProductProblem(k=0)
    assert check(right, problem=problem) is None
    assert "35 of 35" in check(lambda _arrays: None, problem=problem).message


def timed_outputs(verifier, run):
    arrays = {**verifier.inputs, "c": np.zeros((5, 7), np.uint16)}
    verifier.poison(arrays)
    run(arrays)
    return arrays


def test_what_was_timed_is_confirmed():
    verifier = Verifier(Product(), PROBLEM, POLICY, np)
    assert verifier.confirm(right, timed_outputs(verifier, right)) is None


def test_a_candidate_that_wrote_nothing_while_it_was_timed_is_incorrect():
    verifier = Verifier(Product(), PROBLEM, POLICY, np)
    failure = verifier.confirm(right, timed_outputs(verifier, lambda _arrays: None))
    assert failure.status is Status.INCORRECT
    assert "as it was timed: 35 of 35 elements of c are wrong" in failure.message


def test_a_candidate_that_remembers_its_last_answer_is_incorrect():
    verifier = Verifier(Product(), PROBLEM, POLICY, np)
    timed = timed_outputs(verifier, right)

    def remembered(arrays):
        arrays["c"][...] = timed["c"]

    assert "(integers inputs)" in verifier.confirm(remembered, timed).message


def test_without_verification_nothing_is_confirmed():
    verifier = Verifier(Product(), PROBLEM, Policy(verify=False), np)
    arrays = timed_outputs(verifier, lambda _arrays: None)
    assert not arrays["c"].any()
    assert verifier.confirm(lambda _arrays: pytest.fail("it ran"), arrays) is None
