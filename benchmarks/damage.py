"""Damage tables and bundles in every way, and open them: a clear error, or what was there before.

    python benchmarks/damage.py --count 100000 --json results/damage_host.json

An audit hook of the interpreter watches every file that is opened meanwhile. A table alone has no
digest of itself: a flipped bit in a number may give another sound table, which is counted apart.
So may a manifest that somebody forged together with its digest. Anything else is a failure.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from damage_mutations import FOLDERS, TEXTS
from made_table import Answer, table_text
from results_file import write_json

from autotune.bundle import write_bundle
from autotune.device.host import host_identity
from autotune.dispatch import Table
from autotune.dispatch.bundle import MANIFEST, Bundle
from autotune.errors import InvalidTable
from autotune.records import Value, load_kernel
from autotune.records.targets import TARGETS

ERROR, EQUAL, OTHER = "clear error", "equal", "another sound one"
WORST = "FAILED"
_EVENTS = ("open", "exec", "subprocess.Popen", "ctypes.dlopen", "os.rename", "os.remove")
Outcomes = Counter[tuple[str, str]]  # of kind and outcome


def main() -> None:
    """Damage, open, count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    outcomes, failures = damage(arguments.count, arguments.seed)
    rows = [
        {"kind": kind, "outcome": outcome, "count": count}
        for (kind, outcome), count in sorted(outcomes.items())
    ]
    for row in rows:
        print(f"{row['kind']:20} {row['outcome']:20} {row['count']:7}")
    for line in failures[:20]:
        print(line, file=sys.stderr)
    if arguments.json is not None:
        about = {"count": arguments.count, "seed": arguments.seed, "failures": len(failures)}
        write_json(arguments.json, rows, packages=(), about=about)
    sys.exit(bool(failures))


def damage(count: int, seed: int) -> tuple[Outcomes, list[str]]:
    """Open ``count`` damaged tables and bundles, half of each; return what became of them."""
    watch, draw = Watch(), random.Random(seed)  # noqa: S311 - reproducible damage
    outcomes: Outcomes = Counter()
    failures: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        trials = (*_tables(), *_bundles(Path(scratch)))
        for number in range(count):
            kind, trial = trials[number % len(trials)]
            try:
                outcomes[kind, trial(draw, watch)] += 1
            except Exception as error:  # noqa: BLE001 - whatever else it is, it is a failure
                outcomes[kind, WORST] += 1
                failures.append(f"{kind}, number {number}: {type(error).__name__}: {error}"[:500])
    return outcomes, failures


class Watch:
    """Notes what its own thread does while it is on: once added, an audit hook stays."""

    def __init__(self) -> None:
        self._seen: list[tuple[str, Any]] | None = None
        self._thread = threading.get_ident()
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._seen is None or event not in _EVENTS:
            return
        if threading.get_ident() == self._thread:
            self._seen.append((event, arguments))

    @contextmanager
    def allowing(self, *paths: str) -> Iterator[None]:
        """Raise if anything but these paths, to be read, and plain names is touched."""
        self._seen = []
        try:
            yield
        finally:
            seen, self._seen = self._seen, None
            for event, (path, *how) in seen:
                if event != "open" or not _harmless(path, *how, allowed=paths):
                    raise AssertionError(f"touched: {event} {path!r} {how}")


def _harmless(path: object, mode: str | None, flags: int, *, allowed: tuple[str, ...]) -> bool:
    """Return whether it is only read: a file that is open, a plain name or what is allowed."""
    if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) or set(mode or "") & set("wax+"):
        return False
    plain = isinstance(path, str) and "/" not in path and path not in ("", ".", "..")
    return isinstance(path, int) or plain or path in allowed


Trial = Callable[[random.Random, Watch], str]


def _tables() -> list[tuple[str, Trial]]:
    gemm = load_kernel("gemm")
    square: dict[str, Value] = {"m": 4096, "n": 4096, "k": 4096, "dtype": "bf16", "layout": "nt"}
    skinny: dict[str, Value] = {"operands": "swapped", "split_k": 4}
    rows = [16 << octave for octave in range(9)]
    answers: list[Answer] = [({**square, "m": m}, skinny if m < 256 else {}) for m in rows]
    text = table_text(gemm, TARGETS["sm_90a"], answers, answers[-1:], tree=True).encode()
    sound = Table.parse(text)

    def trial(change: Callable[[random.Random, bytes], bytes]) -> Trial:
        def run(draw: random.Random, watch: Watch) -> str:
            changed = change(draw, text)
            with watch.allowing():
                return _outcome(lambda: Table.parse(changed, "t.json"), sound, "t.json: ")

        return run

    return [(f"table: {name}", trial(change)) for name, change in TEXTS.items()]


def _bundles(scratch: Path) -> list[tuple[str, Trial]]:
    identity = host_identity()
    sizes: list[dict[str, Value]] = [{"m": 8, "n": 16, "k": 4}, {"m": 300, "n": 200, "k": 100}]
    answers: list[Answer] = [(sizes[0], {"tile_m": 4}), (sizes[1], {"order": "kij"})]
    table, folder = scratch / "table.json", scratch / "bundle"
    text = table_text(load_kernel("host_matmul"), identity.target, answers, tree=True)
    table.write_text(text)
    write_bundle(table, folder)
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    sound = Bundle.open(folder)

    def trial(change: Callable[[random.Random, Path], None]) -> Trial:
        def run(draw: random.Random, watch: Watch) -> str:
            _restore(folder, files)
            change(draw, folder)
            with watch.allowing(str(folder)):
                return _outcome(lambda: Bundle.open(folder), sound, str(folder))

        return run

    return [(f"bundle: {name}", trial(change)) for name, change in FOLDERS.items()]


def _restore(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        if path.is_symlink() or path.is_fifo():
            path.unlink()
        elif path.is_dir():
            path.rmdir()
        if name == MANIFEST or not path.is_file() or path.read_bytes() != content:
            path.write_bytes(content)


def _outcome(opened: Callable[[], Any], sound: Any, name: str) -> str:
    try:
        found = opened()
    except InvalidTable as error:
        if "\n" in error.message or not error.message.startswith((name, f"bundle '{name}'")):
            raise AssertionError(f"an unclear message: {error.message!r}") from error
        return ERROR
    if _said(found) == _said(sound):
        return EQUAL
    _ask(found.table if isinstance(found, Bundle) else found)
    return OTHER


def _ask(table: Table) -> None:
    """Look problems up, those of the table and three times as large ones: it is a whole table."""
    for kernel in table.kernels.values():
        for entry in kernel.entries:
            assert table.lookup(kernel.name, **entry.problem).entry == entry, "its own answers"
            sizes = {name: 3 * int(entry.problem[name]) for name in kernel.scaled_fields}
            beside: Mapping[str, Any] = {**entry.problem, **sizes}
            first = next(table.choices(kernel.name, **beside), None)
            if first is not None:
                found = table.lookup(kernel.name, **beside)
                assert found.entry == first.entry, "a quick lookup finds what a thorough one does"


def _said(found: Any) -> Any:
    if isinstance(found, Bundle):
        return dict(found.files), dict(found.binaries), found.launches, _said(found.table)
    words = found.generator, found.created, found.database_revision
    return words, found.device, dict(found.kernels), found.certificate


if __name__ == "__main__":
    main()
