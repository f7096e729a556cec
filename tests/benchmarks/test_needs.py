"""Scripts say what they are for on any machine, and what they miss in one line."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import needs
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SCRIPTS = (
    *("beside_kernel_tuner", "dispatch", "flips", "gemm", "live", "live_peers"),
    *("prior", "repeatability", "savings", "stream", "table", "unseen"),
    *("lookup", "overhead", "untuned"),
)
WITHOUT_TORCH = """
import runpy, sys
del sys.argv[0]
sys.modules["torch"] = None
sys.path.insert(0, sys.argv[0].rpartition("/")[0])
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def without_torch(script, *arguments):
    path = BENCHMARKS / f"{script}.py"
    command = [sys.executable, "-c", WITHOUT_TORCH, path, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("script", SCRIPTS)
def test_help_needs_no_torch(script):
    done = without_torch(script, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"usage: {script}.py")


def test_a_script_without_torch_leaves_with_one_line():
    done = without_torch("gemm")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("not installed: torch")
    assert done.stderr.count("\n") == 1


@pytest.fixture
def without(monkeypatch):
    """Return ``needs`` as it is where some modules are absent."""

    def made(*absent):
        for name in absent:
            monkeypatch.setitem(sys.modules, name, None)
        return importlib.reload(needs)

    yield made
    monkeypatch.undo()
    importlib.reload(needs)


def test_all_that_is_missing_is_said_at_once_and_how_to_get_it(without):
    with pytest.raises(SystemExit) as left:
        without("torch", "cupy", "triton").require("triton")
    said = str(left.value)
    assert said.startswith("not installed: torch, cupy, triton; pip install torch triton; ")
    assert "[cuda13]" in said
    assert "\n" not in said
