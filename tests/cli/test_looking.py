"""Commands that only look: kernels, doctor, db, help."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import autotune as package
from autotune import errors

HEAVY = ("optuna", "sqlalchemy", "alembic", "pandas", "numpy", "scipy", "pydantic", "rich", "cupy")


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["tune", "--help"]])
def test_help_loads_nothing_heavy(words):
    code = (
        "import sys\n"
        "from autotune.cli import main\n"
        "try:\n"
        f"    main({words})\n"
        "finally:\n"
        f"    print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "[]\n")


def test_the_version_is_that_of_the_package(autotune):
    assert autotune("--version").out == f"autotune {package.__version__}\n"


def test_kernels_lists_what_is_installed(autotune):
    ended = autotune("kernels")
    assert "gemm" in ended.out
    assert "host_matmul" in ended.out
    rows = json.loads(autotune("kernels", "--format", "json").out)["kernels"]
    assert rows[0]["problem_fields"] == {
        "m": "int",
        "n": "int",
        "k": "int",
        "dtype": "str = bf16",
        "layout": "str = nt",
    }


def test_a_kernel_alone_is_shown_by_an_example(autotune):
    ended = autotune("kernels", "host_matmul")
    assert "tile_m" in ended.out
    words = ended.err.removeprefix("hint: autotune ").split()
    assert words[:3] == ["kernels", "host_matmul", "--problem"]
    assert autotune(*words).code == 0


def test_kernels_shows_a_space_for_a_target(autotune):
    words = ("kernels", "gemm", "--problem", "m=512,n=512,k=512", "--target", "sm_80")
    ended = autotune(*words)
    assert "on sm_80" in ended.out
    assert "mechanism" in ended.out
    assert "cp_async" in ended.out


def test_explain_accounts_for_every_configuration(autotune):
    words = ("kernels", "host_matmul", "--problem", "m=64,n=64,k=64", "--explain")
    assert "configurations keep every constraint" in autotune(*words).out
    census = json.loads(autotune(*words, "--format", "json").out)
    removed = sum(row["removed"] for row in census["constraints"])
    assert census["valid"] + removed == census["total"]
    names = [row["name"] for row in census["constraints"]]
    assert len(names) == len(set(names))


def test_doctor_says_what_this_machine_has(autotune):
    ended = autotune("doctor", "--format", "json")
    assert ended.code == 0
    checks = {check["name"]: check for check in json.loads(ended.out)["checks"]}
    for name in ("Python", "autotune", "SQLite", "C++ compiler", "NVRTC", "cache", "database"):
        assert checks[name]["state"] in {"ok", "absent"}
        assert checks[name]["found"]
    assert "Python" in autotune("doctor").out


def test_doctor_changes_nothing(autotune, tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("AUTOTUNE_DB", f"sqlite:///{tmp_path}/some.db")
    assert autotune("doctor").code == 0
    assert list(tmp_path.iterdir()) == []


def test_doctor_fails_for_what_is_broken(autotune, tmp_path):
    (tmp_path / "not.db").write_text("no database " * 100)
    ended = autotune("doctor", "--db", f"sqlite:///{tmp_path}/not.db")
    assert ended.code == 1
    assert "✗" in ended.out
    assert "not an SQLite database" in ended.out


def test_doctor_hides_the_password_of_a_database(autotune):
    ended = autotune("doctor", "--db", "postgresql+psycopg://me:secret@127.0.0.1:1/x")
    assert "secret" not in ended.out + ended.err


def test_what_to_install_is_this_checkout_or_the_distribution(monkeypatch, tmp_path):
    checkout = Path(package.__file__).parents[1]
    assert errors.install_hint("cuda13") == f"pip install -e '{checkout}[cuda13]'"
    assert "[nvrtc13] without a GPU" in errors.cuda_hint()
    monkeypatch.setattr(errors, "_CHECKOUT", str(tmp_path))
    assert errors.install_hint("cuda13") == "pip install 'autotune-kernels[cuda13]'"


def test_db_makes_and_checks_a_schema(autotune, here):
    url = ("--db", "sqlite:///new.db")
    assert autotune("db", "upgrade", *url).out.startswith("upgraded the schema from nothing to ")
    revision = autotune("db", "current", *url).out.strip()
    assert autotune("db", "check", *url).out == f"the schema is up to date: {revision}\n"
    assert autotune("db", "upgrade", *url).out == f"the schema is up to date: {revision}\n"


def test_the_flag_wins_over_the_variable(autotune, here, monkeypatch):
    monkeypatch.setenv("AUTOTUNE_DB", "sqlite:///variable.db")
    autotune("db", "upgrade", "--db", "sqlite:///flag.db")
    assert (here / "flag.db").exists()
    assert not (here / "variable.db").exists()
    autotune("db", "upgrade")
    assert (here / "variable.db").exists()


@pytest.mark.parametrize("layout", ["table", "json", "csv"])
def test_a_reader_that_leaves_hears_nothing(tuned, layout):
    words = ("query", "trials", "--format", layout, "--db", tuned.url)
    reading, writing = os.pipe()
    os.close(reading)  # it has left before the first word
    with os.fdopen(writing, "wb") as left:
        done = subprocess.run(
            [sys.executable, "-m", "autotune", *words],
            stdout=left,
            stderr=subprocess.PIPE,
            check=False,
            timeout=60,
        )
    assert (done.returncode, done.stderr) == (1, b"")


def test_an_unexpected_error_keeps_its_traceback():
    code = (
        "from autotune.cli import main\n"
        "from autotune.report import kernels\n"
        "kernels.kernels_sheet = lambda rows: 1 / 0\n"
        "main(['kernels'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "ZeroDivisionError" in done.stderr
