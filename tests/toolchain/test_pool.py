from __future__ import annotations

import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError, wait
from pathlib import Path
from types import SimpleNamespace

import pytest
from patience import PATIENCE_S, until

from autotune.errors import ToolchainBroken
from autotune.process import Worker
from autotune.records import Binary, Failure, Status
from autotune.toolchain import CompilePool, HostCompiler, Nvrtc, compile_now


@pytest.fixture
def scripted(tmp_path):
    """Make a real compiler that runs shell lines first: before it compiles, and at its start."""

    def make(line, *, at_start=":"):
        script = tmp_path / "scripted-c++"
        script.write_text(
            f'#!/bin/sh\nif [ "$1" = --version ]; then\n{at_start}\nelse\n{line}\nfi\n'
            'exec c++ "$@"\n'
        )
        script.chmod(0o755)
        return HostCompiler(command=(str(script),))

    return make


@pytest.fixture
def pool_of(store, host_arch):
    """Make a pool that is closed at the end."""
    pools = []

    def make(compiler, *, limit_s=PATIENCE_S, workers=2, arch=host_arch):
        pools.append(CompilePool(compiler, store, arch=arch, limit_s=limit_s, workers=workers))
        return pools[-1]

    yield make
    for pool in pools:
        pool.close()


def running(marker):
    """Return the processes that ``marker`` is a word of the command line of."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                if marker.encode() in (folder / "cmdline").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
            except OSError:
                continue
    return found


def test_cubins_come_from_several_processes(pool_of, cuda_unit):
    pool = pool_of(Nvrtc(), arch="sm_90a")
    futures = [pool.submit(cuda_unit(value=value)) for value in range(6)]
    made = [future.result() for future in futures]
    assert all(isinstance(binary, Binary) and not binary.cached for binary in made)
    assert len({binary.key for binary in made}) == 6
    assert all(binary.compile_ns > 0 for binary in made)
    assert pool.submit(cuda_unit(value=3)).result().cached


def test_the_pool_and_this_process_share_binaries(pool_of, cuda_unit, store):
    made = pool_of(Nvrtc(), arch="sm_90a").submit(cuda_unit()).result()
    again = compile_now(Nvrtc(), store, cuda_unit(), "sm_90a")
    assert (again.key, again.cached) == (made.key, True)


def test_one_bad_candidate_of_ten_fails_alone(pool_of, cuda_unit, kernel):
    pool = pool_of(Nvrtc(), arch="sm_90a")
    text = kernel + 'static_assert(VALUE != 4, "tile 4 does not divide");\n'
    outcomes = [pool.submit(cuda_unit(text, value)) for value in range(10)]
    failures = {n: f.result() for n, f in enumerate(outcomes) if isinstance(f.result(), Failure)}
    assert list(failures) == [4]
    assert failures[4].status is Status.COMPILE_ERROR
    assert "tile 4 does not divide" in failures[4].message


def test_a_compiler_that_never_ends_is_stopped_while_others_compile(pool_of, host_unit, scripted):
    marker = f"600.{os.getpid()}"
    pool = pool_of(scripted(f'case "$*" in *slow.cpp*) sleep {marker};; esac'), limit_s=1.5)
    slow = pool.submit(host_unit(name="slow.cpp"))
    until(lambda: running(marker) or slow.done())
    pool._limit_s = PATIENCE_S  # the others may take their time
    others = [pool.submit(host_unit(value=value)) for value in range(4)]
    assert all(isinstance(other.result(), Binary) for other in others)
    failure = slow.result()
    assert failure.status is Status.COMPILE_TIMEOUT
    assert "1.5 s" in failure.message
    until(lambda: not running(marker))  # the compiler's own children too
    assert isinstance(pool.submit(host_unit(value=9)).result(), Binary)


def test_what_was_given_up_is_compiled_for_who_asks_again(pool_of, host_unit, scripted, tmp_path):
    asked = tmp_path / "asked"
    pool = pool_of(scripted(f"until [ -e {asked} ]; do sleep 0.05; done"), workers=1)
    first, given_up = pool.submit(host_unit(value=1)), pool.submit(host_unit(value=2))
    assert given_up.cancel()
    again = pool.submit(host_unit(value=2))
    assert pool.submit(host_unit(value=2)) is again
    asked.touch()
    assert isinstance(first.result(), Binary)
    assert isinstance(again.result(), Binary)


@pytest.fixture
def waits(monkeypatch):
    """The limits within which workers were waited for, of every request, in s."""
    noted, ask = [], Worker._ask

    def noting(worker, request, limit_s):
        noted.append(limit_s)
        return ask(worker, request, limit_s)

    monkeypatch.setattr(Worker, "_ask", noting)
    return noted


def test_waiting_in_the_queue_does_not_count(pool_of, host_unit, scripted, waits):
    pool = pool_of(scripted("sleep 0.5"), limit_s=77.0, workers=1)
    futures = [pool.submit(host_unit(value=value)) for value in range(3)]
    assert all(isinstance(future.result(), Binary) for future in futures)
    assert waits[1:] == [77.0] * 3


def test_the_start_of_a_process_does_not_count(pool_of, host_unit, scripted, waits):
    compiler = scripted(":", at_start=f"[ $PPID = {os.getpid()} ] || sleep 1")
    pool = pool_of(compiler, limit_s=77.0, workers=1)
    assert isinstance(pool.submit(host_unit()).result(), Binary)
    assert waits == [pool._workers[0]._start_limit_s, 77.0]


def test_a_compiler_that_takes_its_process_along_costs_one_candidate(pool_of, host_unit, scripted):
    compiler = scripted('case "$*" in *bad.cpp*) kill -SEGV $PPID;; esac')
    pool = pool_of(compiler, workers=1)
    bad, good = pool.submit(host_unit(name="bad.cpp")), pool.submit(host_unit())
    assert bad.result().status is Status.COMPILE_ERROR
    assert "SIGSEGV" in bad.result().message
    assert isinstance(good.result(), Binary)


def test_a_compiler_that_is_killed_from_outside_is_started_once_more(
    pool_of, host_unit, scripted, tmp_path
):
    once = f"{tmp_path}/once"
    worker = scripted(f"mkdir {once} 2>/dev/null && kill -KILL $PPID")
    assert isinstance(pool_of(worker, workers=1).submit(host_unit(value=1)).result(), Binary)
    said = "echo 'c++: fatal error: Killed signal terminated program cc1plus'; exit 1"
    compiler = scripted(f"mkdir {once}-more 2>/dev/null && {{ {said}; }}")
    assert isinstance(pool_of(compiler, workers=1).submit(host_unit(value=2)).result(), Binary)
    itself = scripted(f"mkdir {once}-itself 2>/dev/null && kill -KILL $$")
    assert isinstance(pool_of(itself, workers=1).submit(host_unit(value=3)).result(), Binary)


def test_a_compiler_that_a_signal_ends_says_which(pool_of, host_unit, scripted):
    failure = pool_of(scripted("kill -SEGV $$"), workers=1).submit(host_unit()).result()
    assert failure.status is Status.COMPILE_ERROR
    assert failure.message == "the compiler was ended by signal 11 (Segmentation fault)"


def test_a_folder_for_temporary_files_that_vanishes_is_no_fault_of_a_candidate(
    pool_of, host_unit, scripted
):
    pool = pool_of(scripted(":"), workers=1)
    assert isinstance(pool.submit(host_unit(value=1)).result(), Binary)
    shutil.rmtree(pool._scratch.name)
    with pytest.raises(ToolchainBroken, match="no folder for temporary files"):
        pool.submit(host_unit(value=2)).result()


def test_a_full_disk_is_no_fault_of_a_candidate(pool_of, host_unit, scripted):
    full = "/usr/bin/ld: final link failed: No space left on device"
    pool = pool_of(scripted(f"echo '{full}'; exit 1"), workers=1)
    with pytest.raises(ToolchainBroken, match=f"cannot work: {full}") as caught:
        pool.submit(host_unit()).result()
    assert "TMPDIR" in caught.value.hint


def test_a_compiler_that_vanishes_is_no_fault_of_a_candidate(pool_of, host_unit, scripted):
    compiler = scripted(":")
    pool = pool_of(compiler, workers=1)
    assert isinstance(pool.submit(host_unit(value=1)).result(), Binary)
    Path(compiler.command[0]).unlink()
    with pytest.raises(ToolchainBroken, match="cannot be started"):
        pool.submit(host_unit(value=2)).result()


def test_a_compiler_that_vanishes_while_it_compiles_is_no_fault_of_a_candidate(
    pool_of, host_unit, scripted
):
    pool = pool_of(scripted('rm "$0"; exit 1'), workers=1)
    with pytest.raises(ToolchainBroken, match="has vanished"):
        pool.submit(host_unit()).result()


def test_a_compiler_that_vanishes_before_a_process_starts_is_no_fault_of_a_candidate(
    pool_of, host_unit, scripted
):
    compiler = scripted(":")
    pool = pool_of(compiler, workers=1)
    assert compiler.toolchain
    Path(compiler.command[0]).unlink()
    with pytest.raises(ToolchainBroken, match="cannot be started"):
        pool.submit(host_unit()).result()


def test_a_compiler_that_never_falls_silent_takes_no_memory(pool_of, host_unit, scripted):
    pool = pool_of(scripted("yes $(printf 'error \\377') | head -c 200000000; exit 1"), workers=1)
    failure = pool.submit(host_unit()).result()
    assert failure.status is Status.COMPILE_ERROR
    assert failure.message.startswith("error \ufffd")
    status = Path(f"/proc/{pool._workers[0].pid}/status").read_text()
    peak_kib = int(re.search(r"VmHWM:\s+(\d+)", status)[1])
    assert peak_kib < 150_000


def test_equal_units_in_flight_are_compiled_once(pool_of, host_unit, scripted, tmp_path):
    count = tmp_path / "count"
    pool = pool_of(scripted(f"echo one >> {count}; sleep 0.2"))
    futures = [pool.submit(host_unit()) for _ in range(5)]
    assert len({future.result().key for future in futures}) == 1
    assert count.read_text().count("one") == 1


def test_a_source_edited_while_it_compiles_is_compiled_again(
    pool_of, host_unit, scripted, store, library
):
    text = library.replace("VALUE", "N").replace("config.h", "n.h")
    unit = host_unit(text)
    header = unit.main.parent / "n.h"
    header.write_text("constexpr int N = 1;\n")
    compiler = scripted(f"echo 'constexpr int N = 2;' > {header}")
    made = pool_of(compiler, workers=1).submit(unit).result()
    assert compile_now(compiler, store, unit, pool_of(compiler)._arch).key == made.key


def test_a_failure_of_a_half_written_source_is_not_the_last_word(
    pool_of, host_unit, scripted, library
):
    unit = host_unit(library[: len(library) // 2])
    whole = unit.main.with_name("whole")
    whole.write_text(library)
    compiler = scripted(f"cmp -s {whole} {unit.main} || {{ cp {whole} {unit.main}; exit 1; }}")
    assert isinstance(pool_of(compiler, workers=1).submit(unit).result(), Binary)


def test_a_unit_that_cannot_be_keyed_is_a_failure(pool_of, host_unit, library):
    pool = pool_of(HostCompiler())
    outcome = pool.submit(host_unit('#include "gone.h"\n' + library)).result()
    assert outcome.status is Status.COMPILE_ERROR
    assert "gone.h" in outcome.message


def test_workers_outlive_the_threads_that_made_and_used_the_pool(pool_of, host_unit):
    made, outcomes = [], []
    for step in (
        lambda: made.append(pool_of(HostCompiler(), workers=1)),
        lambda: outcomes.append(made[0].submit(host_unit(value=1)).result()),
    ):
        thread = threading.Thread(target=step)
        thread.start()
        thread.join()
    pid = made[0]._workers[0].pid
    time.sleep(0.7)  # longer than a worker needs to notice that its owner is gone
    outcomes.append(made[0].submit(host_unit(value=2)).result())
    assert all(isinstance(outcome, Binary) for outcome in outcomes)
    assert made[0]._workers[0].pid == pid


def test_closing_ends_compiles_that_are_under_way_and_cancels_the_rest(
    pool_of, host_unit, scripted
):
    marker = f"601.{os.getpid()}"
    pool = pool_of(scripted(f"sleep {marker}"))
    futures = [pool.submit(host_unit(value=value)) for value in range(6)]
    until(lambda: len(running(marker)) >= 2)
    pool.close()
    assert not wait(futures, timeout=PATIENCE_S).not_done
    for future in futures:
        with pytest.raises(CancelledError):
            future.result()
    until(lambda: not running(marker))
    assert pool.submit(host_unit(value=99)).cancelled()
    pool.close()


def test_closing_ends_compiles_though_this_process_is_held_up(
    pool_of, host_unit, scripted, monkeypatch
):
    marker = f"603.{os.getpid()}"
    pool = pool_of(scripted(f"sleep {marker}"), workers=1)
    future = pool.submit(host_unit())
    until(lambda: running(marker))
    hours = itertools.count(step=3600.0)  # one goes by at each look at the clock
    clock = SimpleNamespace(monotonic=lambda: next(hours), sleep=time.sleep)
    monkeypatch.setattr("autotune.toolchain.pool.time", clock)
    pool.close()
    assert not wait([future], timeout=PATIENCE_S / 4).not_done
    until(lambda: not running(marker))


INTERRUPTED = """
import sys
from pathlib import Path
from autotune.records import SourceUnit
from autotune.toolchain import BinaryStore, CompilePool, HostCompiler

root, main, arch = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
unit = SourceUnit(language="c++", main=main, header="constexpr int VALUE = 1;", entry="answer")
with CompilePool(HostCompiler(), BinaryStore(root), arch=arch, limit_s=600, workers=2) as pool:
    pool.submit(unit).result()
"""


def test_an_interrupt_leaves_no_process(host_unit, host_arch, scripted, tmp_path):
    marker = f"602.{os.getpid()}"
    owner = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(tmp_path), str(host_unit().main), host_arch],
        env={**os.environ, "CXX": scripted(f"sleep {marker}").command[0]},
        stderr=subprocess.PIPE,
        text=True,
    )
    until(lambda: running(marker))
    owner.send_signal(signal.SIGINT)
    assert "KeyboardInterrupt" in owner.communicate(timeout=PATIENCE_S)[1]
    assert owner.returncode == -signal.SIGINT
    until(lambda: not running(marker))


def test_closing_at_once_leaves_no_process(pool_of, host_unit):
    pool = pool_of(HostCompiler(), workers=4)
    futures = [pool.submit(host_unit(value=value)) for value in range(4)]
    pool.close()
    assert not wait(futures, timeout=PATIENCE_S).not_done
    until(lambda: all(worker.pid is None for worker in pool._workers))


def test_killed_compilers_leave_no_files(pool_of, host_unit, scripted, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    pool = pool_of(scripted("sleep 600"), limit_s=0.3, workers=1)
    assert pool.submit(host_unit()).result().status is Status.COMPILE_TIMEOUT
    pool.close()
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_worker_loads_nothing_heavy():
    program = (
        "import sys, autotune.toolchain.pool; "
        "print(*{'optuna', 'pandas', 'numpy', 'sqlalchemy', 'cupy', 'rich'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []
