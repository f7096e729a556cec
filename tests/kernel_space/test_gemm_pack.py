"""The copy to rows that tensor maps can describe, run on the host and read as instructions."""

from __future__ import annotations

from pathlib import Path

from disassembly import compiled_by_nvrtc, instructions, opcode
from host_check import complaints, needs_compiler

from autotune.records import SourceUnit
from kernel_space import gemm

SOURCES = Path(gemm.__file__).parent


@needs_compiler
def test_every_element_arrives_and_nothing_is_read_beyond_the_matrix(tmp_path):
    options = ("-fsanitize=address", "-Wno-unknown-pragmas")
    include = (SOURCES, SOURCES.parent)
    assert complaints("gemm_pack_check.cpp", tmp_path, include, *options) == ""


def test_memory_is_read_and_written_sixteen_bytes_at_a_time(tmp_path):
    main = tmp_path / "alone.cu"
    main.write_text('#include "hopper/pack.cuh"\n')
    unit = SourceUnit(
        language="cuda", main=main, header="", entry="pack", include_dirs=(SOURCES, SOURCES.parent)
    )
    made = compiled_by_nvrtc(unit, "sm_90a")
    found = [opcode(each) for each in instructions(made.image, tmp_path)]
    assert found.count("LDG.E.128") == 4  # two neighbours, for each of two pieces at once
    assert {each for each in found if each.startswith("STG")} == {"STG.E.128"}
    assert not [each for each in found if each.startswith(("LDL", "STL"))]
    assert made.resources.registers <= 40  # six blocks of 256 threads live on a multiprocessor
