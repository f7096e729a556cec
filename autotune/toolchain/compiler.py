"""What every compiler answers, and what compilers have in common."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from autotune.errors import InvalidInput, ToolchainBroken
from autotune.records import Failure, Resources, SourceUnit, Status, Toolchain
from autotune.toolchain.machine import require_space, sound_machine
from autotune.toolchain.sources import Sources

MESSAGE_CHARS = 4000

# What such an option adds to the binary is not in the unit, so that no key could cover it.
_UNKEYABLE = re.compile(
    r"""
    [^-] | -[ILB] | -[ox]$                                    # files and folders by name
    | -W[alp], | -X(linker|preprocessor|assembler|clang)\b    # whatever another program reads
    | -i(quote|system|dirafter|macros) | -fplugin | -wrapper
    | --?(include|include-path|pre-include|options-file|library-path|sysroot|specs)\b
    | --?(pch|create-pch|use-pch|pch-dir)\b
    | --?(arch|gpu-architecture)\b | -m(arch|tune|cpu)=native$  # the architecture is explicit
    | --?(dc|rdc|device-c|relocatable-device-code)\b          # gives no cubin
    """,
    re.VERBOSE,
)
_MISSING_HEADER = re.compile(
    r"could not open source file \"([^\"]+)\"|cannot open source file \"([^\"]+)\""
    r"|fatal error: '([^']+)' file not found|fatal error: ([^:\s]+): No such file"
)
_CHATTER = re.compile(r"^ptxas (info|\s+\.).*\n?", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """What a compiler made of a unit.

    Attributes:
        image: The cubin or shared library.
        resources: What the entry takes, as the log reports it.
        log: All that the compiler said.
    """

    image: bytes
    resources: Resources
    log: str


class Compiler(Protocol):
    """Turns a unit into an image. It is cheap to make, picklable, and holds no state."""

    @property
    def language(self) -> str:
        """The language of the units that it takes: ``cuda`` or ``c++``."""

    @property
    def suffix(self) -> str:
        """How the names of its images end: ``.cubin`` or ``.so``."""

    @property
    def hint(self) -> str:
        """What to do where it, or a header of its own, is missing."""

    @property
    def toolchain(self) -> Toolchain:
        """Which compiler it is, and every version that its output depends on.

        Raises:
            ToolchainBroken: There is no compiler to ask.
        """

    def options(self, unit: SourceUnit, arch: str) -> tuple[str, ...]:
        """Return every option that shapes the image, but for folders of headers.

        Raises:
            InvalidInput: The unit asks for an option that no key could cover.
        """

    def system_headers(self, sources: Sources) -> Mapping[str, str]:
        """Return a digest for each ``<...>`` header whose text ``toolchain`` does not pin."""

    def preflight(self, arch: str = "") -> None:
        """Compile a tiny unit for real.

        Raises:
            ToolchainBroken: The compiler or a header is missing; the message names it.
        """

    def compile(self, unit: SourceUnit, arch: str) -> Compiled | Failure:
        """Compile ``unit`` for ``arch``, or say why that failed in the compiler's words.

        Raises:
            InvalidInput: A source is missing or cannot be keyed.
        """


def checked_options(options: tuple[str, ...], where: object) -> tuple[str, ...]:
    """Return ``options``, which ``where`` asks for.

    Raises:
        InvalidInput: One reads files, names the architecture or asks what this machine is.
    """
    for option in options:
        if _UNKEYABLE.match(option):
            raise InvalidInput(
                f"{where}: option {option!r} cannot be used: the key of a binary would not "
                "cover what it brings in",
                hint="write an option and its value as one word, and folders of headers in "
                "include_dirs; name an architecture, not 'native'",
            )
    return options


def compile_error(log: str, *, hint: str = "") -> Failure:
    """Return the failure that a compiler's log tells of, without its statistics.

    Args:
        log: All that the compiler said.
        hint: What to do where a header is missing; the message then begins with it.
    """
    message = _CHATTER.sub("", log).strip() or "the compiler failed and said nothing"
    header = _missing_header(message)
    if hint and header:
        message = f"error: the header <{header}> is not on this machine: {hint}\n{message}"
    return Failure(status=Status.COMPILE_ERROR, message=message[:MESSAGE_CHARS])


def no_entry(unit: SourceUnit) -> Failure:
    """Return the failure of a unit that compiles but does not define what to launch."""
    return compile_error(
        f'{unit.main}: it compiles, but defines no entry {unit.entry!r}; is it extern "C"?'
    )


def run_preflight(compiler: Compiler, probe: str, arch: str) -> None:
    """Compile ``probe``, a source text that uses ``VALUE`` of its config.

    Raises:
        ToolchainBroken: It does not compile.
    """
    with sound_machine(), TemporaryDirectory(prefix="autotune-") as folder:
        main = Path(folder) / f"probe{'.cu' if compiler.language == 'cuda' else '.cpp'}"
        main.write_text(probe)
        header = "constexpr int VALUE = 1;\n"
        tiny = SourceUnit(language=compiler.language, main=main, header=header, entry="probe")
        outcome = compiler.compile(tiny, arch)
        if isinstance(outcome, Failure):
            require_headers(compiler, tiny, outcome)
            require_space(outcome)
            why = f"{compiler.toolchain.compiler} cannot compile a tiny program: {outcome.message}"
            raise ToolchainBroken(why, hint=compiler.hint)


def require_headers(compiler: Compiler, unit: SourceUnit, failure: Failure) -> None:
    """Raise if ``unit`` failed for want of a header; any other fault of it is its own.

    Raises:
        ToolchainBroken: A header is missing; the message names it.
    """
    header = _missing_header(failure.message)
    if header:
        raise ToolchainBroken(
            f"{compiler.toolchain.compiler} cannot find the header <{header}> that {unit.main} "
            "needs",
            hint=compiler.hint,
        )


def _missing_header(log: str) -> str:
    """Return the name of the header that a compiler did not find, or nothing."""
    missing = _MISSING_HEADER.search(log)
    return next(filter(None, missing.groups())) if missing is not None else ""
