"""Every example in the documentation runs, in the order in which a reader meets it."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
import textwrap
import tomllib
from contextlib import closing
from pathlib import Path

import pages
import pytest

SCRIPTS = Path(sys.executable).parent
NEEDS_GPU = "# needs a GPU"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A reader's folder: the package is installed, and the README's files are there."""
    monkeypatch.setenv("AUTOTUNE_DB", f"sqlite:///{tmp_path}/results.db")
    monkeypatch.setenv("PATH", f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}")
    for block in pages.blocks(pages.README):
        if block.file:
            (tmp_path / block.file).write_text(block.text)
    return tmp_path


@pytest.mark.parametrize("page", pages.PAGES, ids=lambda page: page.name)
def test_a_page_runs(page, folder):
    for block in pages.blocks(page):
        _RUN[block.language](block, folder)


@pytest.mark.gpu
def test_the_example_of_the_launcher_runs(folder):
    study = _text("studies/gemm_square.toml").replace('"bf16"', '"fp16"')
    shapes = re.compile(r"shapes = \[.*?^\]", re.DOTALL | re.MULTILINE)
    study = shapes.sub("shapes = [[1024, 2048, 4096]]", study)
    (folder / "study.toml").write_text(study)
    _ran(["autotune", "tune", "study.toml", "--trials", "2"], folder)
    example = next(b for b in pages.blocks(pages.README) if b.text.startswith(NEEDS_GPU))
    _ran([sys.executable, "-c", example.text], folder)


def _console(block, folder):
    assert block.commands
    for command in block.commands:
        if command.startswith("make "):
            assert _makes(command.split()[1])
        elif command == ". .venv/bin/activate":
            assert _makes("$(VENV)/made")
        elif command.startswith("pip install"):
            assert _extras(command) <= set(_project()["optional-dependencies"])
        else:
            _ran(["bash", "-c", f"set -o pipefail; {command}"], folder)


def _makes(target):
    return re.search(rf"^{re.escape(target)}:", _text("Makefile"), re.MULTILINE)


def test_what_make_tune_says_to_type_next_works(folder):
    words = re.search(r'echo "next: \$\(BIN\)/(.*)"', _text("Makefile"))[1]
    study = pages.ROOT / "studies" / "quickstart.toml"
    _ran(["autotune", "tune", study, "--trials", "3", "--device", "recording:h200"], folder)
    _ran(["bash", "-c", words], folder)
    assert "/table.json\n" in _text(".gitignore")


def _program(block, folder):
    if block.file:
        (folder / block.file).write_text(block.text)
    elif not block.text.startswith(NEEDS_GPU):
        _ran([sys.executable, "-c", block.text], folder)


def _settings(block, folder):
    tomllib.loads(block.text)
    if block.file:
        (folder / block.file).write_text(block.text)


def _source(block, folder):
    (folder / block.file).write_text(block.text)


def _excerpt(block, folder):
    """Lines of a source, whose file the first line names; their indentation may be less."""
    first, _, excerpt = block.text.partition("\n")
    source = _text(first.removeprefix("// ")).splitlines()
    length = len(excerpt.splitlines())
    windows = ("\n".join(source[i : i + length]) + "\n" for i in range(len(source)))
    assert excerpt in map(textwrap.dedent, windows), f"{first} has other lines now: {excerpt}"


def _query(block, folder):
    with closing(sqlite3.connect(folder / "results.db")) as database:
        assert database.execute(block.text).fetchall()


def _shown(block, folder):
    """Text that is only to be looked at."""


_RUN = {
    "console": _console,
    "python": _program,
    "toml": _settings,
    "cpp": _source,
    "cuda": _excerpt,
    "sql": _query,
    "text": _shown,
}


def _ran(command, folder):
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=200
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


def _extras(command):
    return set(re.search(r"\[(.*?)\]", command)[1].split(","))


def _text(name):
    return (pages.ROOT / name).read_text(encoding="utf-8")


def _project():
    return tomllib.loads(_text("pyproject.toml"))["project"]


def test_every_link_between_pages_leads_somewhere():
    for page in [*pages.PAGES, pages.ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\(([^)#:]+)\)", pages.prose(page)):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
