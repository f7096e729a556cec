"""``autotune certify``: what people and scripts see, and what an interrupt leaves."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
from pathlib import Path

import pytest
from patience import PATIENCE_S, until
from tabled import answer, document, write

from autotune.cli.certify import TOOLS
from autotune.device import sanitizer
from autotune.dispatch import Table

DRAWS = ("--draws", "2")


@pytest.fixture
def table(here):
    """Write a table of these answers into the working folder."""

    def put(*answers, **device):
        return write(here / "table.json", document(*answers, **device))

    return put


def test_an_exported_table_is_certified_and_still_looked_up(autotune, here, tuned):
    path = here / "table.json"
    path.write_bytes((tuned.folder / "table.json").read_bytes())
    ended = autotune("certify", path, *DRAWS, "--format", "json")
    assert ended.code == 0, ended.err
    told = json.loads(ended.out)
    assert (told["removed"], told["sanitizer"]) == (0, "not for a host")
    assert {row["role"] for row in told["configs"]} == {"entry", "default"}
    assert told["certified"] == len(told["configs"]) == Table.load(path).certificate.configs
    assert "right: host_matmul entry m=48,n=32,k=16: on 7 problems" in ended.err
    assert autotune("lookup", path, "m=48", "n=32", "k=16").code == 0


def test_what_failed_is_told_in_one_line_each(autotune, table):
    path = table(answer(4, "odd_rows"), answer(8), answer(12, "half_of_k"))
    ended = autotune("certify", path, *DRAWS, "-q", "--format", "csv")
    assert ended.code == 1
    first, second, error, hint = ended.err.splitlines()
    assert first.startswith(
        "failed: faulty_matmul entry m=4,n=6,k=8: on m=5,n=7,k=9: incorrect: 1 of 35 elements of c"
    )
    assert second.startswith("failed: faulty_matmul entry m=12,n=6,k=8: on m=12,n=6,k=8: incorrect")
    assert error == f"error: 2 of 3 configurations failed and were removed from table '{path}'"
    assert hint.startswith("hint: ")
    rows = [*csv.DictReader(io.StringIO(ended.out))]
    assert [row["status"] for row in rows] == ["incorrect", "ok", "incorrect"]
    assert len(Table.load(path).kernels["faulty_matmul"].entries) == 1


def test_a_table_without_a_right_entry_stays_and_exits_with_3(autotune, table):
    path = table(answer(4, "odd_rows"))
    before = path.read_bytes()
    ended = autotune("certify", path, *DRAWS)
    assert ended.code == 3
    assert f"error: no entry of table '{path}' is right on " in ended.err
    assert "on m=5,n=7,k=9: incorrect" in ended.out
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "device", "parts", "code"),
    [
        ((), {"name": "Abacus"}, ("is of Abacus (host,", "hint: "), 1),
        ((), {"kind": "cuda", "name": "NVIDIA H200"}, ("is of NVIDIA H200 (cuda,",), 1),
        (("--device", "recording:h200"), {}, ("repeats what was measured",), 1),
        (("--device", "gpu"), {}, ("no device 'gpu'", "did you mean"), 1),
        (("--draws", "0"), {}, ("--draws", "from 1 to 1000"), 2),
        (("--tool", "initcheck"), {}, ("--tool", "memcheck"), 2),
    ],
)
def test_what_cannot_be_certified_gets_one_line(autotune, table, words, device, parts, code):
    path = table(answer(4), **device)
    before = path.read_bytes()
    ended = autotune("certify", path, *words)
    assert (ended.code, ended.out) == (code, "")
    errors = [line for line in ended.err.splitlines() if not line.startswith("hint: ")]
    assert len(errors) == 1
    for part in parts:
        assert part in ended.err
    assert path.read_bytes() == before


def test_a_table_that_is_damaged_or_not_there_is_refused(autotune, here):
    assert autotune("certify", "none.json").code == 2
    (here / "table.json").write_text('{"schema": "autotune.table"}')
    ended = autotune("certify", "table.json")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "error: table.json: schema_version is missing\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_stop_while_an_entry_hangs_leaves_the_table(start, table, here, tmp_path, number):
    path = table(answer(4, "odd_rows"), answer(8, "hang"), answer(12))
    before, hangs = path.read_bytes(), tmp_path / "hangs"
    mark = f"{here}-{os.getpid()}"
    process = start("certify", path, *DRAWS, FAULTY_HANGS=str(hangs), AUTOTUNE_TEST_MARK=mark)
    until(lambda: hangs.exists() or process.poll() is not None)
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE_S)
    if number is not signal.SIGKILL:
        assert process.returncode == 130
        assert err.splitlines()[-1] == f"interrupted: table '{path}' is as it was"
        assert "Traceback" not in err + out
    assert path.read_bytes() == before
    assert [each.name for each in here.iterdir()] == ["table.json"]
    until(lambda: not _living(mark))


def _living(mark):
    """Return the processes that carry ``mark`` in their environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (process / "environ").read_bytes():
                found.append(process.name)
        except OSError:
            continue
    return found


def test_every_tool_of_the_sanitizer_can_be_asked_for():
    assert TOOLS == sanitizer.TOOLS
