"""A table file is the old one or the new one, whatever happens while it is written."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import textwrap

import pytest

from autotune.dispatch import Table
from autotune.errors import AutotuneError, InvalidInput, InvalidTable
from autotune.table import Export, build_table, write_table


@pytest.fixture
def export(book):
    for n in range(1, 9):
        book.add(8 * n, width=8)
    return build_table(book.store)


def test_what_is_written_is_read_back(export, tmp_path):
    path = tmp_path / "table.json"
    write_table(export, path)
    assert Table.load(path).lookup(count=16, dtype="fp32").source == "exact"
    text = path.read_text()
    assert text == json.dumps(json.loads(text), indent=2, sort_keys=True) + "\n"
    assert not list(tmp_path.glob(".table*"))


def test_an_export_that_cannot_be_loaded_is_not_written(export, tmp_path):
    path = tmp_path / "table.json"
    broken = Export(document=export.document | {"device": {}}, entries=1, left_out=())
    with pytest.raises(InvalidTable, match=r"device\.kind is missing"):
        write_table(broken, path)
    assert not path.exists()


def test_a_link_stays_a_link(export, tmp_path):
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to("real.json")
    write_table(export, tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert Table.load(tmp_path / "real.json").kernels


def test_what_is_not_a_place_for_a_file_is_refused(export, tmp_path):
    with pytest.raises(InvalidInput, match="there is no folder"):
        write_table(export, tmp_path / "missing" / "table.json")
    with pytest.raises(InvalidInput, match="is not a file"):
        write_table(export, tmp_path)
    with pytest.raises(InvalidInput, match="is not a file"):
        write_table(export, "/dev/null")


def test_a_full_disk_leaves_the_previous_table(export, tmp_path):
    path = tmp_path / "table.json"
    write_table(export, path)
    before = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(AutotuneError, match=r"cannot be written: File too large") as caught:
            write_table(export, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "untouched" in caught.value.hint
    assert path.read_bytes() == before
    assert not list(tmp_path.glob(".table*"))


KILLED_AT_EVERY_STEP = textwrap.dedent(
    """
    import json, os, signal, sys
    from autotune.dispatch import Table
    from autotune.table import Export, write_table

    target, document = sys.argv[1], json.load(sys.stdin)
    old, last, steps = open(target, "rb").read(), 0, 0

    def step():
        global steps
        steps += 1
        if steps == last:
            os.kill(os.getpid(), signal.SIGKILL)

    def audit(event, arguments):
        if event in ("open", "os.rename") and str(arguments[0]).endswith(".part"):
            step()

    def fsync(descriptor, real=os.fsync):
        step()
        real(descriptor)
        step()

    os.fsync = fsync
    sys.addaudithook(audit)
    for last in range(1, 9):
        with open(target, "wb") as file:
            file.write(old)
        if not (child := os.fork()):
            write_table(Export(document=document, entries=1, left_out=()), target)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), Table.load(target).generator)
    """
)


def test_a_kill_at_any_step_leaves_a_whole_table(export, tmp_path):
    path = tmp_path / "table.json"
    write_table(export, path)
    newer = json.dumps(export.document | {"generator": "newer"})
    run = subprocess.run(
        [sys.executable, "-c", KILLED_AT_EVERY_STEP, path],
        input=newer, capture_output=True, text=True, check=True,
    )  # fmt: skip
    ends = run.stdout.splitlines()
    old = export.document["generator"]
    assert set(ends) <= {f"-9 {old}", "-9 newer", "0 newer"}
    assert ends[0] == f"-9 {old}"
    assert ends[-1] == "0 newer"
