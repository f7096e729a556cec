from __future__ import annotations

import json
import logging
import signal

import pytest

from autotune.cli import main


@pytest.fixture
def autotune(capsys, tmp_path, monkeypatch):
    """Run the command line in this process, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AUTOTUNE_DB", "imported.db")
    before, level = signal.getsignal(signal.SIGTERM), logging.getLogger("autotune").level

    def run(*words):
        with pytest.raises(SystemExit) as ending:
            main([str(word) for word in words])
        return ending.value.code, *capsys.readouterr()

    yield run
    signal.signal(signal.SIGTERM, before)
    logging.getLogger("autotune").setLevel(level)


def test_import_says_what_is_in_the_database_now(autotune, data):
    code, out, _ = autotune("import", data / "cache.json", "--format", "json")
    (told,) = json.loads(out)["imported"]
    assert (code, told["trials"], told["ok"], told["best_ns"]) == (0, 5, 2, 10_100.0)
    assert told["statuses"]["runtime_error"] == 1
    code, out, _ = autotune("studies", "--format", "json")
    assert json.loads(out)["studies"][0]["trials"] == 5


def test_best_shows_what_was_imported_if_unverified_results_are_wanted(autotune, data):
    autotune("import", data / "cache.json")
    _, out, err = autotune("query", "best")
    assert (out, "--unverified shows the others" in err) == ("", True)
    _, out, _ = autotune("query", "best", "--unverified", "--format", "json")
    assert json.loads(out)["trials"][0]["median_ns"] == 10_100.0


def test_a_study_of_an_imported_kernel_runs_from_the_command_line(autotune, data, tmp_path):
    autotune("import", data / "cache.json")
    (tmp_path / "s.toml").write_text(
        'name = "again"\nkernel = "imported.db:blur"\n[problems]\nshapes = [[512, 256]]\n'
    )
    recording = ("--device", "recording:imported.db", "--db", "runs.db")
    code, _, err = autotune("tune", "s.toml", *recording)
    assert code == 0, err
    _, out, _ = autotune("query", "best", "--unverified", "--db", "runs.db", "--format", "json")
    assert json.loads(out)["trials"][0]["median_ns"] == 10_100.0


def test_export_writes_what_import_reads(autotune, data):
    autotune("import", data / "cache.json")
    code, _, err = autotune("export", "--format", "t4", "--out", "cache_T4.json")
    assert (code, "5 configurations of blur" in err) == (0, True)
    code, out, _ = autotune("import", "cache_T4.json", "--format", "json")
    (told,) = json.loads(out)["imported"]
    assert (code, told["trials"], told["kernel"]) == (0, 5, "blur")


def test_a_bad_file_ends_with_one_line_and_nothing_recorded(autotune, tmp_path):
    (tmp_path / "bad.json").write_text('{"cache": {"1": 7}, "tune_params": {"a": [1]}}')
    code, out, err = autotune("import", "bad.json")
    assert (code, out) == (2, "")
    assert err == "error: bad.json: cache['1']: must be an object, not 7\n"
    _, out, _ = autotune("studies", "--format", "json")
    assert json.loads(out)["studies"] == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("import", "a.json", "b.json", "--study", "x"), "--study names one study"),
        (("import", "missing.json"), "missing.json: there is no such file"),
        (("export", "--out", "t.json", "--kernel", "gemm"), "do not go with a table"),
        (("export", "--out", "t.json", "--format", "csv"), "--format"),
    ],
)
def test_a_misuse_is_refused(autotune, words, said):
    code, _, err = autotune(*words)
    assert code == 2
    assert said in err
