"""What every compiler promises, by running each of them."""

from __future__ import annotations

import pickle
import platform

import pytest

from autotune.errors import InvalidInput
from autotune.records import Failure, SourceUnit, Status
from autotune.toolchain import Compiled, HostCompiler, Nvrtc

SOURCES = {
    "cuda": 'extern "C" __global__ void entry(int *out) { *out = VALUE; }\n',
    "c++": 'extern "C" int entry() { return VALUE; }\n',
}


@pytest.fixture(params=[Nvrtc, HostCompiler])
def compiler(request):
    return request.param()


@pytest.fixture
def arch(compiler):
    return "sm_90a" if compiler.language == "cuda" else platform.machine()


@pytest.fixture
def source(compiler):
    return '#include "config.h"\n' + SOURCES[compiler.language]


@pytest.fixture
def unit(compiler, source, tmp_path):
    def make(text=source, value=1, **fields):
        main = tmp_path / "main.src.cpp"
        main.write_text(text)
        header = f"constexpr int VALUE = {value};\n"
        fields = {"entry": "entry", **fields}
        return SourceUnit(language=compiler.language, main=main, header=header, **fields)

    return make


def test_it_compiles_a_tiny_unit_on_this_machine(compiler):
    compiler.preflight()


def test_the_config_reaches_the_image_and_nothing_else_does(compiler, unit, arch):
    first, again, other = (compiler.compile(unit(value=value), arch) for value in (1, 1, 2))
    assert isinstance(first, Compiled)
    assert first.image == again.image
    assert first.image != other.image


def test_a_failure_holds_the_compilers_own_message(compiler, unit, source, arch):
    text = source + 'static_assert(VALUE < 8, "the tile is too large");\n'
    failed = compiler.compile(unit(text, 9), arch)
    assert isinstance(failed, Failure)
    assert failed.status is Status.COMPILE_ERROR
    assert "the tile is too large" in failed.message
    assert "main.src.cpp" in failed.message


def test_an_entry_that_is_not_there_is_a_failure(compiler, unit, source, arch):
    failed = compiler.compile(unit(source.replace('extern "C"', "")), arch)
    assert "defines no entry 'entry'; is it extern \"C\"?" in failed.message


def test_headers_are_searched_in_the_order_in_which_they_are_keyed(
    compiler, unit, source, arch, tmp_path
):
    files = {
        "sub/a.h": '#include "b.h"\n#include "c.h"\n#include <d.h>\n',
        "sub/b.h": "",
        "b.h": "#error not beside its includer\n",
        "c.h": "",
        "more/c.h": "#error the main file's folder comes first\n",
        "more/d.h": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    text = '#include "sub/a.h"\n' + source
    made = compiler.compile(unit(text, include_dirs=(tmp_path / "more",)), arch)
    assert isinstance(made, Compiled), made.message


def test_the_current_folder_is_not_searched(compiler, unit, source, arch, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "stray.h").write_text("")
    monkeypatch.chdir(elsewhere)
    assert isinstance(compiler.compile(unit("#include <stray.h>\n" + source), arch), Failure)


@pytest.mark.parametrize(
    "option", ["-I/usr/include", "-include", "--sysroot=/", "@file", "more.cpp", "-march=native"]
)
def test_an_option_that_no_key_covers_is_refused(compiler, unit, arch, option):
    with pytest.raises(InvalidInput, match=r"main\.src\.cpp: option .* cannot be used"):
        compiler.options(unit(options=(option,)), arch)


def test_harmless_options_reach_the_compiler(compiler, unit, arch):
    failed = compiler.compile(
        unit('#include "config.h"\n#ifdef ON\n#error it is on\n#endif\n', options=("-DON",)), arch
    )
    assert "it is on" in failed.message


def test_a_source_that_is_not_there_is_refused(compiler, unit, arch):
    made = unit()
    made.main.unlink()
    with pytest.raises(InvalidInput, match=r"main\.src\.cpp"):
        compiler.compile(made, arch)


def test_it_travels_to_other_processes_and_stays_the_same_toolchain(compiler):
    copy = pickle.loads(pickle.dumps(compiler))
    assert copy == compiler
    assert copy.toolchain == compiler.toolchain
