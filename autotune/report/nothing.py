"""Why a query found nothing: a name that the database does not have, and those that it has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from autotune.store import Filter, Store


def why_nothing(store: Store, wanted: Filter) -> str:
    """Return what to say where no trial matches ``wanted``."""
    reasons = "; ".join(_reasons(store, wanted))
    return f"no trial matches: {reasons}" if reasons else "no trial matches"


def why_no_best(store: Store, wanted: Filter) -> str:
    """Return what to say where no verified trial matches ``wanted``."""
    if store.best(wanted, unverified=True):
        return "no trial matches that was verified; --unverified shows the others"
    return why_nothing(store, wanted)


def _reasons(store: Store, wanted: Filter) -> Iterator[str]:
    studies = [study.name for study in store.studies()]
    for name in wanted.studies:
        if name not in studies:
            yield _unknown("study", name, studies)
    contexts = [each.context for each in store.contexts()]
    kernels = [context.kernel for context in contexts]
    if wanted.kernel is not None and wanted.kernel not in kernels:
        yield _unknown("kernel", wanted.kernel, kernels)
    if wanted.device is not None and not store.contexts(Filter(device=wanted.device)):
        yield _unknown("device", wanted.device, [context.device.name for context in contexts])
    yield from _problem_reasons([context.problem.as_dict() for context in contexts], wanted)


def _problem_reasons(problems: list[dict[str, int | str]], wanted: Filter) -> Iterator[str]:
    for name, value in wanted.problem.items():
        values = [str(problem[name]) for problem in problems if name in problem]
        if not values:
            fields = [field for problem in problems for field in problem]
            yield _unknown("problem field", name, fields)
        elif str(value) not in values:
            yield f"no problem has {name}={value}; {name} is {_listed(values)}"


def _unknown(kind: str, name: str, known: Iterable[str]) -> str:
    return f"no {kind} {name!r}; the database has {_listed(known)}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names)) or "none"
