from __future__ import annotations

import re
from pathlib import Path

import pytest

from autotune.errors import InvalidInput
from autotune.records import STANDARD
from autotune.study import load_study, parse_duration_s

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


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("trials = 10", "trails = 10", r"unknown key 'search\.trails'; allowed: .*\btrials\b"),
        ("[search]", "[serach]", r"unknown key 'serach'; allowed: .*\bsearch\b"),
        ("trials = 10", "trials = 0", r"search\.trials: .*greater than or equal to 1"),
        ("trials = 10", 'trials = "10"', r"search\.trials: .*valid integer"),
        ("trials = 10", 'sampler = "magic"', r"search\.sampler: 'magic' .*allowed: .*\btpe\b"),
        ('"5m"', '"soon"', r"search\.time_budget: 'soon' is not a duration"),
        ('"5m"', "300", r"search\.time_budget: 300 is not a duration"),
        ('"standard"', '"slow"', r"policy\.preset: 'slow' .*allowed: quick, standard, careful"),
        ("max_samples = 9", "max_samples = 2", r"policy\.min_samples: 5 is above max_samples=2"),
        ("max_samples = 9", 'cache = "warm"', r"policy\.cache: .*pattern"),
        ('name = "sums"', "", r"missing key 'name'"),
        ("[4], [8]", "[-1], [8]", r"problems\.shapes\[0\]: .*n must be 0 or more, not -1"),
        ("[4], [8]", "[4, 4], [8]", r"problems\.shapes\[0\]: \[4, 4\] must hold 1 numbers: n"),
        ("n = 16", "m = 16", r"problem\[0\]: .*unknown field 'm'; allowed: n, dtype"),
        ("adder.py:Adder", "adder.py:Nobody", r"no class 'Nobody'"),
        ("adder.py:Adder", "nowhere.py:Adder", r"nowhere\.py' does not exist"),
        ("adder.py:Adder", "nothing", r"no kernel named 'nothing'; installed: .*gemm"),
        ("name =", "name", r"not a readable TOML file"),
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


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InvalidInput, match=r"nothing\.toml' does not exist"):
        load_study(tmp_path / "nothing.toml")


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
