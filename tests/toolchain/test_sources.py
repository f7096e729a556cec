from __future__ import annotations

import dataclasses

import pytest

from autotune.errors import InvalidInput
from autotune.records import SourceUnit
from autotune.toolchain import source_digest
from autotune.toolchain.sources import includes, scan


@pytest.fixture
def tree(tmp_path):
    """Write files and return the unit whose main file is main.cu."""

    def write(files, **fields):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        fields = {"language": "cuda", "header": "", "entry": "k", **fields}
        return SourceUnit(main=tmp_path / "main.cu", **fields)

    return write


def names(unit):
    return [name for name, _ in scan(unit).parts]


def test_headers_are_found_beside_the_includer_then_in_the_units_folders(tree, tmp_path):
    unit = tree(
        {
            "main.cu": '#include "sub/a.cuh"\n#include <lib.cuh>\n#include <cuda_bf16.h>\n',
            "sub/a.cuh": '#include "b.cuh"\n#include "top.cuh"\n',
            "sub/b.cuh": "",
            "b.cuh": "#error the one beside a.cuh comes first",
            "top.cuh": "",
            "lib/lib.cuh": "",
        },
        include_dirs=(tmp_path / "lib",),
    )
    assert names(unit) == ["main.cu", "sub/a.cuh", "b.cuh", "top.cuh", "lib.cuh"]
    assert scan(unit).system == ("cuda_bf16.h",)


def test_headers_that_include_each_other_end(tree):
    unit = tree(
        {
            "main.cu": '#include "a.cuh"\n',
            "a.cuh": '#include "sub/../b.cuh"\n',
            "b.cuh": '#include "sub/../a.cuh"\n',
            "sub/x": "",
        }
    )
    assert names(unit) == ["main.cu", "a.cuh", "sub/../b.cuh", "sub/../a.cuh"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('  #  include "a.h" // why', ["a.h"]),
        ('/* first */ #include "a.h"', ["a.h"]),
        ('#inc\\\nlude "a.h"', ["a.h"]),
        ('%:include "a.h"', ["a.h"]),
        ('#if 0\n#include "a.h"\n#endif', ["a.h"]),
        ('const char *s = "/*";\n#include "a.h"\n// */', ["a.h"]),
        ("char c = '\"';\n#include \"a.h\"\nchar d = '\"';", ["a.h"]),
        ("int n = 1'000'000; /* '\n */\n#include <a.h>", ["a.h"]),
        ('// #include "a.h"', []),
        ('/*\n#include "a.h"\n*/', []),
        ('auto s = R"x(\n#include "a.h"\n)x";', []),
    ],
)
def test_directives_are_told_from_prose(text, expected):
    assert [include.name for include in includes(text.encode())] == expected


@pytest.mark.parametrize(
    "directive", ["#include HEADER", '#include_next "a.cuh"', '#embed "a.cuh"', '#import "a.cuh"']
)
def test_a_directive_that_hides_its_file_is_refused(tree, directive):
    unit = tree({"main.cu": f"{directive}\n", "a.cuh": ""})
    with pytest.raises(InvalidInput, match=r"main\.cu.*no key could cover it"):
        scan(unit)


def test_a_header_that_is_nowhere_is_refused_with_where_it_was_looked_for(tree, tmp_path):
    unit = tree({"main.cu": '#include "a.cuh"\n', "a.cuh": '#include "gone.cuh"\n'})
    with pytest.raises(InvalidInput, match=r'a\.cuh: no file for #include "gone\.cuh"') as caught:
        scan(unit)
    assert str(tmp_path) in caught.value.message
    assert "include_dirs" in caught.value.hint


def test_a_main_file_that_is_nowhere_is_refused(tree):
    with pytest.raises(InvalidInput, match=r"source file '.*main\.cu': No such file"):
        scan(tree({}))


def test_a_header_that_is_only_asked_for_may_be_absent_but_counts_once_it_is_there(tree):
    text = '#if __has_include("extra.cuh")\n#define EXTRA\n#endif\n'
    unit = tree({"main.cu": text})
    before = source_digest(unit)
    tree({"extra.cuh": ""})
    assert source_digest(unit) != before


def test_an_edit_in_any_header_changes_the_digest_and_the_generated_header_does_not(tree):
    files = {
        "main.cu": '#include "config.h"\n#include "a.cuh"\n',
        "a.cuh": '#include "sub/deep.cuh"\n',
        "sub/deep.cuh": "constexpr int N = 1;\n",
    }
    unit = tree(files)
    first = source_digest(unit)
    assert source_digest(tree(files, header="constexpr int VALUE = 2;\n")) == first
    assert source_digest(tree({"sub/deep.cuh": "constexpr int N = 2;\n"})) != first
    assert source_digest(tree(files)) == first


def test_what_a_config_includes_of_the_toolkit_is_told_from_what_every_config_does(tree):
    files = {"main.cu": '#include "config.h"\n#include <cuda_bf16.h>\n'}
    plain, choosy = tree(files), tree(files, header="#include <cuda_bf16.h>\n#include <mma.h>\n")
    assert scan(plain).chosen == ()
    assert scan(choosy).system == ("cuda_bf16.h", "mma.h")
    assert scan(choosy).chosen == ("mma.h",)
    assert source_digest(choosy) == source_digest(plain)


def test_headers_of_the_generated_header_count(tree):
    files = {"main.cu": '#include "config.h"\n', "types.cuh": "using T = float;\n"}
    unit = tree(files, header='#include "types.cuh"\n')
    first = source_digest(unit)
    tree({"types.cuh": "using T = double;\n"})
    assert source_digest(unit) != first


def test_a_header_linked_into_two_folders_reaches_what_lies_beside_each(tree, tmp_path):
    unit = tree(
        {
            "main.cu": '#include "a/x.cuh"\n#include "b/x.cuh"\n',
            "a/x.cuh": '#include "y.cuh"\n',
            "a/y.cuh": "",
            "b/y.cuh": "constexpr int Y = 2;\n",
        }
    )
    (tmp_path / "b/x.cuh").symlink_to(tmp_path / "a/x.cuh")
    assert names(unit).count("y.cuh") == 2


@pytest.mark.parametrize("marks", ['""', "<>"])
def test_a_header_whose_name_no_folder_could_hold_is_not_there(tree, marks):
    opening, closing = marks
    name = "a" * 5000
    unit = tree({"main.cu": f"#include {opening}{name}{closing}\n"})
    if marks == "<>":
        assert scan(unit).system == (name,)
    else:
        with pytest.raises(InvalidInput, match="no file for #include"):
            scan(unit)


def test_comments_in_python_are_no_directives(tree, tmp_path):
    text = "# include the stream\n# import order matters\n"
    unit = dataclasses.replace(
        tree({"call.py": text}, language="library"), main=tmp_path / "call.py"
    )
    before = source_digest(unit)
    assert names(unit) == ["call.py"]
    (tmp_path / "call.py").write_text(text + "x = 1\n")
    assert source_digest(unit) != before
