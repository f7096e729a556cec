"""What is asked ahead of a device: how much, in which order, and who waits for whom."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from types import SimpleNamespace

import pytest

from autotune.cli.interrupts import heeded
from autotune.study import ahead as room
from autotune.study.ahead import Ahead

LIMIT_S = 30.0


class Builder:
    """A device of which only building is asked: what it is given is done at once, or never."""

    def __init__(self, lookahead, *, at_once=True):
        self.lookahead = lookahead
        self.begun = []
        self._at_once = at_once

    def build(self, candidate):
        build = Future()
        if self._at_once:
            build.set_result(candidate)
        self.begun.append(build)
        return build


def ahead_of(device, configs, deadline=None):
    question = SimpleNamespace(device=device, candidate=lambda config: config)
    return Ahead(question, iter(configs), deadline)


def taken(ahead, *wanted):
    return [ahead.take(each).candidate for each in wanted]


def test_what_is_built_is_measured_while_the_next_choice_is_thought_over():
    thought = threading.Event()

    def configs():
        yield from "ab"
        assert thought.wait(LIMIT_S)
        yield "c"

    with ahead_of(Builder(8), configs()) as ahead:
        assert taken(ahead, 3, 2) == ["a", "b"]
        thought.set()
        assert taken(ahead, 1) == ["c"]
        assert ahead.take(1) is None


def test_what_is_built_between_two_looks_is_taken_in_its_turn(monkeypatch):
    looked = threading.Event()

    def look_until_all_are_built(each, look=room._is_over):
        over = look(each)
        looked.set()
        ahead._desk.submit(str).result(LIMIT_S)
        return over

    def configs():
        assert looked.wait(LIMIT_S)
        yield from "abcd"

    monkeypatch.setattr(room, "_is_over", look_until_all_are_built)
    with ahead_of(Builder(8), configs()) as ahead:
        assert taken(ahead, 4, 3, 2, 1) == [*"abcd"]


@pytest.mark.parametrize("lookahead", [1, 8])
def test_whoever_chooses_has_heard_what_was_told_before(lookahead):
    heard, asked = [], []

    def configs():
        while True:
            asked.append(len(heard))
            yield len(asked)

    with ahead_of(Builder(lookahead), configs()) as ahead:
        for left in range(40, 0, -1):
            ahead.take(left)
            ahead.tell(lambda: heard.append(1))
        assert ahead.hear(lambda: len(heard)) == 40
    assert len(asked) == 40
    assert all(i - lookahead <= known <= i for i, known in enumerate(asked))


def test_what_is_ready_at_once_is_not_asked_far_ahead():
    device = Builder(32)
    with ahead_of(device, range(100)) as ahead:
        for i in range(40):
            assert ahead.take(100 - i).candidate == i
            ahead.hear(list)  # else a thread that gets no turn has nothing ready
    assert len(device.begun) - 40 <= 9


def test_a_slow_compiler_is_given_as_much_as_the_device_looks_ahead():
    device = Builder(8, at_once=False)
    with ahead_of(device, range(100)) as ahead:
        taken(ahead, *range(100, 80, -1))
        ahead.hear(list)
        assert len(device.begun) == 20 + 7
    assert sum(build.cancelled() for build in device.begun) == 7


def test_a_slow_build_holds_up_nothing_that_is_built():
    device = Builder(8, at_once=False)
    with ahead_of(device, "abcd") as ahead:
        ahead.take(4)
        ahead.hear(list)
        first, *others = device.begun[1:]
        for build in others:
            build.set_result(None)
        assert taken(ahead, 3, 2) == ["c", "d"]
        first.set_result(None)
        assert taken(ahead, 1) == ["b"]
        assert ahead.take(1) is None


def test_who_fails_to_choose_is_heard_and_nothing_hangs():
    def configs():
        yield "a"
        raise LookupError("no idea")

    with (
        pytest.raises(LookupError, match="no idea"),
        ahead_of(Builder(8), configs()) as ahead,
    ):
        taken(ahead, 3, 2)


def test_who_fails_to_learn_is_heard_before_what_was_chosen_later():
    def fail():
        raise LookupError("not understood")

    def go_on(ahead):
        for left in range(100, 60, -1):
            if left == 98:
                ahead.tell(fail)
            taken(ahead, left)
            ahead.hear(list)

    with ahead_of(Builder(8), range(100)) as ahead, pytest.raises(LookupError, match="understood"):
        go_on(ahead)


def test_no_build_is_waited_for_once_the_time_is_up():
    device = Builder(8, at_once=False)
    with ahead_of(device, range(100), deadline=time.monotonic() + 0.5) as ahead:
        assert ahead.take_built(100) is None
        assert all(build.cancelled() for build in device.begun[:1])  # of none on a busy machine
        assert ahead.take(99) is None


def test_no_thought_is_waited_for_once_the_time_is_up():
    released, over = threading.Event(), threading.Event()

    def configs():
        released.wait(LIMIT_S)
        over.set()
        yield "a"

    device = Builder(8)
    with ahead_of(device, configs(), deadline=time.monotonic() + 0.1) as ahead:
        assert ahead.take(1) is None
        assert ahead.hear(lambda: "heard") is None
    assert not over.is_set()
    released.set()
    assert over.wait(LIMIT_S)
    assert device.begun == []


def test_no_thought_is_waited_for_after_a_ctrl_c():
    released, over = threading.Event(), threading.Event()
    strike = signal.pthread_kill, [threading.get_ident(), signal.SIGINT]

    def think():
        threading.Timer(0.1, *strike).start()
        released.wait(LIMIT_S)
        over.set()

    def go_on(ahead):
        ahead.tell(think)
        ahead.take(1)

    device = Builder(8)
    with heeded(), pytest.raises(KeyboardInterrupt), ahead_of(device, range(9)) as ahead:
        go_on(ahead)
    assert not over.is_set()
    released.set()
    assert over.wait(LIMIT_S)
    assert device.begun == []


def test_no_end_of_a_program_waits_for_a_thought_that_is_too_late():
    script = (
        "import threading, time\n"
        "from types import SimpleNamespace\n"
        "from autotune.study.ahead import Ahead\n"
        "question = SimpleNamespace(device=SimpleNamespace(lookahead=8))\n"
        "configs = iter(threading.Event().wait, True)\n"
        "with Ahead(question, configs, time.monotonic() + 0.1) as ahead:\n"
        "    assert ahead.take(1) is None\n"
        "print('over')\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, timeout=LIMIT_S, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"over\n", b"")
