"""Ways to run the command line, and small studies to run it on."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest

from autotune.cli import main

KERNELS = Path(__file__).parents[1] / "kernels"
FAULTY = f"{KERNELS / 'faulty_matmul.py'}:FaultyMatmul"
sys.path.insert(0, str(KERNELS))  # for the helpers there
COMMAND = (sys.executable, "-m", "autotune")


class Ended(NamedTuple):
    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Tuned:
    """A folder in which a study of six trials has run."""

    folder: Path
    url: str
    ended: Ended


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder; the default database lies outside it."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def autotune(capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[..., Ended]]:
    """Run the command line in this process, and take back what it sets for a whole process."""
    root, ours = logging.root, logging.getLogger("autotune")
    handlers, level = root.handlers[:], ours.level

    def run(*words: object) -> Ended:
        with pytest.raises(SystemExit) as ending:
            main([str(word) for word in words])
        return Ended(ending.value.code, *capsys.readouterr())

    yield run
    root.handlers[:] = handlers
    ours.setLevel(level)


@pytest.fixture
def shell(here: Path) -> Callable[..., Ended]:
    """Run the command line as a process of its own."""

    def run(*words: object, **environment: str) -> Ended:
        return _run(here, *words, **environment)

    return run


@pytest.fixture
def start(here: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start the command line as a process of its own, and kill what is left of it."""
    started: list[subprocess.Popen[str]] = []

    def launch(*words: object, **environment: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*COMMAND, *map(str, words)],
            cwd=here,
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield launch
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def faulty(here: Path) -> Callable[..., Path]:
    """Write a study of a kernel that has the faults that ``space`` allows."""

    def write(space: str, *, trials: int = 200) -> Path:
        text = study_text(name="faulty", kernel=FAULTY, trials=trials, space=space)
        path = here / "study.toml"
        path.write_text(text)
        return path

    return write


@pytest.fixture
def endless(here: Path) -> Path:
    """Write a study that no test sees the end of."""
    path = here / "study.toml"
    path.write_text(study_text(trials=1000))
    return path


@pytest.fixture(scope="session")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> Tuned:
    """A study that ran to its end. Read its results; do not write."""
    folder = tmp_path_factory.mktemp("tuned")
    (folder / "study.toml").write_text(study_text())
    url = f"sqlite:///{folder}/results.db"
    ended = _run(folder, "tune", "study.toml", "--device", "host", AUTOTUNE_DB=url)
    assert ended.code == 0, ended.err
    return Tuned(folder, url, ended)


def study_text(
    *, name: str = "small", kernel: str = "host_matmul", trials: int = 6, space: str = ""
) -> str:
    return f"""
name = "{name}"
kernel = "{kernel}"
[search]
sampler = "exhaustive"
trials = {trials}
[policy]
preset = "quick"
budget_ms = 1.0
stop_factor = 0  # a slow moment of this machine must not decide how a trial ends
[space]
{space}
[problems]
shapes = [[48, 32, 16]]
[export]
table = "table.json"
"""


def _run(folder: Path, *words: object, **environment: str) -> Ended:
    done = subprocess.run(
        [*COMMAND, *map(str, words)],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return Ended(done.returncode, done.stdout, done.stderr)
