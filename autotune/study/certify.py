"""Certify a table: verify every config in it once more, harder than tuning did."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from autotune import __version__
from autotune.device import Device, open_device
from autotune.device.sanitizer import Sanitizer
from autotune.dispatch import Device as Measured
from autotune.errors import DeviceUnavailable
from autotune.records import DeviceIdentity, Limits
from autotune.study.examiner import Examination, Examined, Examiner
from autotune.table import Place, TableFile, now
from autotune.verify import Exam

LIMITS = Limits(run_s=60.0)  # for one problem: it is run more often than a tuned candidate
DRAWS = 5
_OPENED_BY = {"host": "host", "cuda": "cuda:0"}

Say = Callable[[Examined], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class CertifyReport:
    """What became of a table.

    Attributes:
        device: The name that the device was opened by.
        identity: The device.
        exam: How hard it looked.
        sanitizer: Which sanitizer watched, or why none did, and where it did not get to the end.
        examined: Every entry and every default.
    """

    device: str
    identity: DeviceIdentity
    exam: Exam
    sanitizer: str
    examined: tuple[Examined, ...]

    @property
    def entries_left(self) -> int:
        """How many entries were right; with none, the file is as it was."""
        return sum(each.passed for each in self.examined if each.place.role == "entries")

    @property
    def failed(self) -> tuple[Examined, ...]:
        """What was removed."""
        return tuple(each for each in self.examined if not each.passed)


def open_measured(file: TableFile, name: str = "auto", *, limits: Limits = LIMITS) -> Device:
    """Open the device that a table is of; ``auto`` is the one of its kind.

    Raises:
        DeviceUnavailable: It is another, or there is none.
    """
    wanted = file.table.device
    chosen = _OPENED_BY.get(wanted.kind, wanted.kind) if name == "auto" else name
    of = f"table {str(file.path)!r} is of {_told(wanted)}"
    try:
        device = open_device(chosen, limits=limits)
    except DeviceUnavailable as error:
        raise DeviceUnavailable(
            f"{of}; device {chosen} is not here: {error.message}",
            hint=error.hint or "certify it on the machine that it is of",
        ) from None
    here = device.identity
    found = (here.kind, here.name, here.target.arch)
    if not device.replays and found == (wanted.kind, wanted.name, wanted.arch):
        return device
    device.close()
    if device.replays:
        raise DeviceUnavailable(
            f"{of}; {device.name} repeats what was measured and runs nothing",
            hint="certify it on the machine that it is of",
        )
    raise DeviceUnavailable(
        f"{of}; device {device.name} is {here.name} ({here.kind}, {here.target.arch})",
        hint="certify it there, or tune and export here",
    )


def certify(
    file: TableFile,
    *,
    device: Device,
    draws: int = DRAWS,
    sanitizer: Sanitizer | str = "off",
    say: Say = lambda _: None,
) -> CertifyReport:
    """Verify every entry and default of a table on ``device``, and write what passed.

    Each is run on its own problem and on a few beside it that its conditions admit. What fails
    is removed from the file. If no entry is left, or after an interrupt, the file is as it was.

    Args:
        file: The table.
        device: The device that it is of, from ``open_measured``. The caller closes it.
        draws: Random inputs for each problem.
        sanitizer: What watches each config once, or why nothing does, in a word.
        say: Hears of each config as it is done.

    Raises:
        InvalidInput: A kernel cannot be loaded, or the device cannot run it.
        DeviceUnavailable: The device went away.
        AutotuneError: The draws do not fit the device's memory, or the file cannot be written or
            has changed meanwhile.
    """
    exam = Exam.of(draws)
    examined = []
    for each in _examined(file, device, exam=exam, sanitizer=sanitizer):
        examined.append(each)
        say(each)
    report = CertifyReport(
        device=device.name,
        identity=device.identity,
        exam=exam,
        sanitizer=_watched(sanitizer, examined),
        examined=tuple(examined),
    )
    if report.entries_left:
        _write(file, report, device)
    return report


def _examined(
    file: TableFile, device: Device, *, exam: Exam, sanitizer: Sanitizer | str
) -> Iterator[Examined]:
    begun = [
        each
        for table in file.table.kernels.values()
        for each in _begun(Examiner.of(table, device, exam=exam, sanitizer=sanitizer))
    ]
    for examiner, examination in begun:
        yield examiner.finish(examination) if isinstance(examination, Examination) else examination


def _watched(sanitizer: Sanitizer | str, examined: Sequence[Examined]) -> str:
    if isinstance(sanitizer, str):
        return sanitizer
    unwatched = sum(not each.watched for each in examined)
    cut = f", not to the end on {unwatched} of {len(examined)}" if unwatched else ""
    return f"{sanitizer.told}{cut}"


def _begun(examiner: Examiner) -> Iterator[tuple[Examiner, Examination | Examined]]:
    """Start to build everything of one kernel, so that compilers are never waited for twice."""
    table = examiner.table
    for role, answers in (("entries", table.entries), ("defaults", table.defaults)):
        for at, answer in enumerate(answers):
            yield examiner, examiner.begin(Place(table.name, role, at), answer)


def _write(file: TableFile, report: CertifyReport, device: Device) -> None:
    made = {"certified_at": now(), "framework": f"autotune {__version__}"}
    certificates = {
        each.place: {**made, **_certificate(each, report, device)}
        for each in report.examined
        if each.passed
    }
    file.certify(certificates, {**made, "sanitizer": report.sanitizer})


def _certificate(examined: Examined, report: CertifyReport, device: Device) -> dict[str, Any]:
    assert examined.toolchain is not None, "what passed was built"
    return {
        "problems": list(examined.problems),
        "draws": report.exam.draws,
        "repeats": report.exam.repeats + report.exam.loaded,
        "sanitizer": examined.sanitizer,
        "source_digest": examined.source_digest,
        "toolchain": dataclasses.asdict(examined.toolchain),
        "driver": device.identity.driver,
    }


def _told(device: Measured) -> str:
    return f"{device.name} ({device.kind}, {device.arch})"
