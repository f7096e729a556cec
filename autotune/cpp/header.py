"""The text of the header that `autotune header` writes: one table, as C++17 constants."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from math import prod

from autotune.cpp.layout import Asked, Group, Layout, Value, factors, shift
from autotune.cpp.names import comment, identifier, identifiers, literal
from autotune.cpp.packed import binaries_text, described_text, launches_text
from autotune.cpp.text import array, braced, nested
from autotune.dispatch import Condition, KernelTable, Table
from autotune.dispatch.bundle import Bundle

_TAKEN = ("Problem", "Config", "Data", "configs", "lookup", "config", "launches", "binaries")
_LARGEST = (1 << 63) - 1


def header_text(source: Table | Bundle, name: str) -> str:
    """Return a header with a namespace for each kernel, inside one called ``name``."""
    table = source.table if isinstance(source, Bundle) else source
    bundle = source if isinstance(source, Bundle) else None
    device = table.device
    about = (
        f"Written by autotune from {table.name}: do not edit.",
        f"Of {device.name} ({device.arch}, {device.sm_count} multiprocessors), {table.created}.",
    )
    parts = [
        *(f"// {comment(line)}" for line in about),
        "#pragma once\n",
        '#include "autotune/lookup.hpp"',
        *(['#include "autotune/gemm.hpp"\n#include "autotune/launch.hpp"'] if bundle else []),
        f"\nnamespace {identifier(name)} {{\n",
        *([binaries_text(bundle)] if bundle else []),
    ]
    for kernel, space in zip(table.kernels.values(), identifiers(table.kernels), strict=True):
        launches = _launches(bundle, kernel) if bundle else []
        parts += [f"namespace {space} {{\n", _kernel(kernel), *launches]
        parts.append(f"}}  // namespace {space}\n")
    return "\n".join([*parts, f"}}  // namespace {identifier(name)}", ""])


def _launches(bundle: Bundle, kernel: KernelTable) -> list[str]:
    return [launches_text(bundle, kernel), described_text(kernel, field_names(kernel))]


def _kernel(kernel: KernelTable) -> str:
    layout = Layout(kernel)
    return "\n".join(
        [
            *_enumerations(layout),
            _problem(layout),
            _configs(layout),
            _data(layout),
            _functions(layout),
        ]
    )


def _enumerations(layout: Layout) -> Iterator[str]:
    names, kinds = field_names(layout.table), type_names(layout)
    for field, values in layout.values.items():
        yield _enumeration(kinds[field], names[field], list(map(str, values)))


def type_names(layout: Layout) -> dict[str, str]:
    """Return the name of the enumeration of each exact field."""
    capitals = [f"{name[:1].upper()}{name[1:]}" for name in layout.values]
    taken = (*_TAKEN, *field_names(layout.table).values())
    names = identifiers([*taken, *capitals])[len(taken) :]
    return dict(zip(layout.values, names, strict=True))


def field_names(kernel: KernelTable) -> dict[str, str]:
    """Return the member of ``Problem`` for each field, scaled ones first."""
    fields = (*kernel.scaled_fields, *kernel.exact_fields)
    return dict(zip(fields, identifiers(fields), strict=True))


def _enumeration(kind: str, name: str, values: Sequence[str]) -> str:
    texts = f"std::array<std::string_view, {len(values)}>"
    return "\n".join(
        [
            f"enum class {kind} : std::uint8_t {{ {', '.join(identifiers(values))} }};",
            f"inline constexpr {texts} {name}_names{nested(map(literal, values))};",
            f"inline std::optional<{kind}> {name}_from(std::string_view text) {{",
            f"    const auto at = autotune::index_of({name}_names, text);",
            f"    return at ? std::optional<{kind}>(static_cast<{kind}>(*at)) : std::nullopt;",
            "}\n",
        ]
    )


def _problem(layout: Layout) -> str:
    names, kinds = field_names(layout.table), type_names(layout)
    members = [f"std::int64_t {names[field]} = 0;" for field in layout.table.scaled_fields]
    members += [f"{kinds[field]} {names[field]}{{}};" for field in layout.table.exact_fields]
    return "\n".join(["struct Problem {", *(f"    {member}" for member in members), "};\n"])


def _configs(layout: Layout) -> str:
    names = sorted(layout.answers[0].config) if layout.answers else []
    columns = {name: [answer.config[name] for answer in layout.answers] for name in names}
    kinds = {name: _kind(values) for name, values in columns.items()}
    members = zip(kinds.values(), identifiers(columns), strict=True)
    rows = zip(*(_column(values) for values in columns.values()), strict=True)
    return "\n".join(
        [
            "struct Config {",
            *(f"    {kind} {member};" for kind, member in members),
            "};",
            array("inline constexpr", "Config", "configs", [braced(row) for row in rows]),
            "",
        ]
    )


def _kind(values: Sequence[Value]) -> str:
    if any(isinstance(value, str) for value in values):
        return "std::string_view"
    wide = any(abs(int(value)) >= 1 << 31 for value in values)
    return "std::int64_t" if wide else "std::int32_t"


def _column(values: Sequence[Value]) -> list[str]:
    text = any(isinstance(value, str) for value in values)
    return [literal(str(value) if text else value) for value in values]


def _data(layout: Layout) -> str:
    table = layout.table
    constants = [
        f"static constexpr std::size_t fields = {len(table.scaled_fields)};",
        f"static constexpr unsigned slot_shift = {shift(len(layout.slots))};",
        f"static constexpr std::int64_t slack = {layout.slack};",
        f"static constexpr unsigned rounds = {layout.rounds};",
    ]
    places = [nested(f"{at}LL" for at in layout.place(some)) for some in layout.sizes]
    arrays: Mapping[str, tuple[str, Sequence[str]]] = {
        "factors": ("std::uint64_t", [f"{each}u" for each in factors(len(table.weights))]),
        "weights": ("std::int64_t", [*map(str, table.weights)]),
        "group_at": ("std::int32_t", [*map(str, layout.group_at)]),
        "groups": ("autotune::Group<fields>", [_group(each) for each in layout.groups]),
        "conditions": ("autotune::Condition", [_condition(*each) for each in layout.conditions]),
        "defaults": (
            "autotune::Default",
            [f"{{{needs}u, {at}}}" for needs, at in layout.defaults],
        ),
        "grids": ("std::uint32_t", [f"{each}u" for each in layout.grids]),
        "cells": (_smallest(len(layout.candidates) + 1), [*map(str, layout.cells)]),
        "candidates": (_smallest(len(layout.sizes)), [*map(str, layout.candidates)]),
        "places": (_SIZES, places),
        "sizes": (_SIZES, [nested(f"{size}LL" for size in some) for some in layout.sizes]),
        "needs": ("std::uint64_t", [f"{needs}u" for needs in layout.needs]),
        "group_of": ("std::uint32_t", [*map(str, layout.group_of)]),
        "slots": ("std::uint32_t", [f"{slot}u" for slot in layout.slots]),
        "steps": ("autotune::Step", [_step(*each) for each in layout.steps]),
        "ends": (_smallest(len(layout.sizes)), [*map(str, layout.ends)]),
    }
    constants += [
        array("static constexpr", kind, name, items) for name, (kind, items) in arrays.items()
    ]
    body = textwrap.indent("\n".join([*constants, _measured(layout)]), "    ")
    return f"struct Data {{\n{body}\n}};\n"


def _step(asked: Sequence[Asked], following: int) -> str:
    bounds, measures = zip(*asked, strict=True)
    return f"{{{nested(f'{each}u' for each in bounds)}, {following}, {nested(map(str, measures))}}}"


def _measured(layout: Layout) -> str:
    """Return the function that takes every measure that a tree may ask for."""
    fields = layout.table.scaled_fields
    values = [
        " * ".join(_FACTORS[kind].format(fields.index(field), unit) for field, unit in units)
        for kind, units in layout.measures
    ]
    sizes = "[[maybe_unused]] const std::array<std::uint64_t, fields>& s"
    return (
        f"static std::array<std::uint64_t, {len(values)}> measured({sizes}) {{\n"
        f"    return {nested(values)};\n"
        "}"
    )


_FACTORS = {"tiles": "((s[{0}] + {1}u - 1u) / {1}u)", "rest": "(s[{0}] % {1}u)"}


_SIZES = "std::array<std::int64_t, fields>"


def _smallest(count: int) -> str:
    bits = next(bits for bits in (8, 16, 32) if count <= 1 << bits)
    return f"std::uint{bits}_t"


def _group(group: Group) -> str:
    ranges = f"{braced(map(str, group.conditions))}, {braced(map(str, group.defaults))}"
    axes = [
        f"{{{axis.lowest}, {axis.cells - 1}, {prod(x.cells for x in group.axes[at + 1 :])}}}"
        for at, axis in enumerate(group.axes)
    ]
    shift_of = group.axes[0].shift if group.axes else 0
    strictest = nested(_condition(at, each) for at, each in enumerate(group.strictest))
    rest = f"{group.grids}, {str(group.masked).lower()}, {group.tree}u"
    return f"{{{ranges}, {strictest}, {nested(axes)}, {shift_of}, {rest}}}"


def _functions(layout: Layout) -> str:
    names, index = field_names(layout.table), "0"
    for field, values in layout.values.items():
        member = f"static_cast<std::size_t>(problem.{names[field]})"
        index = member if index == "0" else f"({index}) * {len(values)} + {member}"
    sizes = ", ".join(f"problem.{names[field]}" for field in layout.table.scaled_fields)
    unused = "" if names else "    static_cast<void>(problem);\n"
    return (
        "// What the table says for a problem. Nothing may serve it if the choice is false.\n"
        "inline autotune::Choice lookup(const Problem& problem) {\n"
        f"{unused}    const std::int32_t group = Data::group_at[{index}];\n"
        f"    return autotune::lookup<Data>(group, {{{sizes}}});\n"
        "}\n\n"
        "inline const Config& config(autotune::Choice choice) { return configs[choice.answer]; }\n"
    )


def _condition(field: int, condition: Condition) -> str:
    least = max(0, condition.at_least or 0)
    most = _LARGEST if condition.at_most is None else condition.at_most
    power = condition.multiple_of & -condition.multiple_of
    odd = condition.multiple_of // power
    return f"{{{field}, {power - 1}LL, {odd}LL, {least}LL, {most - least}u}}"
