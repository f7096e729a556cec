from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from autotune.process import Died, TimedOut, Worker

sys.path.insert(0, str(Path(__file__).parent))
import worker_handlers as handlers

LIMIT_S = 120.0  # for what takes a moment, but on a busy machine


@pytest.fixture
def worker():
    made = Worker(handlers.make_handler)
    yield made
    made.close()


def gone(pid):
    deadline = time.monotonic() + LIMIT_S
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not alive(pid)


def alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):  # it ended before it was read, or meanwhile
        return False
    return state.rpartition(")")[2].split()[0] != "Z"


def test_answers_from_another_process_and_keeps_it(worker):
    greeting, pid, request = worker.call({"x": 1}, LIMIT_S)
    assert (greeting, request) == ("hello", {"x": 1})
    assert pid == worker.pid != os.getpid()
    assert worker.call("again", LIMIT_S)[1] == pid


def test_a_hang_is_killed_at_its_limit_and_the_next_request_is_answered(worker):
    first = worker.call("who", LIMIT_S)[1]
    assert worker.call("sleep", 0.3) == TimedOut(0.3)
    assert gone(first)
    assert worker.call("who", LIMIT_S)[1] != first


@pytest.mark.parametrize(
    ("request_", "why"), [("kill", "killed by SIGKILL"), ("exit", "exit code 7")]
)
def test_a_death_names_its_cause(worker, request_, why):
    assert worker.call(request_, LIMIT_S) == Died(why)
    assert worker.call("who", LIMIT_S)[0] == "hello"


def test_an_exception_comes_back_as_its_traceback(worker):
    died = worker.call("raise", LIMIT_S)
    assert isinstance(died, Died)
    assert "ValueError: no such thing" in died.why


def test_a_handler_that_cannot_be_made_says_why():
    died = Worker(handlers.broken_handler).call("x", LIMIT_S)
    assert isinstance(died, Died)
    assert "cannot start" in died.why


def test_a_slow_start_is_given_up():
    worker = Worker(handlers.slow_handler, start_limit_s=1.0)
    assert worker.call("x", LIMIT_S) == TimedOut(1.0)
    assert worker.pid is None


def test_killing_takes_the_workers_own_children_along(worker):
    child = worker.call("child", LIMIT_S)
    worker.close()
    assert gone(child)


def test_it_survives_the_thread_that_started_it(worker):
    thread = threading.Thread(target=worker.call, args=("who", LIMIT_S))
    thread.start()
    thread.join()
    pid = worker.pid
    time.sleep(0.2)
    assert worker.call("who", LIMIT_S)[1] == pid


def test_close_leaves_no_child_process(worker):
    pid = worker.call("who", LIMIT_S)[1]
    worker.close()
    assert not Path(f"/proc/{pid}").exists()
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    if children.exists():
        assert str(pid) not in children.read_text().split()


def test_what_a_worker_prints_stays_off_standard_output(worker, capfd):
    worker.call("print", LIMIT_S)
    captured = capfd.readouterr()
    assert captured.out == ""
    assert "from the worker" in captured.err


SCRIPT = """
import sys; sys.path.insert(0, {tests!r})
import worker_handlers as handlers
from autotune.process import Worker
print("script runs", flush=True)
worker = Worker(handlers.make_handler)
print(worker.call("who", {limit_s})[1], worker.call("child", {limit_s}), flush=True)
{then}
"""


def start_owner(tmp_path, then):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(tests=str(Path(__file__).parent), limit_s=LIMIT_S, then=then))
    return subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)


def test_killing_the_owner_kills_the_worker_and_its_children(tmp_path):
    owner = start_owner(tmp_path, then='worker.call("sleep", 600)')
    assert owner.stdout.readline() == "script runs\n"
    pids = [int(word) for word in owner.stdout.readline().split()]
    owner.send_signal(signal.SIGKILL)
    owner.communicate()
    assert [gone(pid) for pid in pids] == [True, True]


def test_a_script_without_a_main_guard_is_not_run_again(tmp_path):
    owner = start_owner(tmp_path, then="worker.close()")
    out, _ = owner.communicate(timeout=LIMIT_S)
    assert out.count("script runs") == 1
    assert owner.returncode == 0
