"""Faults of a compiler, of its files and of the store of binaries, while a study runs."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from unittest import mock

from faults_record import Fault, Seen
from faults_study import FINISHED, REFUSED, Run, Site

from autotune.device import Device, open_device
from autotune.errors import AutotuneError
from autotune.records import Status

VICTIM = "victim"  # the candidate that is right, but for what its compiler does
SCRIPT = """#!/bin/sh
if grep -q 'NAME\\[\\] = "victim"' include/config.h 2>/dev/null; then
  {}
fi
exec c++ "$@"
"""
ONCE = 'if [ ! -e "$0.done" ]; then : > "$0.done"; {}; fi'
DOES = {  # what the compiler does with one candidate, and what is to become of that
    "compiler killed": ("kill -9 $$", Status.COMPILE_ERROR),
    "compiler killed once": (ONCE.format("kill -9 $$"), Status.OK),
    "its process killed": ("kill -9 $PPID; sleep 5", Status.COMPILE_ERROR),
    "its process killed once": (ONCE.format("kill -9 $PPID; sleep 5"), Status.OK),
    "compiler crashes": ("kill -SEGV $$", Status.COMPILE_ERROR),
    "compiler hangs": ("trap '' TERM INT HUP; sleep 600", Status.COMPILE_TIMEOUT),
    "compiler leaves a child": ("sleep 600 & ", Status.COMPILE_TIMEOUT),
    "compiler prints garbage": ("head -c 8000000 /dev/urandom; exit 0", Status.COMPILE_ERROR),
    "compiler never stops talking": ("yes error", Status.COMPILE_TIMEOUT),
    "compiler writes an empty file": (": > image.so; exit 0", Status.COMPILE_ERROR),
    "compiler writes no image": (
        r"printf '\0matmul\0' > image.so; exit 0",
        Status.RUNTIME_ERROR,
    ),
    "compiler writes half an image": (
        'c++ "$@"; tail -c 600 image.so > a; printf "\\0matmul\\0" >> a; mv a image.so; exit',
        Status.RUNTIME_ERROR,
    ),
    "image for another machine": (
        'c++ "$@" && printf "\\267" | dd of=image.so bs=1 seek=18 conv=notrunc 2>/dev/null; exit 0',
        Status.RUNTIME_ERROR,
    ),
    "compiler out of file size": ("ulimit -f 1", Status.COMPILE_ERROR),
    "compiler's disk full": ('echo "cc1plus: error: No space left on device"; exit 1', REFUSED),
}


@contextmanager
def fresh_device(site: Site, **environment: str) -> Iterator[Device]:
    """Open a device that has built nothing yet and whose processes see ``environment``."""
    own = {"AUTOTUNE_CACHE": str(site.folder / "cache"), **environment}
    with (
        mock.patch.dict("os.environ", own),
        closing(open_device(site.device.name, limits=site.limits)) as device,
    ):
        yield device


def compiler(site: Site, does: str) -> Path:
    """Write a compiler that does something else with the victim."""
    script = site.folder / "c++"
    script.write_text(SCRIPT.format(does))
    script.chmod(0o755)
    return script


def _of_one(site: Site, *, does: str, expected: str) -> Seen:
    with fresh_device(site, CXX=str(compiler(site, does))) as device:
        met = site.tune(VICTIM, device=device)
    runs = [met] if met.ended == FINISHED else [met, site.tune(VICTIM)]
    return site.seen(runs, met.ended if expected == REFUSED else "", fault=VICTIM)


def _absent(site: Site) -> Seen:
    try:
        with fresh_device(site, CXX=str(site.folder / "absent")) as device:
            met = site.tune(device=device)
    except AutotuneError as error:
        met = Run(ended=REFUSED, message=error.message)
    return site.seen([met, site.tune()], met.ended)


def _midway(site: Site, harm: Callable[[Device, Path], None], **environment: str) -> Seen:
    """Do harm after the first row, when more is still to be compiled; then go on without."""
    with fresh_device(site, **environment) as device:
        cache = site.folder / "cache"
        met = site.tune(
            after=lambda count: harm(device, cache) if count == 1 else None, device=device
        )
    return site.seen([met, site.tune()], met.ended)


def _vanishes(site: Site) -> Seen:
    link = site.folder / "c++"
    link.symlink_to(shutil.which("c++") or "")
    return _midway(site, lambda *_: link.unlink(), CXX=str(link))


def _no_temporary_folder(site: Site) -> Seen:
    def harm(device: Device, _cache: Path) -> None:
        shutil.rmtree(device._pool._scratch.name)  # type: ignore[attr-defined]  # noqa: SLF001 - a cleaner of /tmp does not ask either

    return _midway(site, harm)


def _source_goes(site: Site, *, edited: bool) -> Seen:
    """Take away or change the source of a copy of the kernel; give it back afterwards."""
    path = Path(site.kernel_ref.rpartition(":")[0])
    for suffix in (".py", ".cpp"):
        shutil.copy(path.with_suffix(suffix), site.folder)
    copy = site.folder / path.name
    source = copy.with_suffix(".cpp")
    moved = site.of(f"{copy}:FaultyHost")
    text = source.read_text()
    with fresh_device(site) as device:

        def harm(count: int) -> None:
            if count == 1:
                source.write_text(text + "// edited\n") if edited else source.unlink()

        met = moved.tune(after=harm, device=device)
    source.write_text(text)
    return moved.seen([met, moved.tune()], met.ended)


def _damaged(site: Site, *, harm: Callable[[Path], None]) -> Seen:
    """Damage every stored binary between two runs."""
    with fresh_device(site) as device:
        part = site.tune(device=device, stop_after=2)
    for folder in (site.folder / "cache").glob("??/*"):
        harm(folder)
    with fresh_device(site) as device:
        met = site.tune(device=device)
    return site.seen([part, met], met.ended)


def _flip(folder: Path) -> None:
    image = folder / "image.so"
    image.write_bytes(bytes(255 - byte for byte in image.read_bytes()))


DAMAGE: dict[str, Callable[[Path], None]] = {
    "binary cut short": lambda folder: (folder / "image.so").write_bytes(b"\x7fELF"),
    "binary overwritten": _flip,
    "binary gone": lambda folder: (folder / "image.so").unlink(),
    "binary's description torn": lambda folder: (folder / "meta.json").write_text('{"version": 1'),
}

COMPILER = [
    *(
        Fault(
            name=name,
            area="compile",
            expected=str(expected),
            inject=partial(_of_one, does=does, expected=str(expected)),
        )
        for name, (does, expected) in DOES.items()
    ),
    Fault(name="compiler missing", area="compile", expected=REFUSED, inject=_absent),
    Fault(name="compiler vanishes", area="compile", expected=REFUSED, inject=_vanishes),
    Fault(
        name="source vanishes",
        area="files",
        expected=REFUSED,
        inject=partial(_source_goes, edited=False),
    ),
    Fault(
        name="source edited",
        area="files",
        expected=REFUSED,
        inject=partial(_source_goes, edited=True),
    ),
    Fault(
        name="temporary folder vanishes",
        area="files",
        expected=REFUSED,
        inject=_no_temporary_folder,
    ),
    *(
        Fault(name=name, area="files", expected=FINISHED, inject=partial(_damaged, harm=harm))
        for name, harm in DAMAGE.items()
    ),
]
