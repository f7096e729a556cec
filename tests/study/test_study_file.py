from __future__ import annotations

import re
from pathlib import Path

import pytest

from autotune.errors import InvalidInput
from autotune.records import STANDARD
from autotune.study import StudySpec, load_study, parse_duration_s

KERNEL = """
from autotune.records import Problem, Kernel
from dataclasses import dataclass

@dataclass(frozen=True)
class Sum(Problem):
    n: int
    dtype: str = "fp32"

    def validate(self):
        from autotune.errors import InvalidProblem
        if self.n < 0:
            raise InvalidProblem(f"problem: n must be 0 or more, not {self.n}")

class Adder(Kernel):
    name = "adder"
    problem_type = Sum
    scaled_fields = ("n",)
    def space(self, problem, target): ...
    def default(self, problem, target): ...
    def unit(self, problem, config, target): ...
    def launch(self, problem, config, target): ...
    def operands(self, problem): ...
    def reference(self, problem, inputs, xp): ...
    def tolerance(self, problem): ...
    def cost(self, problem): ...
"""

GOOD = """
name = "sums"
kernel = "adder.py:Adder"
[search]
trials = 10
time_budget = "5m"
[policy]
preset = "standard"
max_samples = 9
[problems]
dtype = "fp32"
shapes = [[4], [8], [4]]
[[problem]]
n = 16
"""


@pytest.fixture
def study(tmp_path: Path):
    (tmp_path / "adder.py").write_text(KERNEL)

    def write(text: str) -> Path:
        path = tmp_path / "study.toml"
        path.write_text(text)
        return path

    return write


def test_a_study_file_says_everything(study):
    spec = load_study(study(GOOD))
    assert [problem.n for problem in spec.problems] == [16, 4, 8]
    assert spec.time_budget_s == 300
    assert spec.policy == STANDARD.replace(max_samples=9)
    assert spec.kernel.name == "adder"
    assert Path(spec.kernel_ref.split(":")[0]).is_absolute()
    assert spec.goals == ("time",)


def test_what_a_file_leaves_out_is_as_in_a_study_that_is_no_file(study):
    path = study('name = "plain"\nkernel = "adder.py:Adder"\n[problems]\nshapes = [[4]]\n')
    found = load_study(path)
    assert found == StudySpec(
        name="plain",
        kernel_ref=found.kernel_ref,
        kernel=found.kernel,
        problems=found.problems,
        policy=STANDARD,
    )


def test_what_a_goal_takes_to_measure_is_asked_for_unless_the_file_says_how(study):
    named = GOOD.replace("kernel =", 'goals = ["energy", "time", "error"]\nkernel =')
    own = named.replace("max_samples = 9", "energy_ms = 50")

    assert load_study(study(named)).goals == ("time", "energy", "error")
    assert load_study(study(named)).policy == STANDARD.replace(
        max_samples=9, energy_ms=400, error=True
    )
    assert load_study(study(own)).policy == STANDARD.replace(energy_ms=50, error=True)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("trials = 10", "trails = 10", r"unknown key 'search\.trails'; allowed: .*\btrials\b"),
        ("[search]", "[serach]", r"unknown key 'serach'; allowed: .*\bsearch\b"),
        ("trials = 10", "trials = 0", r"search\.trials: .*at least 1, not 0"),
        ("trials = 10", 'trials = "10"', r"search\.trials: must be a whole number, not '10'"),
        ("trials = 10", 'sampler = "magic"', r"search\.sampler: 'magic' .*allowed: .*\btpe\b"),
        (
            "kernel =",
            "goals = ['time', 'speed']\nkernel =",
            r"no goal named 'speed'; allowed",
        ),
        ("kernel =", "goals = ['error']\nkernel =", r"goals: error: 'time' must be one of them"),
        ("kernel =", "goals = 'time'\nkernel =", r"goals: must be a list, not 'time'"),
        (
            "[search]",
            "goals = ['time', 'registers']\n[search]\nsampler = 'gp'",
            r"sampler gp has one goal, time; with several, allowed: auto, tpe, random, exhaustive",
        ),
        (
            "[search]",
            "goals = ['time', 'registers']\n[search]\nstop_chance = 0.1",
            r"search\.stop_chance: a gain is foreseen of time alone; give it one goal",
        ),
        (
            '[search]\ntrials = 10\ntime_budget = "5m"\n[policy]',
            "goals = ['time', 'error']\n[policy]\nerror = false",
            r"policy\.error: the goal error needs what this turns off",
        ),
        (
            '[search]\ntrials = 10\ntime_budget = "5m"\n[policy]',
            "goals = ['time', 'energy']\n[policy]\nenergy_ms = 0",
            r"policy\.energy_ms: the goal energy needs what this turns off",
        ),
        ('"5m"', '"soon"', r"search\.time_budget: 'soon' is not a duration"),
        ('"5m"', "300", r"search\.time_budget: 300 is not a duration"),
        ('"standard"', '"slow"', r"policy\.preset: 'slow' .*allowed: quick, standard, careful"),
        ("max_samples = 9", "max_samples = 2", r"policy\.min_samples: 5 is above max_samples=2"),
        (
            "max_samples = 9",
            'cache = "warm"',
            r"policy\.cache: must be 'cold' or 'hot', not 'warm'",
        ),
        ('name = "sums"', "", r"missing key 'name'"),
        ("[4], [8]", "[-1], [8]", r"problems\.shapes\[0\]: .*n must be 0 or more, not -1"),
        ("[4], [8]", "[4, 4], [8]", r"problems\.shapes\[0\]: \[4, 4\] must hold 1 numbers: n"),
        ("n = 16", "m = 16", r"problem\[0\]: .*unknown field 'm'; allowed: n, dtype"),
        ("adder.py:Adder", "adder.py:Nobody", r"no class 'Nobody'"),
        ("adder.py:Adder", "nowhere.py:Adder", r"nowhere\.py' does not exist"),
        ("adder.py:Adder", "nothing", r"no kernel named 'nothing'; installed: .*gemm"),
        ("name =", "name", r"not a readable TOML file"),
        ("trials = 10", f"trials = {'9' * 5000}", r"not a readable TOML file: .*4300 digits"),
        ("trials = 10", f"x = {'[' * 3000}{']' * 3000}", r"TOML file: nested too deeply"),
        ("trials = 10", "trials = 10000000", r"search\.trials: .*at most 1000000, not 10000000"),
        ("trials = 10", 'prior = "maybe"', r"search\.prior: must be 'on' or 'off', not 'maybe'"),
        (
            "trials = 10",
            "warm_start = true",
            r"search\.warm_start: must be 'on' or 'off', not True",
        ),
        ("trials = 10", "stop_chance = 1.0", r"search\.stop_chance: .*less than 1"),
        (
            "trials = 10",
            'sampler = "tpe"\nstop_chance = 0.1',
            r"search\.stop_chance: tpe cannot tell .*search\.sampler may be auto or gp",
        ),
        ("trials = 10", 'sampler = ["tpe"]', r"search\.sampler: \['tpe'\] is not a sampler"),
        ('"5m"', f'"{"9" * 400}h"', r"search\.time_budget: '9{40}' is not a duration"),
        ("max_samples = 9", "budget_ms = inf", r"policy\.budget_ms: .*finite"),
        ("max_samples = 9", "warmup_ms = nan", r"policy\.warmup_ms: .*finite"),
        ("max_samples = 9", "precision = 1.0", r"policy\.precision: .*less than 1"),
        ("max_samples = 9", "stop_factor = 0.9", r"stop_factor: 0\.9 .*1 or more, or 0 for never"),
        ("max_samples = 9", "seed = 4294967296", r"policy\.seed: .*less than 4294967296"),
        (
            "[policy]",
            "[limits]\nrun_s = 1e300\n[policy]",
            r"limits\.run_s: must be at most .*, not 1e\+300",
        ),
        ("[problems]", "[limits]\nrun_s = inf\n[problems]", r"limits\.run_s: .*finite"),
        ('name = "sums"', 'name = "sums"\nlimits = 3', r"limits: must be a table"),
        ('name = "sums"', 'name = "su\\nms"', r"name: 'su\\nms' must be printable"),
        ('name = "sums"', 'name = " sums"', r"name: ' sums' must be printable"),
        ('name = "sums"', 'name = "a\\u001b[31m"', r"name: .*must be printable"),
        ("[4], [8]", '["4"], [8]', r"problems\.shapes\.0\.0: must be a whole number, not '4'"),
        ('dtype = "fp32"', "n = 3", r"problems\.n: problems\.shapes\[0\] gives n already"),
        ("adder.py:Adder", "a\\u0000b.py:Adder", r"is not the name of a file"),
        ("adder.py:Adder", f"{'a' * 5000}.py:Adder", r"does not exist"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_with_file_and_key(study, old, new, says):
    path = study(GOOD.replace(old, new, 1))
    with pytest.raises(InvalidInput) as caught:
        load_study(path)
    message = caught.value.message
    assert re.search(says, message)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message


def test_a_kernel_without_scaled_fields_has_no_shapes(study, tmp_path):
    (tmp_path / "adder.py").write_text(KERNEL.replace('scaled_fields = ("n",)', ""))
    with pytest.raises(InvalidInput, match=r"kernel 'adder' has no scaled fields") as caught:
        load_study(study(GOOD))
    assert "[[problem]]" in caught.value.hint


def test_a_prior_is_used_unless_it_is_off(study):
    assert load_study(study(GOOD)).prior
    assert not load_study(study(GOOD.replace("trials = 10", 'prior = "off"'))).prior


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InvalidInput, match=r"nothing\.toml' does not exist"):
        load_study(tmp_path / "nothing.toml")


@pytest.mark.parametrize("content", [b"", b'name = "\xff"', b"\0" * 9, b"\xef\xbb\xbfname = 1"])
def test_a_file_that_is_no_study_is_named(tmp_path, content):
    path = tmp_path / "odd.toml"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=r"odd\.toml: (missing key|not a readable TOML file)"):
        load_study(path)


def test_a_path_that_is_no_file_is_named(tmp_path):
    loop = tmp_path / "loop.toml"
    loop.symlink_to(loop)
    for path in (tmp_path, loop, tmp_path / ("x" * 5000), Path("a\0b")):
        with pytest.raises(InvalidInput, match="not a readable TOML file"):
            load_study(path)


def test_a_study_without_problems_is_refused(study):
    with pytest.raises(InvalidInput, match="no problem: give"):
        load_study(study('name = "x"\nkernel = "adder.py:Adder"\n'))


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("5m", 300), ("1.5h", 5400)])
def test_durations(text, seconds):
    assert parse_duration_s(text) == seconds


@pytest.mark.parametrize("text", ["", "5", "0s", "-1s", "5 days", "nan", "1e3s"])
def test_what_is_not_a_duration_is_refused(text):
    with pytest.raises(ValueError, match="not a duration"):
        parse_duration_s(text)
