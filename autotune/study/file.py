"""Read a study file: TOML, checked at the boundary, with errors that name file and key."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from autotune.errors import InvalidInput, InvalidProblem
from autotune.records import (
    PRESETS,
    TIME,
    Kernel,
    Limits,
    Policy,
    Problem,
    absolute_reference,
    goals_named,
    load_kernel,
)
from autotune.search import MODELS, SAMPLERS, chosen
from autotune.study.spec import DriftSpec, FinalSpec, StudySpec

MOST_S = 366 * 86_400.0  # a limit above this is a slip, and no clock takes it
MOST_COUNT = 1_000_000

_ASKED: dict[str, dict[str, Any]] = {"energy": {"energy_ms": 400.0}, "error": {"error": True}}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h)")
_MUST_BE = {
    "greater_than_equal": "be at least {ge}",
    "greater_than": "be more than {gt}",
    "less_than_equal": "be at most {le}",
    "less_than": "be less than {lt}",
    "int_type": "be a whole number",
    "float_type": "be a number",
    "finite_number": "be a finite number",
    "bool_type": "be true or false",
    "string_type": "be text",
    "string_too_short": "be some text",
    "string_too_long": "be shorter than {max_length} letters",
    "literal_error": "be {expected}",
    "list_type": "be a list",
    "too_short": "have at least {min_length} items",
    "dict_type": "be a table",
    "model_type": "be a table",
}
_UNIT_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def parse_duration_s(text: str) -> float:
    """Return the seconds in ``90s``, ``5m``, ``1.5h`` or ``250ms``.

    Raises:
        ValueError: The text is not such a duration, or it is zero or above a year.
    """
    match = _DURATION.fullmatch(text.strip())
    seconds = 0.0 if match is None else float(match[1]) * _UNIT_S[match[2]]
    if not 0.0 < seconds <= MOST_S:
        raise ValueError(f"{text[:40]!r} is not a duration such as 90s, 5m or 1h")
    return seconds


def _duration_s(value: Any) -> float:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a duration such as '90s', '5m' or '1h'")  # noqa: TRY004 - pydantic reports ValueError
    return parse_duration_s(value)


def _sampler(value: Any) -> str:
    if not isinstance(value, str) or value not in SAMPLERS:
        raise ValueError(f"{value!r} is not a sampler; allowed: {', '.join(SAMPLERS)}")
    return str(value)


def _name(value: Any) -> Any:
    if isinstance(value, str) and not (value.isprintable() and value == value.strip()):
        raise ValueError(f"{value[:40]!r} must be printable, without blanks at its ends")
    return value


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class _Search(_Section):
    sampler: Annotated[str, BeforeValidator(_sampler)] = "auto"
    trials: int = Field(default=200, ge=1, le=MOST_COUNT)
    time_budget: Annotated[float, BeforeValidator(_duration_s)] | None = None
    seed: int = Field(default=0, ge=0, lt=2**32)
    prior: Literal["on", "off"] = "on"
    warm_start: Literal["on", "off"] = "on"
    stop_chance: float = Field(default=0.0, ge=0, lt=1)
    stop_gain: float = Field(default=0.01, ge=0, le=1)


class _Policy(_Section):
    preset: str = "standard"
    warmup_ms: float | None = Field(default=None, ge=0, le=MOST_S * 1e3)
    min_samples: int | None = Field(default=None, ge=1, le=MOST_COUNT)
    max_samples: int | None = Field(default=None, ge=1, le=MOST_COUNT)
    budget_ms: float | None = Field(default=None, gt=0, le=MOST_S * 1e3)
    precision: float | None = Field(default=None, ge=0, lt=1)
    stop_factor: float | None = Field(default=None, ge=0, le=1e6)
    sample_us: float | None = Field(default=None, gt=0, le=MOST_S * 1e6)
    cache: Literal["cold", "hot"] | None = None
    verify: bool | None = None
    draws: int | None = Field(default=None, ge=1, le=MOST_COUNT)
    repeats: int | None = Field(default=None, ge=0, le=MOST_COUNT)
    seed: int | None = Field(default=None, ge=0, lt=2**32)
    energy_ms: float | None = Field(default=None, ge=0, le=MOST_S * 1e3)
    error: bool | None = None


class _Limits(_Section):
    compile_s: float = Field(default=60.0, gt=0, le=MOST_S)
    run_s: float = Field(default=30.0, gt=0, le=MOST_S)


class _Final(_Section):
    candidates: int = Field(default=FinalSpec().candidates, ge=0, le=100)
    rounds: int = Field(default=FinalSpec().rounds, ge=1, le=1000)


class _Drift(_Section):
    every: int = Field(default=DriftSpec().every, ge=0, le=MOST_COUNT)
    limit: float = Field(default=DriftSpec().limit, gt=0, le=1)


class _Cross(_Section):
    winners: int = Field(default=0, ge=0, le=100)


class _Problems(BaseModel):
    """Shapes fill the kernel's scaled fields; every other key is a field of each problem."""

    model_config = ConfigDict(extra="allow", strict=True)
    shapes: list[list[int]] = Field(min_length=1)


class _Export(_Section):
    table: str = Field(min_length=1)


class _Study(_Section):
    name: Annotated[str, BeforeValidator(_name)] = Field(min_length=1, max_length=200)
    kernel: str = Field(min_length=1)
    goals: list[str] = [TIME]
    search: _Search = _Search()
    policy: _Policy = _Policy()
    limits: _Limits = _Limits()
    final: _Final = _Final()
    drift: _Drift = _Drift()
    cross: _Cross = _Cross()
    space: dict[str, list[int | str]] = {}
    problems: _Problems | None = None
    problem: list[dict[str, int | str]] = []
    export: _Export | None = None


def load_study(path: Path) -> StudySpec:
    """Read and check a study file.

    Raises:
        InvalidInput: The file is missing, is not TOML, or holds a key or value that is not
            allowed; the message names the file, the key and what is allowed.
    """
    study = _checked(path, _read(path))
    try:
        goals = tuple(goal.name for goal in goals_named(study.goals))
        _refuse_what_knows_time_alone(study.search, goals)
        _refuse_a_stop_that_never_comes(study.search)
        kernel_ref = absolute_reference(study.kernel, path.parent)
        kernel = load_kernel(kernel_ref)
        return StudySpec(
            name=study.name,
            kernel_ref=kernel_ref,
            kernel=kernel,
            problems=_problems(study, kernel),
            goals=goals,
            sampler=study.search.sampler,
            trials=study.search.trials,
            time_budget_s=study.search.time_budget,
            seed=study.search.seed,
            prior=study.search.prior == "on",
            warm_start=study.search.warm_start == "on",
            stop_chance=study.search.stop_chance,
            stop_gain=study.search.stop_gain,
            policy=_policy(study.policy, goals),
            limits=Limits(**study.limits.model_dump()),
            final=FinalSpec(**study.final.model_dump()),
            drift=DriftSpec(**study.drift.model_dump()),
            cross=study.cross.winners,
            space=study.space,
            export=None if study.export is None else Path(study.export.table),
        )
    except InvalidInput as error:
        raise type(error)(f"{path}: {error.message}", error.hint) from None


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        beside = path.with_name(f"{path.name}.toml")
        hint = f"did you mean {beside}?" if beside.is_file() else ""
        raise InvalidInput(f"study file {str(path)!r} does not exist", hint) from None
    except RecursionError:
        raise InvalidInput(f"{path}: not a readable TOML file: nested too deeply") from None
    except (OSError, ValueError) as error:  # TOML's own error is one, as is a number of a page
        raise InvalidInput(f"{path}: not a readable TOML file: {error}") from None


def _checked(path: Path, data: dict[str, Any]) -> _Study:
    try:
        return _Study.model_validate(data)
    except ValidationError as error:
        raise InvalidInput(f"{path}: {_first_problem(error)}") from None


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        return f"unknown key {where!r}; allowed: {', '.join(_siblings(first['loc']))}"
    if first["type"] == "missing":
        return f"missing key {where!r}"
    where = ".".join(str(part) for part in first["loc"] if part not in ("int", "str"))
    return f"{where}: {_in_our_words(first)}"


def _in_our_words(error: ErrorDetails) -> str:
    """Return what a value must be, and what it is."""
    must = _MUST_BE.get(error["type"])
    if must is None:
        text = error["msg"].removeprefix("Value error, ").removeprefix("Input should ")
        return f"must {text}" if error["msg"].startswith("Input should ") else text
    return f"must {must.format(**error.get('ctx', {}))}, not {error['input']!r:.60}"


def _siblings(location: tuple[int | str, ...]) -> list[str]:
    section: type[BaseModel] = _Study
    sections: dict[str, type[BaseModel]] = {
        "search": _Search,
        "policy": _Policy,
        "limits": _Limits,
        "final": _Final,
        "drift": _Drift,
        "cross": _Cross,
        "export": _Export,
    }
    for part in location[:-1]:
        section = sections.get(str(part), section)
    return list(section.model_fields)


def _refuse_what_knows_time_alone(section: _Search, goals: Sequence[str]) -> None:
    chosen(section.sampler, goals=len(goals))
    if section.stop_chance and len(goals) > 1:
        raise InvalidInput("search.stop_chance: a gain is foreseen of time alone; give it one goal")


def _refuse_a_stop_that_never_comes(section: _Search) -> None:
    if section.stop_chance and section.sampler not in ("auto", *MODELS):
        raise InvalidInput(
            f"search.stop_chance: {section.sampler} cannot tell what is still to be gained; "
            "search.sampler may be auto or gp"
        )


def _policy(section: _Policy, goals: Sequence[str]) -> Policy:
    if section.preset not in PRESETS:
        raise InvalidInput(
            f"policy.preset: {section.preset!r} is not a preset; allowed: {', '.join(PRESETS)}"
        )
    asked = [(goal, *each) for goal in goals for each in _ASKED.get(goal, {}).items()]
    changes = {field: value for _, field, value in asked}
    changes |= section.model_dump(exclude={"preset"}, exclude_none=True)
    policy = PRESETS[section.preset].replace(**changes)
    for goal, field, _ in asked:
        if not changes[field]:
            raise InvalidInput(
                f"policy.{field}: the goal {goal} needs what this turns off; leave it out"
            )
    if policy.min_samples > policy.max_samples:
        raise InvalidInput(
            f"policy.min_samples: {policy.min_samples} is above max_samples={policy.max_samples}"
        )
    if 0 < policy.stop_factor < 1:
        raise InvalidInput(
            f"policy.stop_factor: {policy.stop_factor} would give up what is faster than the "
            "best; it must be 1 or more, or 0 for never"
        )
    return policy


def _problems(study: _Study, kernel: Kernel) -> tuple[Problem, ...]:
    found = [_parsed(kernel, fields, f"problem[{i}]") for i, fields in enumerate(study.problem)]
    if study.problems is not None:
        shared = study.problems.model_extra or {}
        for i, shape in enumerate(study.problems.shapes):
            where = f"problems.shapes[{i}]"
            _refuse_twice(kernel, shared, where)
            found.append(_parsed(kernel, {**shared, **_extents(kernel, shape, where)}, where))
    if not found:
        raise InvalidInput("no problem: give [problems] with shapes, or [[problem]] tables")
    return tuple(dict.fromkeys(found))


def _extents(kernel: Kernel, shape: list[int], where: str) -> dict[str, int]:
    names = kernel.scaled_fields
    if not names:
        raise InvalidInput(
            f"{where}: kernel {kernel.name!r} has no scaled fields that a shape could fill",
            hint="give its problems as [[problem]] tables",
        )
    if len(shape) != len(names):
        raise InvalidInput(f"{where}: {shape} must hold {len(names)} numbers: {', '.join(names)}")
    return dict(zip(names, shape, strict=True))


def _refuse_twice(kernel: Kernel, shared: dict[str, Any], where: str) -> None:
    for name in shared:
        if name in kernel.scaled_fields:
            raise InvalidInput(f"problems.{name}: {where} gives {name} already")


def _parsed(kernel: Kernel, fields: dict[str, Any], where: str) -> Problem:
    try:
        return kernel.problem_type.parse(fields)
    except InvalidProblem as error:
        raise InvalidInput(f"{where}: {error.message}") from None
