"""``autotune score``, on small made-up files and on the recording that ships."""

from __future__ import annotations

import csv
import io
import json
import os

import pytest

SMALL = (
    "h200",
    "--kernel",
    "gemm",
    "--problem",
    "m=900",
    "--samplers",
    "random,local",
    "--repeats",
    "3",
)
KERNEL_TUNER = os.environ.get("AUTOTUNE_KERNEL_TUNER", "")
NAMES = ("x", "y", "z")


@pytest.fixture
def bowl(here):
    """A cache of Kernel Tuner without costs: 512 configurations, the best in the middle."""
    values = list(range(8))
    rows = (
        dict(zip(NAMES, (x, y, z), strict=True)) for x in values for y in values for z in values
    )
    cache = {
        ",".join(str(row[name]) for name in NAMES): {
            **row,
            "time": 1.0 + sum((row[name] - 4.3) ** 2 for name in NAMES),
        }
        for row in rows
    }
    about = {"device_name": "Some GPU", "kernel_name": "bowl", "problem_size": [1]}
    listed = {"tune_params_keys": NAMES, "tune_params": dict.fromkeys(NAMES, values)}
    path = here / "bowl.json"
    path.write_text(json.dumps({**about, **listed, "cache": cache}))
    return path


def test_a_recording_that_ships_is_scored_on_every_problem_that_is_wanted(autotune, here):
    ended = autotune("score", *SMALL)
    assert ended.code == 0, ended.err
    rows = [line.split() for line in ended.out.splitlines() if line.startswith(("random", "local"))]
    assert [row[0] for row in rows] == ["random", "local"]
    assert "gemm m=900,n=900,k=900,dtype=bf16,layout=nt NVIDIA H200" in ended.out
    assert [*here.iterdir()] == []


def test_costs_that_a_few_configurations_decide_are_pointed_out(autotune):
    words = ("score", "h200", "--kernel", "gemm", "--problem", "m=4096,n=4096")
    words += ("--samplers", "random", "--repeats", "2")
    told = "times the median, as where some were compiled"
    assert told in autotune(*words).err
    assert told not in autotune(*words, "--equal-costs").err


def test_a_file_of_another_tuner_is_scored_and_left_alone(autotune, here, bowl):
    before = bowl.read_bytes()
    ended = autotune("score", bowl, "--samplers", "random,local", "--repeats", "10")
    assert ended.code == 0, ended.err
    assert "note: bowl x=1 on Some GPU: no costs are recorded" in ended.err
    assert (bowl.read_bytes(), [*here.iterdir()]) == (before, [bowl])


def test_several_problems_have_a_mean(autotune, here, bowl):
    (here / "other.json").write_text(bowl.read_text().replace("Some GPU", "Another GPU"))
    words = ("score", bowl, "other.json", "--samplers", "random,local", "--repeats", "3")
    told = json.loads(autotune(*words, "--equal-costs", "--format", "json", "-q").out)
    assert [mean["sampler"] for mean in told["means"]] == ["random", "local"]
    for mean in told["means"]:
        scores = [row["score"] for row in told["scores"] if row["sampler"] == mean["sampler"]]
        assert mean["score"] == pytest.approx(sum(scores) / 2)
        assert mean["worst"] == min(scores)
        assert mean["interval"][0] <= mean["score"] <= mean["interval"][1]
    assert told["command"] == (
        "autotune score bowl.json other.json --samplers random,local --repeats 3 --equal-costs"
    )


def test_scripts_get_every_field(autotune, bowl):
    words = ("score", bowl, "--samplers", "random,local", "--repeats", "5", "-q", "--format")
    (row, _) = json.loads(autotune(*words, "json").out)["scores"]
    assert (row["configs"], row["right"], row["repeats"], row["priced"]) == (512, 512, 5, False)
    flat = list(csv.DictReader(io.StringIO(autotune(*words, "csv").out)))
    assert [row["sampler"] for row in flat] == ["random", "local"]
    assert float(flat[0]["quality.50.median"]) == row["quality"]["50"]["median"]


def test_repeats_and_curves_are_kept_and_drawn_alike_each_time(autotune, here, bowl):
    words = ("score", bowl, "--samplers", "random,local", "--repeats", "3", "-q")
    for name in "ab":
        assert autotune(*words, "--json", f"{name}.json", "--plot", f"{name}.svg").code == 0
    assert (here / "a.svg").read_bytes() == (here / "b.svg").read_bytes()
    assert "local" in (here / "a.svg").read_text()
    kept = json.loads((here / "a.json").read_text())
    assert kept == json.loads((here / "b.json").read_text())
    for row in kept["scores"]:
        assert (len(row["curve"]), len(row["each"])) == (1000, 3)
        told = [gain for gain in row["curve"] if gain is not None]
        assert row["score"] == pytest.approx(sum(told) / len(told))


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("no.json",), "no recording 'no.json'"),
        (("h200", "--samplers", "best"), "no sampler named 'best'"),
        (("h200", "--samplers", ","), "--samplers names none"),
        (("h200", "--problem", "m=7"), "no recorded problem matches"),
        (("h200", "--plot", "a.pdf"), "must end in .svg or .png"),
        (("h200", "--json", "no/a.json"), "there is no folder"),
        (
            ("h200", "--samplers", "kernel_tuner:pso", "--kernel-tuner", "no/python"),
            "no/python has no Kernel Tuner: it cannot be started",
        ),
    ],
)
def test_what_cannot_be_scored_is_refused_at_once(autotune, here, words, reason):
    ended = autotune("score", *words)
    assert ended.code in {2, 3}
    assert ended.out == ""
    assert reason in ended.err
    assert [*here.iterdir()] == []


@pytest.mark.parametrize(("script", "reason"), [("echo hi", "answers 'hi"), ("kill -9 $$", "-9")])
def test_a_program_that_is_no_kernel_tuner_is_refused(autotune, here, script, reason):
    program = here / "python"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    asked = ("--samplers", "kernel_tuner:pso", "--kernel-tuner", "./python")
    ended = autotune("score", "h200", *asked)
    assert ended.code == 2
    assert "./python has no Kernel Tuner: " in ended.err
    assert reason in ended.err


def test_without_another_interpreter_this_one_is_asked(autotune, monkeypatch):
    monkeypatch.delenv("AUTOTUNE_KERNEL_TUNER", raising=False)
    ended = autotune("score", "h200", "--samplers", "kernel_tuner:no_such_strategy")
    assert ended.code == 2
    assert "Kernel Tuner" in ended.err


needs_kernel_tuner = pytest.mark.skipif(
    not KERNEL_TUNER, reason="AUTOTUNE_KERNEL_TUNER names no interpreter that has Kernel Tuner"
)


@needs_kernel_tuner
def test_strategies_of_kernel_tuner_are_scored_by_the_same_rule(autotune, bowl):
    samplers = "random,kernel_tuner:random_sample,kernel_tuner:genetic_algorithm"
    words = ("score", bowl, "--samplers", samplers, "--repeats", "20", "--format", "json", "-q")
    one, two = (json.loads(autotune(*words, "--jobs", jobs).out) for jobs in (1, 2))
    assert one["scores"] == two["scores"]
    ours, theirs, genes = (row["score"] for row in one["scores"])
    assert abs(ours - theirs) < 0.3
    assert genes > max(ours, theirs)


@needs_kernel_tuner
def test_a_strategy_that_is_not_there_or_not_sound_is_refused(autotune, bowl):
    for name in ("no_such", "greedy_mls"):
        ended = autotune("score", bowl, "--samplers", f"kernel_tuner:{name}")
        assert ended.code == 2
        assert f"strategy {name!r} of Kernel Tuner" in ended.err
