from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autotune.errors import ToolchainBroken
from autotune.records import Binary, Resources
from autotune.toolchain import BinaryStore, Compiled, HostCompiler, Nvrtc, compile_now
from autotune.toolchain.store import ORPHAN_AGE_S, default_root

KEY = "ab" * 16
COMPILED = Compiled(
    image=b"\x7fELF image",
    resources=Resources(registers=9, spill_bytes=4, warnings=("(C7510) serialized",)),
    log="ptxas says much",
)


def publish(store, compiled=COMPILED):
    made_of = {"entry": "k", "arch": "sm_90a"}
    return store.publish(KEY, compiled, name="image.cubin", compile_ns=5, made_of=made_of)


def unfinished(store):
    return list((store.root / "unfinished").iterdir())


def test_what_is_published_is_found_with_all_that_is_known_of_it(store):
    made = publish(store)
    found = BinaryStore(store.root).find(KEY)
    assert found == Binary(
        key=KEY,
        path=made.path,
        entry="k",
        resources=COMPILED.resources,
        compile_ns=5,
        cached=True,
    )
    assert Path(found.path).read_bytes() == COMPILED.image
    assert json.loads(Path(found.path).with_name("meta.json").read_text())["log"] == COMPILED.log
    assert unfinished(store) == []


def test_nothing_is_found_in_an_empty_store(store):
    assert store.find(KEY) is None


@pytest.mark.parametrize("content", [b"", b"\x7fELF ima", b"\x7fELF imagE"])
def test_a_damaged_image_is_a_miss_and_heals(store, content):
    path = Path(publish(store).path)
    path.write_bytes(content)
    assert store.find(KEY) is None
    assert publish(store).path == str(path)
    assert store.find(KEY) is not None
    assert unfinished(store) == []


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"version": 99}'])
def test_damaged_or_foreign_metadata_is_a_miss_and_heals(store, content):
    meta = Path(publish(store).path).with_name("meta.json")
    meta.write_text(content)
    assert store.find(KEY) is None
    publish(store)
    assert store.find(KEY) is not None


@pytest.mark.parametrize("gone", ["image.cubin", "meta.json"])
def test_a_missing_file_is_a_miss_and_heals(store, gone):
    Path(publish(store).path).with_name(gone).unlink()
    assert store.find(KEY) is None
    publish(store)
    assert store.find(KEY) is not None


def test_an_empty_folder_in_its_place_heals(store):
    (store.root / KEY[:2] / KEY).mkdir(parents=True)
    publish(store)
    assert store.find(KEY) is not None


def test_who_loses_the_race_gets_the_winners(store):
    first = publish(store)
    inode = Path(first.path).stat().st_ino
    second = publish(store)
    assert (second.cached, second.path) == (True, first.path)
    assert Path(first.path).stat().st_ino == inode


def test_a_damaged_entry_that_another_process_moves_away_meanwhile_heals(store, monkeypatch):
    damaged = Path(publish(store).path)
    damaged.write_bytes(b"")
    rename = Path.rename

    def refused(draft, target):
        try:
            return rename(draft, target)
        except OSError:
            shutil.rmtree(damaged.parent)
            raise

    monkeypatch.setattr(Path, "rename", refused)
    assert not publish(store).cached
    assert store.find(KEY) is not None


def test_what_killed_processes_left_is_swept_when_it_is_old(store):
    publish(store)
    old, young = store.root / "unfinished/old", store.root / "unfinished/young"
    for draft in (old, young):
        draft.mkdir()
    then = time.time() - ORPHAN_AGE_S - 60
    os.utime(old, (then, then))
    publish(store)
    assert unfinished(store) == [young]


def test_a_folder_that_cannot_be_written_is_said_so(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ToolchainBroken, match="cannot write to the binary store") as caught:
        publish(BinaryStore(tmp_path / "file" / "below"))
    assert "AUTOTUNE_CACHE" in caught.value.hint


def test_the_root_is_the_users_choice_or_the_platforms(monkeypatch, tmp_path):
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "mine"))
    assert BinaryStore().root == tmp_path / "mine"
    monkeypatch.delenv("AUTOTUNE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert default_root() == tmp_path / "xdg" / "autotune"


RACER = """
import hashlib, json, sys
from pathlib import Path
from autotune.records import Binary, SourceUnit
from autotune.toolchain import BinaryStore, Nvrtc, compile_now

root, main, rounds = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
sums = []
print("ready", flush=True)
sys.stdin.readline()
for turn in range(rounds):
    unit = SourceUnit(language="cuda", main=main, header="constexpr int VALUE = 1;", entry="k")
    made = compile_now(Nvrtc(), BinaryStore(root / str(turn)), unit, "sm_80")
    assert isinstance(made, Binary), made
    sums.append(hashlib.sha256(Path(made.path).read_bytes()).hexdigest())
print(json.dumps(sums), flush=True)
"""


def test_eight_processes_build_the_same_kernel_in_cold_stores(cuda_unit, tmp_path):
    rounds = 5
    command = [sys.executable, "-c", RACER, str(tmp_path / "race"), str(cuda_unit().main)]
    racers = [
        subprocess.Popen(
            [*command, str(rounds)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(8)
    ]
    for racer in racers:
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        racer.stdin.write("go\n")
        racer.stdin.flush()
    answers = [racer.communicate()[0] for racer in racers]
    assert [racer.returncode for racer in racers] == [0] * 8
    sums = [json.loads(answer) for answer in answers]
    assert all(len(set(column)) == 1 for column in zip(*sums, strict=True))
    for turn in range(rounds):
        left = list((tmp_path / "race" / str(turn) / "unfinished").iterdir())
        assert left == []


PUBLISHER = """
import os, sys
from pathlib import Path
from autotune.records import Resources
from autotune.toolchain import BinaryStore, Compiled

compiled = Compiled(image=b"image" * 1000, resources=Resources(), log="")
store, mine = BinaryStore(Path(sys.argv[1])), sys.argv[2]
for turn in range(25):
    key = f"{turn:032x}"
    made_of = {"entry": "k"}
    made = store.publish(key, compiled, name="image.so", compile_ns=1, made_of=made_of)
    assert Path(made.path).read_bytes() == compiled.image
"""


def test_eight_processes_publish_the_same_keys(tmp_path):
    command = [sys.executable, "-c", PUBLISHER, str(tmp_path / "store")]
    racers = [subprocess.Popen([*command, str(n)]) for n in range(8)]
    assert [racer.wait() for racer in racers] == [0] * 8
    store = BinaryStore(tmp_path / "store")
    assert all(store.find(f"{turn:032x}") is not None for turn in range(25))


KILLED = """
import sys
from pathlib import Path
from autotune.records import SourceUnit
from autotune.toolchain import BinaryStore, HostCompiler, compile_now

main = Path(sys.argv[2])
unit = SourceUnit(language="c++", main=main, header="constexpr int VALUE = 1;", entry="answer")
compile_now(HostCompiler(), BinaryStore(Path(sys.argv[1])), unit, sys.argv[3])
"""


def test_a_process_killed_while_it_compiles_leaves_nothing_behind(
    host_unit, host_arch, store, tmp_path
):
    unit = host_unit()
    started = tmp_path / "started"
    slow = tmp_path / "slow-c++"
    slow.write_text(
        f'#!/bin/sh\nif [ "$1" = --version ]; then exec c++ "$@"; fi\n: > {started}\nsleep 600\n'
    )
    slow.chmod(0o755)
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(store.root), str(unit.main), host_arch],
        env={**os.environ, "CXX": str(slow), "TMPDIR": str(tmp_path)},
        process_group=0,
    )
    while not started.exists():
        assert process.poll() is None
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    healed = compile_now(HostCompiler(), store, unit, host_arch)
    assert isinstance(healed, Binary)
    assert not healed.cached
    assert compile_now(HostCompiler(), store, unit, host_arch).cached


def test_a_binary_of_one_compiler_is_not_anothers(cuda_unit, host_unit, host_arch, store):
    cubin = compile_now(Nvrtc(), store, cuda_unit(), "sm_80")
    library = compile_now(HostCompiler(), store, host_unit(), host_arch)
    assert cubin.key != library.key
    assert (Path(cubin.path).name, Path(library.path).name) == ("image.cubin", "image.so")


def test_a_cache_in_the_home_of_nobody_is_refused(monkeypatch):
    monkeypatch.setenv("AUTOTUNE_CACHE", "~no-such-user-here/cache")
    with pytest.raises(ToolchainBroken, match=r"AUTOTUNE_CACHE='~no-such-user-here/cache'"):
        BinaryStore()
