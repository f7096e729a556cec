"""Bad input gets one clear line that says what, where and what is allowed; nothing is written."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing

import pytest

STUDY = """
name = "s"
kernel = "host_matmul"
[search]
trials = 3
[problems]
shapes = [[8, 8, 8]]
"""


def _study(here, text):
    (here / "s.toml").write_text(text)


def _refused(ended, here, *parts, code=2):
    """Check the message, and that nothing but what was there is there."""
    assert ended.code == code
    assert ended.out == ""
    told = ("study ", "device ")
    lines = [line for line in ended.err.splitlines() if not line.startswith(told)]
    assert lines[0].startswith("error: ")
    assert [line for line in lines[1:] if not line.startswith("hint: ")] == []
    for part in parts:
        assert part in ended.err
    left = {path.name for path in here.rglob("*") if path.suffix != ".lock"}
    assert left <= {"s.toml", "table.json", "not.db"}


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (("trials = 3", "trails = 3"), ("search.trails", "trials", "time_budget")),
        (("name =", "colour = 1\nname ="), ("'colour'", "name", "kernel")),
        (("[[8, 8, 8]]", "[[8, -1, 8]]"), ("problems.shapes[0]", "n=-1", "from 0")),
        (("[[8, 8, 8]]", "[[8, 8]]"), ("problems.shapes[0]", "m, n, k")),
        (("trials = 3", "trials = 0"), ("search.trials", "at least 1, not 0")),
        (("trials = 3", 'sampler = "magic"'), ("search.sampler", "magic", "tpe", "exhaustive")),
        (("host_matmul", "no_such"), ("no_such", "host_matmul", "gemm")),
        (("host_matmul", "no_such.py:K"), ("no_such.py", "does not exist")),
        (("[problems]", "[problems"), ("not a readable TOML file",)),
        (("[problems]", '[policy]\npreset = "slow"\n[problems]'), ("policy.preset", "quick")),
        (("[problems]", "[space]\ntile_m = [7]\n[problems]"), ("tile_m=7", "4, 8, 16")),
        (("[problems]", "[space]\ntile_x = [8]\n[problems]"), ("tile_x", "tile_m")),
    ],
)
def test_a_study_file_names_file_key_and_what_is_allowed(autotune, here, change, parts):
    _study(here, STUDY.replace(*change))
    _refused(autotune("tune", "s.toml", "--device", "host"), here, "s.toml", *parts)


def test_a_study_file_without_its_suffix(autotune, here):
    _study(here, STUDY)
    _refused(autotune("tune", "s"), here, "'s' does not exist", "hint: did you mean s.toml?")


@pytest.mark.parametrize("words", [("tune",), ("lookup",), ("tune", "s", "--trials", "0")])
def test_no_phrase_of_a_library_reaches_a_person(autotune, here, words):
    _study(here, STUDY.replace("[8, 8, 8]", '["8"]'))
    for ended in (autotune(*words), autotune("tune", "s.toml")):
        assert ended.code == 2
        assert not re.search(r"Invalid value|Missing|Input should|valid integer", ended.err)


def test_a_kernel_for_gpus_on_the_host(autotune, here):
    _study(here, STUDY.replace("host_matmul", "gemm"))
    ended = autotune("tune", "s.toml", "--device", "host")
    _refused(ended, here, "s.toml", "'gemm'", "hint: add --device recording:h200")


def test_an_export_of_a_device_that_has_no_rows_names_those_that_have(autotune, tuned, here):
    ended = autotune("export", "--device", "H100", "--out", "t.json", "--db", tuned.url)
    _refused(ended, here, "no row is of device 'H100'; the devices are: ", code=3)


def test_a_missing_study_file(autotune, here):
    _refused(autotune("tune", "none.toml"), here, "none.toml", "does not exist")


@pytest.mark.parametrize(
    ("words", "parts", "code"),
    [
        (("--device", "gpu"), ("'gpu'", "cuda:N", "host"), 1),
        (("--device", "cpu"), ("'cpu'", "did you mean --device host?"), 1),
        (("--device", "recording:h200"), ("'host_matmul'", "hint: add --device host"), 2),
        (("--device", "host", "--export", "no/t.json"), ("no/t.json", "there is no folder"), 2),
        (("more", "--device", "host"), ("unexpected extra argument (more)",), 2),
        (("--device", "recording:nothing"), ("nothing",), 1),
        (("--sampler", "magic"), ("--sampler", "magic", "tpe", "exhaustive"), 2),
        (("--trials", "0"), ("--trials", "at least 1"), 2),
        (("--trials", "many"), ("--trials", "many"), 2),
        (("--seed", "-1"), ("--seed", "from 0 to 4294967295"), 2),
        (("--time-budget", "soon"), ("--time-budget", "'soon'", "5m"), 2),
        (("--format", "xml"), ("--format", "json"), 2),
        (("--what",), ("--what",), 2),
    ],
)
def test_an_option_of_tune(autotune, here, words, parts, code):
    _study(here, STUDY)
    _refused(autotune("tune", "s.toml", *words), here, *parts, code=code)


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("kernels", "no_such"), ("no_such", "gemm", "host_matmul")),
        (("kernels", "gemm", "--problem", "m=-1,n=8,k=8"), ("m must be", "not -1")),
        (("kernels", "gemm", "--problem", "m=8,n=8"), ("missing field k",)),
        (("kernels", "gemm", "--problem", "m=8,n=8,q=8"), ("'q'", "m, n, k, dtype, layout")),
        (("kernels", "gemm", "--problem", "m=x,n=8,k=8"), ("m must be a whole number", "'x'")),
        (("kernels", "gemm", "--problem", "m"), ("'m'", "FIELD=VALUE")),
        (("kernels", "gemm", "--problem", "m=1,m=2"), ("'m'", "twice")),
        (("kernels", "gemm", "--explain"), ("--problem",)),
        (("kernels", "--problem", "m=1"), ("NAME",)),
        (
            ("kernels", "gemm", "--problem", "m=8,n=8,k=8", "--target", "sm_75"),
            ("sm_75", "sm_80", "sm_90a"),
        ),
    ],
)
def test_what_kernels_is_asked(autotune, here, words, parts):
    _refused(autotune(*words), here, *parts)


@pytest.mark.parametrize(
    "words",
    [
        ("tune", "s.toml", "--device", "host"),
        ("query", "best"),
        ("studies",),
        ("db", "check"),
        ("db", "upgrade"),
        ("export", "--out", "out.json"),
    ],
)
def test_a_database_that_is_not_one(autotune, here, words):
    _study(here, STUDY)
    (here / "not.db").write_text("dear diary, " * 1000)
    _refused(autotune(*words, "--db", "sqlite:///not.db"), here, "not.db", code=1)
    assert (here / "not.db").read_text() == "dear diary, " * 1000


@pytest.mark.parametrize(
    "words", [("query", "trials"), ("studies",), ("db", "current"), ("export", "--out", "o.json")]
)
def test_a_database_that_is_not_there_is_not_made_by_reading(autotune, here, words):
    _refused(autotune(*words, "--db", "sqlite:///none.db"), here, "none.db", code=1)


@pytest.mark.parametrize("url", ["sqlite:////no/such/folder/x.db", "nonsense://x", "sqlite://"])
def test_a_database_url_that_cannot_be_used(autotune, here, url):
    _study(here, STUDY)
    ended = autotune("tune", "s.toml", "--device", "host", "--db", url)
    _refused(ended, here, code=1)


def test_a_table_of_a_newer_schema(autotune, here, tuned):
    table = json.loads((tuned.folder / "table.json").read_text())
    (here / "table.json").write_text(json.dumps({**table, "schema_version": 99}))
    ended = autotune("lookup", "table.json", "m=8", "n=8", "k=8")
    _refused(ended, here, "table.json", "schema_version", "99")


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("m=-1", "n=8", "k=8"), ("m must be", "not -1")),
        (("m=8", "n=8"), ("missing field k; a problem has m, n, k",)),
        (("m=8", "n=8", "k=8", "q=1"), ("'q'", "m, n, k")),
        (("m=8", "m=9", "n=8", "k=8"), ("'m'", "twice")),
        (("--kernel", "gemm", "m=8", "n=8", "k=8"), ("gemm", "host_matmul")),
    ],
)
def test_a_lookup_of_what_is_no_problem(autotune, here, tuned, words, parts):
    (here / "table.json").write_bytes((tuned.folder / "table.json").read_bytes())
    _refused(autotune("lookup", "table.json", *words), here, *parts)


def test_a_lookup_in_what_is_no_table(autotune, here):
    _study(here, STUDY)
    _refused(autotune("lookup", "s.toml", "m=8"), here, "s.toml: not a table", "line 2")


def test_a_lookup_in_no_table(autotune, here):
    _refused(autotune("lookup", "none.json", "m=8"), here, "none.json", "autotune export")


def test_a_schema_of_the_future_exits_with_4(autotune, here, tuned):
    copy = here.parent / "future.db"
    results = tuned.folder / "results.db"
    with closing(sqlite3.connect(results)) as source, closing(sqlite3.connect(copy)) as target:
        source.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        source.backup(target)
        target.execute("UPDATE autotune_alembic_version SET version_num = '9999'")
        target.commit()
    for words in (("query", "best"), ("db", "check"), ("studies",)):
        ended = autotune(*words, "--db", f"sqlite:///{copy}")
        assert ended.code == 4
        assert "9999" in ended.err
        assert ended.out == ""


def test_no_configuration_at_all_exits_with_3(autotune, here):
    _study(here, STUDY.replace("[problems]", "[space]\nunroll = [8]\ntile_k = [8]\n[problems]"))
    ended = autotune("tune", "s.toml", "--device", "host")
    assert ended.code == 3
    assert "unroll removed" in ended.err
    assert not (here / "table.json").exists()


def test_a_hint_can_be_typed_where_the_program_is_not_on_the_path(autotune, here, monkeypatch):
    monkeypatch.setattr("sys.argv", ["/a place/bin/autotune"])
    monkeypatch.setenv("PATH", str(here))
    assert "hint: '/a place/bin/autotune' tune --help" in autotune("tune").err
    program = here / "autotune"
    program.touch(mode=0o755)
    assert "hint: autotune tune --help" in autotune("tune").err
