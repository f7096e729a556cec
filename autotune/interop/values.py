"""Values of parameters: those of other tuners in our configs, and back without loss.

A value here is a whole number or text. Other tuners also have fractions, truth values and
nothing: they become the text that Python writes for them (``2.45``, ``True``), as in the keys
of Kernel Tuner's own caches. The list of a parameter's values keeps what each text stood for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from autotune.errors import InvalidInput
from autotune.interop.harvest import Scalar
from autotune.records import Config, Value
from autotune.space import Parameter

WHOLE_LIMIT = 2**63
_SCALARS = (int, str, float, bool, type(None))


def is_scalar(value: Any) -> bool:
    """Return whether ``value`` may be the value of a parameter."""
    return type(value) in _SCALARS


def encoded(value: Scalar) -> Value:
    """Return a value as our configs hold it."""
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    return str(value)


class Codec:
    """Translate configurations of one space.

    Args:
        parameters: Every value of each parameter.
        where: What the parameters stand in, for messages.

    Raises:
        InvalidInput: Two values of a parameter have the same text, or one is no single value.
    """

    def __init__(self, parameters: Mapping[str, Iterable[Scalar]], where: str) -> None:
        self._values = {
            name: _by_text(values, f"{where}: parameter {name!r}")
            for name, values in parameters.items()
        }
        self._texts = {
            name: {_identity(value): text for text, value in values.items()}
            for name, values in self._values.items()
        }
        for name in self._values:
            if not (name and name.isprintable()):
                raise InvalidInput(f"{where}: parameter {name!r} must have a printable name")

    def parameters(self) -> tuple[Parameter, ...]:
        """Return the parameters of the space; numbers stand in order of their size."""
        return tuple(_parameter(name, originals) for name, originals in self._values.items())

    def config(self, configuration: Any, where: str) -> Config:
        """Return ``configuration``, a value by name, as a config.

        Raises:
            InvalidInput: A parameter is unknown or missing, or has a value that is not listed.
        """
        if not isinstance(configuration, dict):
            raise InvalidInput(f"{where}: must be an object, not {configuration!r:.60}")
        try:
            found = {name: self._texts[name][_identity(v)] for name, v in configuration.items()}
        except KeyError:
            found = {}
        if len(found) < len(self._texts):
            raise InvalidInput(f"{where}: {self._fault(configuration)}")
        return Config(found)

    def original(self, config: Mapping[str, Value]) -> dict[str, Scalar]:
        """Return a config as its tuner wrote it."""
        return {name: values[config[name]] for name, values in self._values.items()}

    def _fault(self, configuration: Mapping[str, Any]) -> str:
        """Return what is wrong with a configuration that is not of this space."""
        for name in self._texts:
            if name not in configuration:
                return f"parameter {name!r} is missing"
        for name, value in configuration.items():
            if name not in self._texts:
                return f"unknown parameter {name!r}; there are {', '.join(self._texts)}"
            if _identity(value) not in self._texts[name]:
                listed = ", ".join(map(repr, self._values[name].values()))
                return f"{name}={value!r:.40} is not one of {listed:.200}"
        return "it is not of this space"


def completed(
    listed: Mapping[str, Any],
    names: Iterable[str],
    configurations: Iterable[Mapping[str, Any]],
) -> dict[str, list[Any]]:
    """Return every value of each parameter: those listed, then those that only rows have.

    Args:
        listed: Values by parameter; what is no list is a list of one.
        names: Parameters that come first, in this order.
        configurations: The rows' values by parameter.
    """
    found: dict[str, dict[Any, Any]] = {name: {} for name in (*names, *listed)}
    for name, values in listed.items():
        for value in values if isinstance(values, list) else [values]:
            found[name].setdefault(_identity(value), value)
    for configuration in configurations:
        for name, value in configuration.items():
            found.setdefault(name, {}).setdefault(_identity(value), value)
    return {name: list(values.values()) for name, values in found.items() if values}


def _identity(value: Any) -> Any:
    """Return what tells values apart; 1, 1.0 and True are three."""
    kind = type(value)
    return (kind, value) if kind in _SCALARS else repr(value)


def _by_text(values: Iterable[Any], where: str) -> dict[Value, Scalar]:
    found: dict[Value, Scalar] = {}
    for value in values:
        if not is_scalar(value) or (isinstance(value, int) and abs(value) >= WHOLE_LIMIT):
            raise InvalidInput(f"{where}: {value!r:.60} is no number, text or truth value")
        text = encoded(value)
        if not _same(found.setdefault(text, value), value):
            raise InvalidInput(f"{where}: {found[text]!r} and {value!r} cannot be told apart")
    if not found:
        raise InvalidInput(f"{where}: has no values")
    return found


def _same(one: object, other: object) -> bool:
    return type(one) is type(other) and one == other


def _parameter(name: str, originals: Mapping[Value, Scalar]) -> Parameter:
    sizes = {
        text: value
        for text, value in originals.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    if len(sizes) < len(originals):
        return Parameter(name, tuple(originals), ordered=False)
    return Parameter(name, tuple(sorted(sizes, key=sizes.__getitem__)))
