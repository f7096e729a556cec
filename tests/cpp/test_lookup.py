"""C++ answers as Python does, and its header compiles without a warning."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path

import pytest
from random_tables import random_problem, table_text

from autotune.cpp import write_header
from autotune.cpp.names import identifiers
from autotune.dispatch import Table
from autotune.errors import InvalidInput, NoValidConfig

HERE = Path(__file__).parent
SOURCES = ("exact", "tree", "nearest", "default", "none")


def header(folder, text, **options):
    (folder / "table.json").write_text(text)
    write_header(folder / "table.json", folder / "include", name="tuned", **options)
    return folder / "include"


def answered(table, problems):
    """Return what Python says, in the words of ``answers.cpp``."""
    kernel = table.kernels["gemm"]
    place = {id(each): at for at, each in enumerate((*kernel.entries, *kernel.defaults))}
    for problem in problems:
        try:
            choice = table.lookup(**problem)
        except NoValidConfig:
            yield "4 0"
        else:
            yield f"{SOURCES.index(choice.source)} {place[id(choice.entry)]}"


@pytest.mark.parametrize(
    ("entries", "weights", "asked", "trees"),
    [
        (60, (1, 1, 1), 60_000, False),
        (60, (1, 1, 1), 20_000, True),
        (400, (3, 1, 1000), 8_000, True),
        (1, (1, 2, 3), 10_000, False),
        (0, (1, 1, 1), 5_000, False),
    ],
)
def test_python_and_cpp_answer_alike(compile_cpp, tmp_path, entries, weights, asked, trees):
    draw = random.Random(entries)
    text = table_text(draw, entries=entries, weights=weights, trees=trees)
    table = Table.parse(text)
    known = [dict(entry.problem) for entry in table.kernels["gemm"].entries]
    problems = [*known, *(random_problem(draw) for _ in range(asked - len(known)))]
    lines = [" ".join(map(str, problem.values())) for problem in problems]
    (tmp_path / "problems").write_text("\n".join(lines))
    program = compile_cpp(HERE / "answers.cpp", include=[header(tmp_path, text)])
    done = subprocess.run(
        [program, tmp_path / "problems"], capture_output=True, check=True, text=True
    )
    expected = list(answered(table, problems))
    assert done.stdout.splitlines() == expected
    if entries == 60:
        assert {line[0] for line in expected} == set("01234" if trees else "0234")


def test_two_tables_and_two_files_go_into_one_program(compile_cpp, tmp_path):
    include = header(tmp_path, table_text(random.Random(3), entries=20))
    write_header(tmp_path / "table.json", include, name="other")
    ask = "::gemm::lookup({8, 8, 8, {}, {}}).answer"
    (tmp_path / "other.cpp").write_text(
        f'#include "other.hpp"\nunsigned other_answer() {{ return other{ask}; }}\n'
    )
    (tmp_path / "main.cpp").write_text(
        '#include "other.hpp"\n#include "tuned.hpp"\nunsigned other_answer();\n'
        f"int main() {{ return tuned{ask} == other_answer() ? 0 : 1; }}\n"
    )
    program = compile_cpp(tmp_path / "main.cpp", str(tmp_path / "other.cpp"), include=[include])
    assert subprocess.run([program], check=False).returncode == 0


def test_a_kernel_without_scaled_fields_has_exact_answers_only(compile_cpp, tmp_path):
    document = json.loads(table_text(random.Random(1), entries=3))
    kernel = document["kernels"]["gemm"]
    kernel |= {"scaled_fields": [], "weights": {}}
    kernel["exact_fields"] = ["m", "n", "k", "dtype", "batch"]
    for answer in (*kernel["entries"], *kernel["defaults"]):
        answer["conditions"] = []
    include = header(tmp_path, json.dumps(document))
    fields = Table.parse(json.dumps(document)).kernels["gemm"].entries[2].problem
    words = ", ".join(f'*gemm::{name}_from("{value}")' for name, value in fields.items())
    (tmp_path / "main.cpp").write_text(
        '#include "tuned.hpp"\nnamespace gemm = tuned::gemm;\n'
        f"int main() {{ return static_cast<int>(gemm::lookup({{{words}}}).answer); }}\n"
    )
    program = compile_cpp(tmp_path / "main.cpp", include=[include])
    assert subprocess.run([program], check=False).returncode == 2


def test_fields_that_differ_in_their_capital_alone_have_types_of_their_own(compile_cpp, tmp_path):
    text = table_text(random.Random(2), entries=5)
    text = text.replace('"dtype"', '"type"').replace('"batch"', '"Type"')
    (tmp_path / "main.cpp").write_text(
        '#include "tuned.hpp"\nnamespace gemm = tuned::gemm;\n'
        'int main() { return gemm::type_from("bf16") && !gemm::Type_from("bf16") ? 0 : 1; }\n'
    )
    program = compile_cpp(tmp_path / "main.cpp", include=[header(tmp_path, text)])
    assert subprocess.run([program], check=False).returncode == 0


def test_names_that_cpp_does_not_take_are_changed():
    assert identifiers(["operator", "bf16-fp32", "bf16_fp32", "7", "a__b"]) == [
        "operator_",
        "bf16_fp32",
        "bf16_fp32_2",
        "v7",
        "a_b",
    ]


def test_a_header_that_cannot_hold_a_table_is_refused(tmp_path):
    document = json.loads(table_text(random.Random(4), entries=0))
    kernel = document["kernels"]["gemm"]
    [default, *_] = kernel["defaults"]
    default["problem"] |= {"m": 1000}
    default["conditions"] = [
        {"field": "m", "multiple_of": 1, "at_least": bound, "at_most": None} for bound in range(65)
    ]
    kernel["defaults"] = [default]
    with pytest.raises(InvalidInput, match="a header holds 64"):
        header(tmp_path, json.dumps(document))
