from __future__ import annotations

import sys

import pytest

from autotune.errors import InvalidInput, InvalidProblem
from autotune.records import Config, Cost, Kernel, ask, installed_kernels, load_kernel

KERNEL_FILE = """
from dataclasses import dataclass
from pathlib import Path

from autotune.records import Config, Cost, Kernel, Launch, Operand, Problem, SourceUnit, Tolerance
from autotune.space import Parameter, Space


@dataclass(frozen=True)
class Length(Problem):
    n: int


class Scale(Kernel):
    name = "scale"
    problem_type = Length

    def space(self, problem, target):
        return Space((Parameter("block", (64, 128)),))

    def default(self, problem, target):
        return Config(block=64)

    def unit(self, problem, config, target):
        return SourceUnit(language="cuda", main=Path("scale.cu"), header="", entry="scale")

    def launch(self, problem, config, target):
        return Launch(grid=(1, 1, 1), block=(64, 1, 1), shared_bytes=0, arguments=("x",))

    def operands(self, problem):
        return (Operand(name="x", dtype="fp32", shape=(problem.n,), output=True),)

    def reference(self, problem, inputs, xp):
        return {"x": xp.zeros(problem.n)}

    def tolerance(self, problem):
        return Tolerance(relative=0.0, absolute=0.0)

    def cost(self, problem):
        return Cost(flop=0, bytes=4 * problem.n)


class NotAKernel:
    pass
"""


@pytest.fixture
def kernel_file(tmp_path):
    path = tmp_path / "scale.py"
    path.write_text(KERNEL_FILE)
    return path


def test_a_kernel_is_loaded_from_a_python_file(kernel_file):
    kernel = load_kernel(f"{kernel_file}:Scale")
    problem = kernel.problem_type.parse({"n": "8"})
    assert list(kernel.space(problem, None)) == [Config(block=64), Config(block=128)]


def test_a_file_loaded_twice_is_one_module(kernel_file):
    reference = f"{kernel_file}:Scale"
    assert type(load_kernel(reference)) is type(load_kernel(reference))


def test_installed_kernels_are_found_by_name():
    assert "gemm" in installed_kernels()
    kernel = load_kernel("gemm")
    assert isinstance(kernel, Kernel)
    assert kernel.name == "gemm"


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("gem", "no kernel named 'gem'; installed: cublas, gemm"),
        ("{folder}/none.py:Scale", "does not exist"),
        ("{folder}/scale.py:Scal", "has no class 'Scal'"),
        ("{folder}/scale.py:NotAKernel", "is not a subclass of autotune.records.Kernel"),
        ("{folder}/scale.py:Path", "is not a subclass of autotune.records.Kernel"),
        ("{folder}/notes.txt:Scale", "is not a Python file"),
    ],
)
def test_what_cannot_be_loaded_is_refused_in_one_line(kernel_file, reference, words):
    (kernel_file.parent / "notes.txt").write_text("class Scale: ...")
    with pytest.raises(InvalidInput, match=words):
        load_kernel(reference.format(folder=kernel_file.parent))


def test_a_file_that_fails_to_load_leaves_no_half_module_behind(tmp_path):
    path = tmp_path / "broken.py"
    path.write_text("import this_module_does_not_exist\n")
    before = set(sys.modules)
    with pytest.raises(InvalidInput, match=r"No module named 'this_module.*broken\.py, line 1"):
        load_kernel(f"{path}:Scale")
    assert not {name for name in set(sys.modules) - before if "autotune_kernel_" in name}
    path.write_text(KERNEL_FILE)
    assert load_kernel(f"{path}:Scale").name == "scale"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("raise SystemExit(7)", "cannot be loaded: SystemExit: 7"),
        ("1 / 0", r"cannot be loaded: ZeroDivisionError: division by zero .*odd\.py, line 1"),
        ("def f(:", r"cannot be loaded: SyntaxError: .*odd\.py, line 1"),
        (
            "class Scale(Scale, ABC):\n    @abstractmethod\n    def more(self): ...",
            "cannot be made",
        ),
        ("Scale.__init__ = lambda self: {}[0]", "cannot be made: KeyError: 0"),
        ("Scale.name = 'two\\nlines'", "name must be a printable word"),
        ("Scale.name = ''", "name must be a printable word"),
        ("Scale.name = 7", "name must be a printable word, not 7"),
        ("del Scale.name", "name must be a printable word, not None"),
        ("Scale.problem_type = dict", "problem_type must be a subclass of"),
        ("Scale.scaled_fields = ('m',)", "scaled_fields names 'm'; a problem has n"),
    ],
)
def test_a_kernel_that_fails_as_it_is_loaded_says_how(tmp_path, text, words):
    path = tmp_path / "odd.py"
    own = "from abc import ABC, abstractmethod\n" + KERNEL_FILE
    path.write_text(text if text[0] in "r1" or "(:" in text else own + text + "\n")
    with pytest.raises(InvalidInput, match=words) as caught:
        load_kernel(f"{path}:Scale")
    assert "\n" not in caught.value.message


def test_what_a_kernel_raises_names_the_question_and_the_line(kernel_file):
    kernel = load_kernel(f"{kernel_file}:Scale")
    problem = kernel.problem_type.parse({"n": 8})
    with pytest.raises(InvalidInput, match=r"'scale': cost\(\) for n=8 returns Cost, not Config"):
        ask(kernel, "cost", problem, gives=Config)
    words = r"cost\(\) for 8 raises AttributeError: .*no attribute 'n' \(.*scale\.py, line 4\d\)"
    with pytest.raises(InvalidInput, match=words):
        ask(kernel, "cost", 8, gives=Config)


def test_a_problem_whose_check_fails_is_refused_in_one_line(kernel_file):
    kernel_file.write_text(
        KERNEL_FILE.replace(
            "    n: int\n", "    n: int\n\n    def validate(self):\n        1 / self.n\n"
        )
    )
    kernel = load_kernel(f"{kernel_file}:Scale")
    with pytest.raises(InvalidProblem, match="Length raises ZeroDivisionError"):
        kernel.problem_type.parse({"n": 0})


def test_a_kernel_that_exits_takes_no_program_along(kernel_file):
    kernel = load_kernel(f"{kernel_file}:Scale")
    kernel.ladder = lambda *_: sys.exit(0)
    with pytest.raises(InvalidInput, match=r"ladder\(\) raises SystemExit: 0"):
        ask(kernel, "ladder", gives=tuple)


@pytest.mark.parametrize("peer", ["5", '"no\\nsuch"', "None"])
def test_a_peer_is_the_name_of_a_kernel(kernel_file, peer):
    kernel_file.write_text(
        KERNEL_FILE.replace('name = "scale"\n', f'name = "scale"\n    peer = {peer}\n')
    )
    with pytest.raises(InvalidInput, match="peer must be the name of a kernel, not "):
        load_kernel(f"{kernel_file}:Scale")


@pytest.mark.parametrize("flop", [-1, float("nan"), float("inf")])
def test_no_work_is_less_than_nothing_or_without_end(flop):
    with pytest.raises(ValueError, match="finite numbers from 0"):
        Cost(flop=flop, bytes=1)
