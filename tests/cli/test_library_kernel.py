"""A kernel that is a call of a library: tuned, exported and looked up as any other."""

from __future__ import annotations

import json
import platform
from pathlib import Path

import pytest

from autotune.errors import InvalidInput
from autotune.launcher import Dispatcher

COPIED = Path(__file__).parents[1] / "kernels" / "copied.py"
STUDY = """
name = "copy"
kernel = "{kernel}"
[search]
sampler = "exhaustive"
[policy]
preset = "quick"
budget_ms = 1.0
stop_factor = 0  # a slow moment of this machine must not decide how a trial ends
[problems]
shapes = [[4000]]
[export]
table = "table.json"
"""


@pytest.fixture
def study(here):
    def write(class_name):
        path = here / "study.toml"
        path.write_text(STUDY.format(kernel=f"{COPIED}:{class_name}"))
        return path

    return write


def test_every_call_is_verified_and_timed_and_the_best_is_exported(autotune, study):
    ended = autotune("tune", study("Copied"), "--device", "host")
    assert ended.code == 0, ended.err
    assert "built by libc" in ended.err or "built by glibc" in ended.err
    rows = json.loads(autotune("query", "trials", "--format", "json").out)["trials"]
    statuses = {row["config"]["call"]: row["status"] for row in rows}
    assert statuses == {
        "whole": "ok",
        "halves": "ok",
        "half": "incorrect",
        "absent": "runtime_error",
    }
    absent = next(row for row in rows if row["config"]["call"] == "absent")
    assert absent["message"] == "libc has no such call"
    found = json.loads(autotune("lookup", "table.json", "count=4000", "--format", "json").out)
    assert "whole" in json.dumps(found) or "halves" in json.dumps(found)


def test_its_version_is_part_of_the_table(autotune, study, here):
    assert autotune("tune", study("Copied"), "--device", "host").code == 0
    kernel = json.loads((here / "table.json").read_text())["kernels"]["copied"]
    [context] = kernel["contexts"].values()
    version = " ".join(platform.libc_ver())
    assert context["toolchain"] == {"compiler": "libc", "version": version}


def test_the_launcher_says_that_it_does_not_call_libraries(autotune, study, here):
    assert autotune("tune", study("Copied"), "--device", "host").code == 0
    with pytest.raises(InvalidInput, match="'copied' is a call of a library; the dispatcher runs"):
        Dispatcher(here / "table.json").run({"count": 4000}, {})


def test_a_library_that_is_not_there_stops_before_the_first_trial(autotune, study):
    ended = autotune("tune", study("Unlinked"), "--device", "host")
    assert ended.code == 1
    assert "libnone cannot be loaded" in ended.err
    assert "hint: install it" in ended.err
    assert json.loads(autotune("query", "trials", "--format", "json").out)["trials"] == []


def test_a_library_of_gpus_does_not_run_on_the_host(autotune, here):
    (here / "study.toml").write_text(
        STUDY.format(kernel="cublas").replace("[[4000]]", "[[64, 64, 64]]")
    )
    ended = autotune("tune", "study.toml", "--device", "host")
    assert ended.code == 2
    assert "kernel 'cublas' needs a device that runs cuda; device host runs c++" in ended.err
