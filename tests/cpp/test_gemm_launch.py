"""The rule in C++ starts what the kernel in Python starts."""

from __future__ import annotations

import dataclasses
import math
import random
import subprocess
from pathlib import Path

import pytest

from autotune.bundle.write import described
from autotune.cpp import INCLUDE
from autotune.dispatch import broken_condition
from autotune.errors import InvalidProblem
from autotune.records import Scalar, TensorMap, load_kernel
from autotune.records.targets import TARGETS
from kernel_space.gemm.problem import DTYPES, LAYOUTS

HERE = Path(__file__).parent
PAIRS = 2000
CONFIGS_OF_A_SPACE = 20
STEPS = 5
NUMBERS = ("tile_m", "tile_n", "cluster_m", "cluster_n", "split_k", "raster_group")
WORDS = ("operands", "raster", "repack", "epilogue")


@pytest.fixture(scope="module")
def gemm():
    return load_kernel("gemm")


def drawn_problem(draw, gemm):
    while True:
        sizes = [draw.choice((1, 8, 64)) * draw.randint(1, 200) for _ in range(3)]
        try:
            return gemm.problem_type(*sizes, draw.choice([*DTYPES]), draw.choice(LAYOUTS))
        except InvalidProblem:
            continue


def configs(draw, gemm, problem, target):
    """Walk through a space from its default, and yield valid configs of it."""
    space = gemm.space(problem, target)
    config = gemm.default(problem, target)
    for _ in range(CONFIGS_OF_A_SPACE):
        for _ in range(STEPS):
            changes = {p.name: draw.choice(p.values) for p in draw.sample(space.parameters, 2)}
            if space.broken(changed := config.replace(**changes)) is None:
                config = changed
        yield config


def admitted(draw, gemm, own, conditions):
    """Return another problem that the conditions of ``own`` admit, or ``own``."""
    sizes = {}
    for name in ("m", "n", "k"):
        of_field = [c for c in conditions if c.field == name]
        step = math.lcm(*(c.multiple_of for c in of_field))
        least = max([0, *(c.at_least or 0 for c in of_field)])
        size = draw.choice((0, 1, draw.randint(1, 300), draw.randint(1, 20_000)))
        sizes[name] = math.ceil(max(least, size) / step) * step
    try:
        other = dataclasses.replace(own, **sizes)
    except InvalidProblem:
        return own
    return other if broken_condition(conditions, other.as_dict()) is None else own


def launches(gemm, own, config, target):
    """Return what a manifest says: of the own problem, of whole rows and of ragged ones."""
    found, conditions = {}, gemm.conditions(own, config)
    even = 256 * math.ceil(max(1, own.n) / 256)
    for n in (own.n, even, even + 1, even + 8):
        problem = dataclasses.replace(own, n=n)
        if broken_condition(conditions, problem.as_dict()) is None:
            header = gemm.unit(problem, config, target).header
            found.setdefault(header, described(gemm.launch(problem, config, target)))
    return list(found.values())


def line(config, problem, target, found):
    words = [*(config[name] for name in (*NUMBERS, *WORDS)), *problem.as_dict().values()]
    words += [target.sm_count, len(found)]
    for each in found:
        maps = [a for a in each["arguments"] if a["kind"] == "tensor_map"]
        words += [*each["block"].values(), each["shared_bytes"], int(each["overlaps"]), len(maps)]
        names = ("operand", "box_rows", "box_columns", "swizzle_bytes", "l2_promotion_bytes")
        words += [one[name] for one in maps for name in names]
    return " ".join(map(str, words))


def told(launch):
    """Return a launch of Python as ``gemm_plans.cpp`` prints one."""
    text = ""
    for step in launch.steps:
        grid, block = (" ".join(map(str, extents)) for extents in (step.grid, step.block))
        text += f"[{step.entry}] {grid} / {block} / {step.shared_bytes} {int(step.overlaps)} /"
        text += "".join(f" {argument_text(each)}" for each in step.arguments) + " ; "
    return text + "".join(f"{each.name}={each.size_bytes} " for each in launch.scratch if text)


def argument_text(argument):
    match argument:
        case Scalar():
            return f"{argument.dtype}:{argument.value}"
        case TensorMap():
            rows, columns = argument.operand.shape
            cut = f"{argument.box[0]}x{argument.box[1]}:{argument.swizzle_bytes}"
            of = f"{argument.operand.name}:{argument.operand.dtype}:{rows}x{columns}"
            return f"{of}:{cut}:{argument.l2_promotion_bytes}"
        case _:
            return argument


def test_python_and_cpp_start_the_same(compile_cpp, gemm):
    draw, lines, expected = random.Random(5), [], []
    while len(lines) < PAIRS:
        target = TARGETS[draw.choice(("sm_80", "sm_90a", "sm_90a", "sm_90a"))]
        own = drawn_problem(draw, gemm)
        if target.capability < 90 and own.input_dtype == "e4m3":
            continue
        for config in configs(draw, gemm, own, target):
            here = dataclasses.replace(target, sm_count=draw.choice((16, 114, 132)))
            problem = admitted(draw, gemm, own, gemm.conditions(own, config))
            lines.append(line(config, problem, here, launches(gemm, own, config, target)))
            expected.append(told(gemm.launch(problem, config, here)))
    program = compile_cpp(HERE / "gemm_plans.cpp", include=[INCLUDE])
    text = "\n".join(lines)
    done = subprocess.run([program], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    for given, ours, theirs in zip(lines, done.stdout.splitlines(), expected, strict=True):
        assert ours == theirs, given
    for shown in ("packed_a=", "packed_b=", "scale", " c:", "pack]", "int64:0"):
        assert any(shown in each for each in expected)
