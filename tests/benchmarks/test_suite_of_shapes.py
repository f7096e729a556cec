from __future__ import annotations

from pathlib import Path

import pytest
from suite import asked, grouped, shipped

from kernel_space.gemm import GemmProblem

SHARED = Path(__file__).parents[3] / "shared" / "suite.toml"
FILE = """
layout = "nn"
dtype = "fp16"
[groups]
square = [[64, 64, 64], [128, 128, 128]]
odd = [[3, 5, 7]]
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "suite.toml"
    path.write_text(FILE)
    return path


def test_the_shipped_shapes_fall_into_groups_by_what_makes_them_hard():
    groups = grouped(shipped())
    sizes = {name: len(some) for name, some in groups.items()}
    assert sizes == {
        "square": 8,
        "decode": 6,
        "prefill": 7,
        "small_k": 3,
        "tails": 3,
        "unaligned": 5,
    }


@pytest.mark.skipif(not SHARED.exists(), reason="the public suite is not beside this checkout")
def test_the_shipped_shapes_are_those_of_the_public_suite():
    public = asked(suite=SHARED)
    assert {name: set(some) for name, some in grouped(shipped()).items()} == {
        name: set(some) for name, some in public.items()
    }


@pytest.mark.parametrize(
    ("layout", "shape", "group"),
    [
        ("nt", (512, 513, 512), "tails"),  # rows of A and B run along k
        ("nn", (512, 513, 512), "unaligned"),  # those of B along n
        ("tn", (513, 512, 512), "unaligned"),  # those of A along m
        ("tt", (512, 512, 513), "unaligned"),
    ],
)
def test_what_is_unaligned_depends_on_the_layout(layout, shape, group):
    assert list(grouped([GemmProblem(*shape, "bf16", layout)])) == [group]


def test_a_file_brings_groups_dtype_and_layout(file):
    groups = asked(suite=file)
    assert list(groups) == ["square", "odd"]
    assert groups["odd"] == [GemmProblem(3, 5, 7, "fp16", "nn")]


def test_a_group_and_another_layout_can_be_asked_for(file):
    groups = asked(suite=file, names=["odd"], dtype="bf16", layout="tt")
    assert groups == {"odd": [GemmProblem(3, 5, 7, "bf16", "tt")]}


def test_shapes_replace_the_suite():
    groups = asked(shapes=[[4096, 4096, 4096], [16, 64, 64]], dtype="fp16")
    assert groups == {
        "square": [GemmProblem(4096, 4096, 4096, "fp16")],
        "decode": [GemmProblem(16, 64, 64, "fp16")],
    }


def test_a_group_that_is_not_there_is_refused_by_name(file):
    with pytest.raises(SystemExit, match="--group: no 'even'; there are square, odd"):
        asked(suite=file, names=["even"])


@pytest.mark.parametrize(
    "text", ["", "groups = 3", "[groups]\na = [[1, 2]]", "[groups]\na = [[-1, 2, 3]]", "["]
)
def test_a_file_that_is_no_suite_is_refused_by_name(tmp_path, text):
    path = tmp_path / "broken.toml"
    path.write_text(text)
    with pytest.raises(SystemExit, match=r"broken\.toml: no suite of shapes by group"):
        asked(suite=path)


def test_shapes_that_a_dtype_does_not_take_are_left_out_and_counted(capsys):
    groups = asked(shapes=[[64, 64, 64], [64, 64, 72], [300, 200, 24]], dtype="e4m3-bf16")
    assert groups == {"decode": [GemmProblem(64, 64, 64, "e4m3-bf16")]}
    said = capsys.readouterr().err
    assert said.startswith("left out: 2 of 3 shapes: ")
    assert "k a positive multiple of 16" in said
    assert said.count("\n") == 1


def test_nothing_is_said_where_every_shape_is_taken(capsys):
    asked(dtype="fp16", layout="tn")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("shape", "layout"), [((64, 64, 72), None), ((64, 64, 64), "nn")])
def test_no_shape_that_is_left_is_an_error(shape, layout):
    with pytest.raises(SystemExit, match=r"left out: 1 of 1 shapes: .* layout nt and k a positive"):
        asked(shapes=[shape], dtype="e4m3-bf16", layout=layout)


def test_the_shipped_shapes_of_8_bits_are_those_whose_k_is_a_multiple_of_16():
    sizes = {name: len(some) for name, some in asked(dtype="e4m3-bf16").items()}
    assert sizes == {"square": 8, "decode": 6, "prefill": 7, "small_k": 3}
