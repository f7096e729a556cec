"""A table is verified again: what is wrong leaves it, what is right is written down."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path

import pytest

from autotune.device import recordings
from autotune.device.sanitizer import Watch
from autotune.dispatch import Table
from autotune.errors import AutotuneError, DeviceUnavailable, InvalidInput, InvalidTable
from autotune.records import Failure, Outcome, Status
from autotune.report.certified import passed_line
from autotune.study.certify import certify, open_measured
from autotune.table import TableFile

sys.path.insert(0, str(Path(__file__).parents[1] / "kernels"))
from patience import PATIENT, limited
from tabled import CONTEXT, answer, document, write


@pytest.fixture
def path(tmp_path):
    return tmp_path / "table.json"


def certified(path, table, *, draws=2, **how):
    """Write ``table``, certify it, and return the report."""
    return again(write(path, table), draws=draws, **how)


def again(path, *, draws=2, **how):
    file = TableFile.open(path)
    device = limited(open_measured(file, limits=PATIENT))
    try:
        return certify(file, device=device, draws=draws, **how)
    finally:
        device.close()


def entries(path):
    return Table.load(path).kernels["faulty_matmul"].entries


def test_what_is_right_gets_a_certificate_that_says_what_was_run(path):
    report = certified(path, document(answer(4), defaults=[answer(2, evidence=False)]), draws=3)
    assert report.failed == ()
    table = Table.load(path)
    assert (table.certificate.configs, table.certificate.removed) == (2, 0)
    assert table.certificate.sanitizer == "off"
    [entry] = entries(path)
    certificate = entry.certificate
    assert certificate.problems == (
        "m=4,n=6,k=8", "m=5,n=7,k=9", "m=3,n=5,k=7", "m=1,n=1,k=1",
        "m=5,n=6,k=8", "m=4,n=7,k=8", "m=4,n=6,k=9",
    )  # fmt: skip
    assert (certificate.draws, certificate.sanitizer) == (3, "off")
    assert certificate.repeats > 2
    assert certificate.framework.startswith("autotune ")
    assert certificate.driver == report.identity.driver
    assert certificate.compiler_version
    assert len(certificate.source_digest) == 32
    assert table.kernels["faulty_matmul"].defaults[0].certificate.problems[0] == "m=2,n=6,k=8"


FAULTS = {  # how a config fails, and whether beside its problem only
    "odd_rows": (Status.INCORRECT, True),
    "odd_crash": (Status.CRASHED, True),
    "segfault": (Status.CRASHED, False),
    "hang": (Status.TIMEOUT, False),
    "swallow_nan": (Status.INCORRECT, False),
    "waver": (Status.NONDETERMINISTIC, False),
    "compile_error": (Status.COMPILE_ERROR, False),
    "unheard_of": (Status.COMPILE_ERROR, False),
}


def test_entries_that_fail_are_removed_and_cost_no_others(path):
    faults = [answer(8 * i + 4, fault) for i, fault in enumerate(FAULTS)]
    sound = [answer(200), answer(208)]
    report = certified(path, document(*faults[:3], sound[0], *faults[3:], sound[1]))
    found = {each.answer.config["fault"]: each for each in report.failed}
    assert {name: each.status for name, each in found.items()} == {
        name: status for name, (status, _) in FAULTS.items()
    }
    for number, (name, (_, beside)) in enumerate(FAULTS.items()):
        m = 8 * number + 4
        own = f"m={m},n=6,k=8"
        assert found[name].failed_on == (f"m={m + 1},n=7,k=9" if beside else own)
        assert found[name].message
    assert [entry.problem for entry in entries(path)] == [each["problem"] for each in sound]
    assert Table.load(path).certificate.removed == len(FAULTS)


def test_an_entry_is_held_to_the_conditions_that_it_states(path):
    certified(path, document(answer(4, "odd_rows", multiple_of=2)))
    [entry] = entries(path)
    assert entry.certificate.problems == (
        "m=4,n=6,k=8", "m=6,n=7,k=9", "m=2,n=5,k=7", "m=2,n=1,k=1",
        "m=6,n=6,k=8", "m=4,n=7,k=8", "m=4,n=6,k=9",
    )  # fmt: skip
    certified(path, document(answer(4, "odd_rows", at_least=4, at_most=4)))
    assert {p.partition(",")[0] for p in entries(path)[0].certificate.problems} == {"m=4"}


def test_certifying_again_replaces_the_certificate(path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    certified(path, document(answer(4), answer(8, "odd_rows")))
    first = path.read_bytes()
    again(path)
    assert json.loads(path.read_text())["certificate"]["removed"] == 0
    once = path.read_bytes()
    again(path)
    assert path.read_bytes() == once != first
    again(path, draws=4)
    assert entries(path)[0].certificate.draws == 4


def test_a_table_without_a_right_entry_is_left_as_it_was(path):
    table = document(answer(4, "odd_rows"), defaults=[answer(8, evidence=False)])
    report = certified(path, table)
    assert report.entries_left == 0
    assert json.loads(path.read_text()) == table


def test_contexts_that_nothing_was_measured_in_leave_with_their_entries(path):
    table = document(answer(4, "odd_rows"), answer(8))
    kernel = table["kernels"]["faulty_matmul"]
    other = "f" * 16
    kernel["contexts"][other] = kernel["contexts"][CONTEXT]
    kernel["entries"][0]["evidence"] = {**kernel["entries"][0]["evidence"], "context": other}
    certified(path, table)
    assert list(Table.load(path).kernels["faulty_matmul"].contexts) == [CONTEXT]


def test_a_config_that_cannot_be_built_beside_its_problem_is_no_fault(path, tmp_path):
    """A launcher takes the next choice there, so that nothing wrong comes out."""
    source = tmp_path / "picky.py"
    source.write_text(
        f"import sys; sys.path.insert(0, {str(Path(__file__).parents[1] / 'kernels')!r})\n"
        "from autotune.errors import InvalidInput\n"
        "from faulty_matmul import FaultyMatmul\n"
        "class Picky(FaultyMatmul):\n"
        "    name = 'faulty_matmul'\n"
        "    def unit(self, problem, config, target):\n"
        "        if problem.m % 2:\n"
        "            raise InvalidInput('odd')\n"
        "        return super().unit(problem, config, target)\n"
    )
    certified(path, document(answer(4), reference=f"{source}:Picky"))
    assert entries(path)[0].certificate.problems == (
        "m=4,n=6,k=8", "m=4,n=7,k=8", "m=4,n=6,k=9"
    )  # fmt: skip


def test_a_problem_that_the_kernel_refuses_fails_alone(path):
    table = document(answer(2**31), answer(8))
    report = certified(path, table)
    assert "the kernel of today refuses it" in report.failed[0].message
    assert [entry.problem["m"] for entry in entries(path)] == [8]


@pytest.mark.parametrize(
    ("changes", "device", "parts"),
    [
        ({"name": "Abacus"}, "auto", ("is of Abacus (host,", "device host is ")),
        ({"arch": "vax"}, "host", ("vax)", "device host is ")),
        ({}, f"recording:{next(iter(recordings()))}", ("repeats what was measured",)),
        ({}, "cuda:0", ("device cuda:0 is",)),
        ({"kind": "abacus"}, "auto", ("(abacus,", "device abacus is not here: no device")),
    ],
)
def test_another_device_is_refused_in_one_line(path, changes, device, parts):
    before = write(path, document(answer(4), **changes)).read_bytes()
    with pytest.raises(DeviceUnavailable) as refused:
        open_measured(TableFile.open(path), device)
    assert refused.value.message.startswith(f"table '{path}' is of ")
    assert refused.value.hint
    assert "\n" not in refused.value.message
    for part in parts:
        assert part in refused.value.message
    assert path.read_bytes() == before


@pytest.mark.parametrize("text", ["", "{}", '{"schema": "autotune.table"'])
def test_a_damaged_table_is_refused_and_left_alone(path, text):
    path.write_text(text)
    with pytest.raises(InvalidTable):
        TableFile.open(path)
    assert path.read_text() == text


def test_a_kernel_that_is_gone_stops_everything(path):
    table = document(answer(4), reference="no_such_kernel")
    with pytest.raises(InvalidInput, match="no kernel named 'no_such_kernel'"):
        certified(path, table)
    assert json.loads(path.read_text()) == table


def test_a_table_that_has_changed_meanwhile_is_not_overwritten(path):
    newer = json.dumps(document(answer(16))) + "\n"
    with pytest.raises(AutotuneError, match="has changed while it was being certified"):
        certified(path, document(answer(4)), say=lambda _: path.write_text(newer))
    assert path.read_text() == newer


def test_an_interrupt_leaves_the_table_as_it_was(path):
    def stop(examined):
        if examined.answer.problem["m"] == 8:
            raise KeyboardInterrupt

    table = document(answer(4, "odd_rows"), answer(8))
    with pytest.raises(KeyboardInterrupt):
        certified(path, table, say=stop)
    assert json.loads(path.read_text()) == table
    assert [each.name for each in path.parent.iterdir()] == ["table.json"]


def test_an_entry_for_an_empty_problem_fails_alone(path):
    report = certified(path, document(answer(0), answer(8)))
    assert [each.message for each in report.failed] == ["an empty grid: nothing to time"]
    assert [entry.problem["m"] for entry in entries(path)] == [8]


class Suspicious:
    """A sanitizer that finds a fault in whatever it watches."""

    told = "memcheck"

    def watch(self, launches):
        fault = Failure(status=Status.INCORRECT, message="memcheck reports 1: a read")
        return Watch(said="memcheck: 1 reported", fault=fault)


def test_a_fault_that_a_sanitizer_finds_names_all_that_it_watched(path):
    report = certified(path, document(answer(4)), sanitizer=Suspicious())
    [failed] = report.failed
    assert failed.message == "memcheck reports 1: a read"
    assert failed.failed_on == "m=4,n=6,k=8 or m=5,n=7,k=9 or m=3,n=5,k=7 or m=1,n=1,k=1"


class Slow:
    """A sanitizer that does not get to the end."""

    told = "memcheck"

    def watch(self, launches):
        return Watch(said="memcheck: timeout, no answer in 300 s", ended=False)


def test_what_a_sanitizer_did_not_see_to_the_end_stays_and_is_not_called_clean(path):
    report = certified(path, document(answer(4)), sanitizer=Slow())
    table = Table.load(path)
    assert table.certificate.sanitizer == "memcheck, not to the end on 1 of 1"
    [entry] = entries(path)
    assert entry.certificate.sanitizer == "memcheck: timeout, no answer in 300 s"
    assert "timeout" in passed_line(report.examined[0])


class Crowded:
    """A device whose memory holds one draw, as far as it is asked."""

    def __init__(self, device):
        self._device = device

    def __getattr__(self, name):
        return getattr(self._device, name)

    def measure(self, candidate, binary, policy):
        if policy.draws > 1:
            return Outcome(status=Status.OOM, message="out of memory")
        return self._device.measure(candidate, binary, policy)


def test_draws_that_do_not_fit_the_memory_cost_no_entry(path):
    table = document(answer(4))
    file = TableFile.open(write(path, table))
    with closing(open_measured(file, limits=PATIENT)) as device:
        with pytest.raises(AutotuneError, match="2 draws do not fit the memory of host") as refused:
            certify(file, device=Crowded(device), draws=2)
        assert "--draws 1" in refused.value.hint
        assert json.loads(path.read_text()) == table
        certify(file, device=Crowded(device), draws=1)
    assert entries(path)[0].certificate.draws == 1
