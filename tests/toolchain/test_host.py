from __future__ import annotations

import ctypes

import pytest

from autotune.errors import InvalidInput, ToolchainBroken
from autotune.records import Binary, Failure
from autotune.toolchain import HostCompiler, compile_now, require_headers


def test_a_library_is_built_with_the_config_it_was_given(host_unit, host_arch, store):
    answers = []
    for value in (4, 7):
        made = compile_now(HostCompiler(), store, host_unit(value=value), host_arch)
        assert isinstance(made, Binary)
        answers.append(ctypes.CDLL(made.path).answer())
    assert answers == [4, 7]


def test_cxx_chooses_the_compiler(monkeypatch):
    monkeypatch.setenv("CXX", "g++ -O3")
    assert HostCompiler().command == ("g++", "-O3")
    monkeypatch.delenv("CXX")
    assert len(HostCompiler().command) == 1


def test_the_toolchain_names_compiler_and_c_library():
    version = HostCompiler().toolchain.version
    assert (
        version.partition(" ")[0].rsplit("/")[-1] in {"c++", "g++", "clang++"} or "lang" in version
    )
    assert ";" in version


def test_a_compiler_that_is_not_there_is_a_broken_toolchain():
    with pytest.raises(ToolchainBroken, match="no-such-compiler") as caught:
        HostCompiler(command=("no-such-compiler",)).preflight()
    assert "CXX" in caught.value.hint
    with pytest.raises(ToolchainBroken, match="no C\\+\\+ compiler"):
        HostCompiler(command=()).preflight()


def test_preflight_names_the_standard_header_that_is_missing():
    compiler = HostCompiler(command=(*HostCompiler().command, "-nostdinc"))
    with pytest.raises(ToolchainBroken, match="cannot find the header <cstddef>"):
        compiler.preflight()


def test_the_missing_header_of_a_unit_is_named(host_unit, host_arch, library):
    unit = host_unit("#include <no_such_library.h>\n" + library)
    failure = HostCompiler().compile(unit, host_arch)
    with pytest.raises(ToolchainBroken, match=r"<no_such_library\.h> that .*main\.cpp needs"):
        require_headers(HostCompiler(), unit, failure)


def test_code_for_another_machine_is_a_failure(host_unit):
    failed = HostCompiler().compile(host_unit(), "sm_90a")
    assert "not for sm_90a" in failed.message


@pytest.mark.parametrize("option", ["-march=native", "-I/usr/include", "-include", "-isystem/x"])
def test_an_option_that_no_key_covers_is_refused(host_unit, host_arch, option):
    with pytest.raises(InvalidInput, match="cannot be used"):
        HostCompiler().compile(host_unit(options=(option,)), host_arch)
    with pytest.raises(InvalidInput, match="CXX: option"):
        HostCompiler(command=("c++", option)).compile(host_unit(), host_arch)


def test_a_file_that_would_hide_the_generated_header_is_refused(host_unit, host_arch):
    unit = host_unit()
    (unit.main.parent / "config.h").write_text("constexpr int VALUE = 0;\n")
    with pytest.raises(InvalidInput, match="in place of the generated header"):
        HostCompiler().compile(unit, host_arch)


def test_hidden_search_paths_are_not_searched(host_unit, host_arch, tmp_path, monkeypatch, library):
    (tmp_path / "stray.h").write_text("")
    monkeypatch.setenv("CPATH", str(tmp_path))
    made = HostCompiler().compile(host_unit("#include <stray.h>\n" + library), host_arch)
    assert isinstance(made, Failure)


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ('c++ "', "cannot be started"),
        ("/", "cannot be started"),
        ("false", "'false --version' fails: "),
    ],
)
def test_a_variable_that_names_no_compiler_is_a_broken_toolchain(monkeypatch, chosen, words):
    monkeypatch.setenv("CXX", chosen)
    with pytest.raises(ToolchainBroken, match=words):
        _ = HostCompiler().toolchain
