"""A C++ product for fault campaigns: one fault among candidates that are right and ever slower.

``work`` is how often a right candidate computes its answer, so that the one with the least is
the winner by far. A fault comes with the least work; what stays right takes eight times that.
"""

from __future__ import annotations

import dataclasses
import re
import sys
from pathlib import Path

from autotune.records import Config, Operand, SourceUnit, load_kernel
from autotune.space import Constraint, Parameter, Space

SOURCE = Path(__file__).with_suffix(".cpp")
LEAST = 1
ENDLESS = ("-fconstexpr-loop-limit=2147483647", "-fconstexpr-ops-limit=9223372036854775807")
UNHOLDABLE = 1 << 52  # elements

# Faults of the compile are text of the generated header.
HEADERS = {
    "syntax": "this is no C++\n",
    "asserts": 'static_assert(false, "this configuration must not compile");\n',
    "missing_header": '#include "absent.h"\n',
    "computed_include": '#define ABSENT "absent.h"\n#include ABSENT\n',
    "includes_itself": '#include "config.h"\n',
    "no_entry": "#define matmul another_name\n",
    "undefined": 'extern "C" void nobody();\nstatic void (*volatile absent)() = nobody;\n',
    "many_errors": "#error no\n" * 2_000,
    "deep_template": "template <int N> constexpr int deep = deep<N - 1>;\n"
    "static_assert(deep<100000> == 0);\n",
    "endless_compile": "constexpr long ages() {\n    long sum = 0;\n"
    "    for (long i = 0; i < 1000000; ++i)\n"
    "        for (long j = 0; j < 1000000; ++j) sum += j;\n    return sum;\n}\n"
    "static_assert(ages() != 1);\n",
}
OPTIONS = {"endless_compile": ENDLESS, "native": ("-march=native",)}
ASKED = ("unit_raises", "launch_raises", "launch_exits", "lane_exits", "unknown_operand")
LAUNCHES = ("empty_grid", "too_much_scratch")
_ENUM = SOURCE.read_text().partition("enum class Fault {")[2].partition("}")[0]
_GROUPS = [
    re.findall(r"\w+", re.sub("//.*", "", group)) for group in re.split(r"(?=// It )", _ENUM)
]
IN_SOURCE = frozenset(name for group in _GROUPS for name in group)
CALM = frozenset({"victim", *_GROUPS[1]})  # those that stay right
FAULTS = ("none", *sorted(IN_SOURCE - {"none"}), *LAUNCHES, *ASKED, *HEADERS, "native")


class FaultyHost(type(load_kernel("host_matmul"))):
    name = "faulty_host"

    def space(self, problem, target):
        return Space(
            (
                Parameter("work", (LEAST, 4, 16, 64)),
                Parameter("fault", FAULTS, ordered=False),
            ),
            (Constraint("one fault", _only_with_least_work),),
        )

    def default(self, problem, target):
        return Config(work=4, fault="none")

    def unit(self, problem, config, target):
        fault = config["fault"]
        if fault == "unit_raises":
            raise KeyError("no source")
        rounds = config["work"] * (8 if fault in CALM else 1)
        return SourceUnit(
            language="c++",
            main=SOURCE,
            header=f"constexpr Fault FAULT = Fault::{fault if fault in IN_SOURCE else 'none'};\n"
            f'constexpr int ROUNDS = {rounds};\nconstexpr char NAME[] = "{fault}";\n'
            + HEADERS.get(fault, ""),
            entry="matmul",
            options=OPTIONS.get(fault, ()),
        )

    def launch(self, problem, config, target):
        launch, fault = super().launch(problem, config, target), config["fault"]
        in_lane = "autotune.process.serve" in sys.modules
        match fault:
            case "launch_raises":
                raise ValueError("no launch")
            case "launch_exits":
                raise SystemExit(0)
            case "lane_exits" if in_lane:
                raise SystemExit(0)
            case "unknown_operand":
                return dataclasses.replace(launch, arguments=("a", "b", "d"))
            case "empty_grid" if in_lane:
                return dataclasses.replace(launch, grid=(0, 1, 1))
            case "too_much_scratch" | "trusts_scratch" | "beyond_scratch":
                count = UNHOLDABLE if fault == "too_much_scratch" else problem.n
                scratch = Operand(name="w", dtype="fp32", shape=(count,))
                arguments = (*launch.arguments, "w")
                return dataclasses.replace(launch, scratch=(scratch,), arguments=arguments)
        return launch


def _only_with_least_work(work, fault):
    return None if fault == "none" or work == LEAST else "a fault comes with the least work"
