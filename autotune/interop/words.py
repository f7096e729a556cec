"""What tuners call a failure, and what we call it."""

from __future__ import annotations

from autotune.records import Status

CONSTRAINT_WORD = "InvalidConfig"
COMPILE_WORD = "CompilationFailedConfig"
RUNTIME_WORD = "RuntimeFailedConfig"

_STATUS: dict[str, Status] = {
    CONSTRAINT_WORD: Status.CONSTRAINT,
    COMPILE_WORD: Status.COMPILE_ERROR,
    RUNTIME_WORD: Status.RUNTIME_ERROR,
    "ErrorConfig": Status.RUNTIME_ERROR,
    # T4's invalidity
    "constraints": Status.CONSTRAINT,
    "compile": Status.COMPILE_ERROR,
    "runtime": Status.RUNTIME_ERROR,
    "correctness": Status.INCORRECT,
    # KTT
    "ComputationFailed": Status.RUNTIME_ERROR,
    "ValidationFailed": Status.INCORRECT,
    "CompilationFailed": Status.COMPILE_ERROR,
    "DeviceLimitsExceeded": Status.RESOURCES,
    # our own, which "timeout" of T4 is one of
    **{status.value: status for status in Status if status is not Status.OK},
}
_HINTS = (  # parts of error messages, most telling first
    ("timed out", Status.TIMEOUT),
    ("timeout", Status.TIMEOUT),
    ("out of memory", Status.OOM),
    ("out_of_memory", Status.OOM),
    ("shared memory", Status.RESOURCES),
    ("out of resources", Status.RESOURCES),
    ("out_of_resources", Status.RESOURCES),
    ("too many resources", Status.RESOURCES),
    ("verif", Status.INCORRECT),
    ("incorrect", Status.INCORRECT),
    ("compil", Status.COMPILE_ERROR),
    ("ptxas", Status.COMPILE_ERROR),
)
_INVALIDITY = {
    Status.OK: "correct",
    Status.CONSTRAINT: "constraints",
    Status.RESOURCES: "constraints",
    Status.COMPILE_ERROR: "compile",
    Status.COMPILE_TIMEOUT: "compile",
    Status.INCORRECT: "correctness",
    Status.NONDETERMINISTIC: "correctness",
    Status.TIMEOUT: "timeout",
    Status.STOPPED_EARLY: "timeout",
}
_CACHE_WORDS = {"constraints": CONSTRAINT_WORD, "compile": COMPILE_WORD}


def known_status(word: object) -> Status | None:
    """Return the status of a failure that a tuner names by ``word``, or None if none does."""
    return _STATUS.get(word) if isinstance(word, str) else None


def status_of_message(message: str) -> Status:
    """Return the status that an error message in free words speaks of."""
    lower = message.lower()
    found = (status for part, status in _HINTS if part in lower)
    return known_status(message) or next(found, Status.RUNTIME_ERROR)


def invalidity(status: Status) -> str:
    """Return T4's word for ``status``."""
    return _INVALIDITY.get(status, "runtime")


def cache_word(status: Status) -> str:
    """Return the word of Kernel Tuner's caches for a ``status`` that is not ``ok``."""
    return _CACHE_WORDS.get(invalidity(status), RUNTIME_WORD)
