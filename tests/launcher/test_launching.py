"""What is launched, with what, and what is refused, without a GPU: see ``conftest.StandIn``."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest

from autotune.errors import InvalidInput, InvalidProblem, InvalidTable, NoValidConfig
from autotune.launcher import Dispatcher, gpu

pytestmark = pytest.mark.usefixtures("stand_in")

SQUARE = {"m": 64, "n": 64, "k": 64, "dtype": "fp16", "layout": "nn"}
LARGE = SQUARE | {"m": 4096, "n": 4096, "k": 4096}


@pytest.fixture
def tuned(gemm, make_table, target):
    """A table with two entries whose binaries differ, and their configs."""
    default = gemm.default(gemm.problem_type.parse(SQUARE), target)
    small = default.replace(tile_m=64, tile_n=64, warp_m=32, warp_n=32, stages=2)
    large = default.replace(stages=4)
    return make_table((SQUARE, small), (LARGE, large)), small, large


def test_a_product_is_launched_as_the_table_says(stand_in, binaries, foreign, tuned, gemm, target):
    table, small, _ = tuned
    a, b = foreign((64, 64)), foreign((64, 64))
    out = Dispatcher(table, store=binaries)(a, b)
    [(binary, launch, pointers)] = stand_in.started
    assert launch == gemm.launch(gemm.problem_type.parse(SQUARE), small, target)
    assert pointers == {"a": a.pointer, "b": b.pointer, "c": out.pointer}
    assert binary.entry == "gemm"


def test_a_transposed_view_is_not_copied(stand_in, binaries, foreign, tuned):
    w = foreign((64, 64), strides=(1, 64))
    dispatcher = Dispatcher(tuned[0], store=binaries)
    dispatcher.matmul(foreign((64, 64)), w)
    assert stand_in.started[0][2]["b"] == w.pointer


def test_each_call_carries_its_own_config(stand_in, binaries, tuned, gemm, operands_of, target):
    """Two configs in turn: nothing of the one leaks into the other's launch."""
    table, small, large = tuned
    dispatcher = Dispatcher(table, store=binaries)
    expected = []
    for fields, config in ((SQUARE, small), (LARGE, large), (SQUARE, small)):
        problem = gemm.problem_type.parse(fields)
        dispatcher.run(problem, operands_of(problem))
        expected.append(gemm.launch(problem, config, target))
    assert [launch for _, launch, _ in stand_in.started] == expected


def test_an_empty_output_launches_nothing(stand_in, binaries, foreign, tuned):
    out = Dispatcher(tuned[0], store=binaries)(foreign((0, 64)), foreign((64, 64)))
    assert out.__cuda_array_interface__["shape"] == (0, 64)
    assert stand_in.started == []


def test_k_of_zero_is_launched_since_the_output_is_zeros(stand_in, binaries, foreign, tuned):
    Dispatcher(tuned[0], store=binaries)(foreign((64, 0), pointer=0), foreign((0, 64), pointer=0))
    assert len(stand_in.started) == 1


def test_a_config_that_is_refused_is_passed_over_once(stand_in, binaries, foreign, tuned, caplog):
    dispatcher = Dispatcher(tuned[0], store=binaries)
    dispatcher(foreign((64, 64)), foreign((64, 64)))
    first = stand_in.started[0][0]
    stand_in.refuse.add(first.key)
    for _ in range(2):
        dispatcher(foreign((64, 64)), foreign((64, 64)))
    second, third = (binary.key for binary, _, _ in stand_in.started[1:])
    assert second == third != first.key
    reports = [r for r in caplog.records if "out of resources" in r.getMessage()]
    assert len(reports) == 1
    assert dispatcher.prepare(SQUARE).source == "nearest"


def test_an_entry_that_this_space_does_not_have_is_passed_over(
    binaries, foreign, gemm, make_table, caplog, target
):
    default = gemm.default(gemm.problem_type.parse(SQUARE), target)
    table = make_table((SQUARE, default.replace(tile_m=136)))
    dispatcher = Dispatcher(table, store=binaries)
    dispatcher(foreign((64, 64)), foreign((64, 64)))
    assert dispatcher.prepare(SQUARE).source == "default"
    assert "tile_m=136 is not one of" in caplog.text


def test_a_config_that_one_problem_excludes_still_serves_others(
    binaries, gemm, make_table, monkeypatch, target
):
    """The space may know more than the conditions say: it is asked for each problem."""
    default = gemm.default(gemm.problem_type.parse(SQUARE), target)
    dispatcher = Dispatcher(make_table((SQUARE, default.replace(stages=4))), store=binaries)
    monkeypatch.setattr(type(gemm), "space", _without_odd_m(type(gemm).space))
    assert dispatcher.prepare(SQUARE | {"m": 63}).source == "default"
    assert dispatcher.prepare(SQUARE | {"m": 128}).source == "nearest"


def _without_odd_m(space_of):
    def space(self, problem, target):
        space = space_of(self, problem, target)
        return space.restricted({"stages": [2, 3]}) if problem.m % 2 else space

    return space


def test_when_every_config_is_refused_the_error_says_so(stand_in, foreign, binaries, tuned):
    class Every(set):
        def __contains__(self, key):
            return True

    stand_in.refuse = Every()
    with pytest.raises(NoValidConfig, match="out of resources"):
        Dispatcher(tuned[0], store=binaries)(foreign((64, 64)), foreign((64, 64)))


def test_a_table_of_another_architecture_is_not_used(binaries, gemm, make_table, caplog, target):
    problem = gemm.problem_type.parse(SQUARE)
    table = make_table((SQUARE, gemm.default(problem, target).replace(stages=4)), arch="sm_90a")
    choice = Dispatcher(table, store=binaries).prepare(problem)
    assert choice.source == "default"
    assert choice.reason.endswith("the table is for sm_90a, and this device is sm_80")
    assert len([r for r in caplog.records if r.levelno == logging.WARNING]) == 1


def test_a_table_of_a_kin_is_used_and_what_differs_is_said_once(
    stand_in, binaries, gemm, make_table, caplog, target, monkeypatch
):
    kin = gpu.running(0)._replace(name="a GPU NVL")
    monkeypatch.setattr(gpu, "running", lambda device: kin)
    default = gemm.default(gemm.problem_type.parse(SQUARE), target)
    dispatcher = Dispatcher(make_table((SQUARE, default)), store=binaries)
    assert dispatcher.prepare(SQUARE).source == "exact"
    assert dispatcher.prepare(LARGE).source == "nearest"
    assert [record.getMessage() for record in caplog.records] == [
        "table: tuned on a GPU, and this is a GPU NVL; times may differ"
    ]


def test_without_a_table_the_kernel_chooses(binaries, gemm, target):
    choice = Dispatcher(None, store=binaries).prepare(SQUARE, kernel="gemm")
    assert choice.config == gemm.default(gemm.problem_type.parse(SQUARE), target).as_dict()


def test_a_problem_without_an_answer_takes_the_default_and_says_so_once(
    binaries, foreign, tuned, caplog
):
    dispatcher = Dispatcher(tuned[0], store=binaries)
    for _ in range(3):
        dispatcher(foreign((64, 64), "fp32"), foreign((64, 64), "fp32"))
    assert [r.levelno for r in caplog.records] == [logging.WARNING]
    assert "dtype=fp32" in caplog.text


def test_a_kernel_that_changed_since_it_was_measured_is_reported_once(
    binaries, gemm, make_table, caplog, target
):
    default = gemm.default(gemm.problem_type.parse(SQUARE), target)
    dispatcher = Dispatcher(make_table((SQUARE, default), digest="0" * 32), store=binaries)
    for fields in (SQUARE, LARGE):
        dispatcher.prepare(fields)
    assert [r.getMessage() for r in caplog.records] == [
        "gemm: the kernel's source is not the one that table was measured with; tune it again"
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"shape": (64, 32)}, r"out has shape \(64, 32\); this problem takes \(64, 64\)"),
        ({"dtype": "int32"}, "out is int32; this product is fp16 or fp32"),
        ({"strides": (1, 64)}, "out has strides .* must be row-major without gaps"),
        ({"pointer": (1 << 40) + 8}, "out begins 8 bytes past a multiple of 16"),
        ({"data": (1 << 44, True)}, "out may not be written"),
    ],
)
def test_an_output_that_cannot_be_written_is_refused(
    stand_in, binaries, foreign, tuned, change, message
):
    out = foreign(**{"shape": (64, 64), **change})
    with pytest.raises(InvalidInput, match=message):
        Dispatcher(tuned[0], store=binaries)(foreign((64, 64)), foreign((64, 64)), out=out)
    assert stand_in.started == []


def test_an_output_may_not_share_memory_with_an_input(stand_in, binaries, foreign, tuned):
    a, b = foreign((64, 64)), foreign((64, 64))
    tail = foreign((64, 64), pointer=b.pointer + 4096)
    dispatcher = Dispatcher(tuned[0], store=binaries)
    for out, named in ((a, "a"), (tail, "b")):
        with pytest.raises(InvalidInput, match=f"out shares memory with {named}"):
            dispatcher(a, b, out=out)
    dispatcher(a, a, out=foreign((64, 64), pointer=a.pointer + 8192))
    assert len(stand_in.started) == 1


def test_run_wants_every_operand_and_no_other(binaries, foreign, gemm, tuned, operands_of):
    problem = gemm.problem_type.parse(SQUARE)
    arrays, dispatcher = operands_of(problem), Dispatcher(tuned[0], store=binaries)
    for wrong in ({}, {"a": arrays["a"]}, arrays | {"d": arrays["a"]}):
        with pytest.raises(InvalidInput, match="arrays must be a, b, c"):
            dispatcher.run(problem, wrong)
    with pytest.raises(InvalidInput, match="a has shape"):
        dispatcher.run(problem, arrays | {"a": foreign((32, 64))})
    with pytest.raises(InvalidProblem, match="unknown field 'q'"):
        dispatcher.run(SQUARE | {"q": 1}, arrays)
    assert dispatcher.run(SQUARE, arrays).source == "exact"


def test_a_dispatcher_refuses_what_it_cannot_serve(tmp_path):
    with pytest.raises(InvalidTable, match="cannot be read"):
        Dispatcher(tmp_path / "missing.json")
    with pytest.raises(InvalidInput, match="name a kernel; the table has: none"):
        Dispatcher(None).prepare(SQUARE)
    with pytest.raises(InvalidInput, match="is written in c\\+\\+; the dispatcher runs cuda"):
        Dispatcher(None).prepare(SQUARE, kernel="host_matmul")


def test_the_package_finds_it_only_when_asked():
    code = (
        "import sys, autotune; before = [n for n in sys.modules if n.startswith('autotune.')]; "
        "print(before, autotune.Dispatcher.__module__, 'cupy' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["[]", "autotune.launcher.dispatcher", "False"]


def test_where_there_is_no_torch_the_operator_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "autotune.launcher.torch_op", raising=False)
    with pytest.raises(InvalidInput, match="torch is not installed"):
        Dispatcher(None).torch_op()
