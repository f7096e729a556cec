"""What is left of a device's processes when it is closed, or when its owner is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from patience import until

HERE = Path(__file__).parent
SCRIPT = f"""
import sys; sys.path.insert(0, {str(HERE)!r})
from pathlib import Path
from driving import candidate, outcome
from autotune.device import open_device
from autotune.records import Limits

def descendants(pid):
    children = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == pid:
            children += [int(stat.parent.name), *descendants(int(stat.parent.name))]
    return children

import os
device = open_device("host", limits=Limits(run_s=600))
print(outcome(device, candidate(device, fault="none", twin=0)).status, flush=True)
print(*descendants(os.getpid()), flush=True)
"""
CLOSE = "device.close(); print(*descendants(os.getpid()), flush=True)"
HANG = 'outcome(device, candidate(device, fault="hang", twin=0))'


def start(then, **environment):
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT + then],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


def is_running(pid):
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except OSError:
        return False


def test_close_leaves_no_process():
    owner = start(CLOSE)
    out, _ = owner.communicate(timeout=120)
    status, before, after = out.split("\n")[:3]
    assert status == "ok"
    assert before  # the lane, and compilers unless the binary was cached
    assert after == ""


def test_killing_the_owner_ends_a_candidate_that_hangs(tmp_path):
    hangs = tmp_path / "hangs"
    owner = start(HANG, FAULTY_HANGS=str(hangs))
    assert owner.stdout.readline() == "ok\n"
    pids = [int(word) for word in owner.stdout.readline().split()]
    until(hangs.exists)
    owner.send_signal(signal.SIGKILL)
    owner.communicate()
    until(lambda: not any(map(is_running, pids)))
