from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from autotune.errors import InvalidInput, ToolchainBroken, install_hint
from autotune.records import Failure, Status, digest
from autotune.toolchain import (
    Compiled,
    Nvrtc,
    Recipe,
    compile_now,
    headers,
    nvrtc,
    require_headers,
    source_digest,
)

WGMMA = """
extern "C" __global__ void k(unsigned long long a, unsigned long long b, float *o) {
  float d[4] = {};
  asm volatile("wgmma.fence.sync.aligned;");
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3}, %4, %5, 1,1,1,0,0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b));
  asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;");
  for (int i = 0; i < 4; ++i) o[threadIdx.x * 4 + i] = d[i];
}
"""
SPILLS = """
extern "C" __global__ void __launch_bounds__(1024) k(const float *in, float *out, int n) {
  float v[100];
#pragma unroll
  for (int i = 0; i < 100; ++i) v[i] = in[i * 1024 + threadIdx.x];
  for (int r = 0; r < n; ++r) {
#pragma unroll
    for (int i = 0; i < 100; ++i) v[i] = v[i] * v[(i * 7 + 3) % 100] + v[(i + 1) % 100];
  }
#pragma unroll
  for (int i = 0; i < 100; ++i) out[i * 1024 + threadIdx.x] = v[i];
}
"""
DIVIDES = """
extern "C" __global__ void k(float *p, float a, float b) { p[0] = a / b + sqrtf(a) * a; }
"""


@pytest.fixture
def no_cuda_headers(monkeypatch):
    """Make the machine one that has NVRTC and no header of the toolkit."""
    headers._closure.cache_clear()
    for module in (headers, nvrtc):
        monkeypatch.setattr(module, "cuda_header_dirs", tuple)
    yield
    headers._closure.cache_clear()


@pytest.mark.parametrize("arch", ["sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a"])
def test_compiles_for_each_architecture_without_a_gpu(cuda_unit, arch):
    made = Nvrtc().compile(cuda_unit(), arch)
    assert isinstance(made, Compiled)
    assert made.image.startswith(b"\x7fELF")
    assert made.resources.registers > 0
    assert f"'k' for '{arch}'" in made.log


def test_wgmma_needs_the_architecture_with_the_a(cuda_unit):
    unit = cuda_unit(WGMMA)
    assert isinstance(Nvrtc().compile(unit, "sm_90a"), Compiled)
    refused = Nvrtc().compile(unit, "sm_90")
    assert isinstance(refused, Failure)
    assert "not supported on .target 'sm_90'" in refused.message


def test_spills_are_reported_and_no_failure(cuda_unit):
    made = Nvrtc().compile(cuda_unit(SPILLS), "sm_90a")
    assert made.resources.registers == 64
    assert made.resources.spill_bytes > 0


def test_the_generated_header_wins_over_a_file_of_its_name(cuda_unit):
    unit = cuda_unit()
    (unit.main.parent / "config.h").write_text("#error the file was read\n")
    assert isinstance(Nvrtc().compile(unit, "sm_80"), Compiled)


@pytest.mark.usefixtures("no_cuda_headers")
def test_a_source_without_headers_needs_none(cuda_unit):
    assert isinstance(Nvrtc().compile(cuda_unit(), "sm_90a"), Compiled)


def test_a_source_finds_the_toolkits_headers(cuda_unit, kernel):
    unit = cuda_unit("#include <cuda_bf16.h>\n" + kernel)
    assert isinstance(Nvrtc().compile(unit, "sm_90a"), Compiled)


def chosen_header(unit, name):
    """Let the config, and not the source, include a header of the toolkit."""
    return replace(unit, header=f"#include <{name}>\n{unit.header}")


@pytest.mark.parametrize("name", ["cooperative_groups/memcpy_async.h", "cuda/pipeline"])
def test_a_config_finds_the_libraries_that_come_with_the_toolkit(cuda_unit, name):
    unit = chosen_header(cuda_unit(), name)
    assert isinstance(Nvrtc().compile(unit, "sm_80"), Compiled)


@pytest.mark.usefixtures("no_cuda_headers")
def test_the_missing_header_of_one_config_is_told_in_a_line_with_what_to_install(cuda_unit):
    failure = Nvrtc().compile(chosen_header(cuda_unit(), "cuda/pipeline"), "sm_80")
    assert failure.status is Status.COMPILE_ERROR
    assert failure.message.startswith("error: the header <cuda/pipeline> is not on this machine: ")
    assert install_hint("cuda13") in failure.message.splitlines()[0]


@pytest.mark.usefixtures("no_cuda_headers")
def test_the_toolkit_header_that_is_missing_is_named(cuda_unit, kernel):
    unit = cuda_unit("#include <cuda_bf16.h>\n" + kernel)
    Nvrtc().preflight()
    failure = Nvrtc().compile(unit, "sm_90a")
    with pytest.raises(ToolchainBroken, match=r"cannot find the header <cuda_bf16\.h>") as caught:
        require_headers(Nvrtc(), unit, failure)
    assert "pip install" in caught.value.hint


def test_any_other_fault_is_the_candidates_own(cuda_unit, kernel):
    unit = cuda_unit("static_assert(sizeof(int) == 8);\n" + kernel)
    require_headers(Nvrtc(), unit, Nvrtc().compile(unit, "sm_90a"))


def test_a_machine_without_nvrtc_says_what_to_install(tmp_path):
    broken = tmp_path / "cuda" / "bindings"
    broken.mkdir(parents=True)
    (broken.parent / "__init__.py").write_text("")
    (broken / "__init__.py").write_text("")
    program = "from autotune.toolchain import Nvrtc; Nvrtc().preflight()"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "ToolchainBroken: NVRTC cannot be loaded" in done.stderr
    assert install_hint("cuda13") in done.stderr


@pytest.mark.parametrize("arch", ["compute_90", "sm_42", "x86_64"])
def test_an_architecture_that_gives_no_cubin_is_a_failure(cuda_unit, arch):
    assert isinstance(Nvrtc().compile(cuda_unit(), arch), Failure)


def test_numerics_are_fixed_until_the_unit_says_otherwise(cuda_unit):
    exact = Nvrtc().compile(cuda_unit(DIVIDES), "sm_90a").image
    fast = Nvrtc().compile(cuda_unit(DIVIDES, options=("--use_fast_math",)), "sm_90a").image
    assert len(fast) < len(exact)  # exact division is a long sequence
    assert "--ftz=false" in Nvrtc().options(cuda_unit(), "sm_90a")
    flushed = Nvrtc().options(cuda_unit(options=("-ftz=true", "-std=c++20")), "sm_90a")
    assert not {"--ftz=false", "--std=c++17"} & set(flushed)


@pytest.mark.parametrize(
    "option",
    [
        "-I/usr/include",
        "--include-path=x",
        "-include",
        "--pre-include=a.h",
        "-arch=sm_80",
        "--gpu-architecture=sm_80",
        "@file",
        "--pch",
        "--options-file",
        "-rdc=true",
    ],
)
def test_an_option_that_no_key_covers_is_refused(cuda_unit, option):
    with pytest.raises(InvalidInput, match=re.escape(repr(option))):
        Nvrtc().compile(cuda_unit(options=(option,)), "sm_90a")


def test_the_toolchain_names_release_and_build():
    assert re.fullmatch(r"\d+\.\d+\.\d+ CL-\d+", Nvrtc().toolchain.version)


def test_edited_headers_give_another_binary(cuda_unit, store, kernel):
    unit = cuda_unit('#include "outer.cuh"\n' + kernel.replace("VALUE", "VALUE * N"), 3)
    (unit.main.parent / "outer.cuh").write_text('#include "inner.cuh"\n')
    (unit.main.parent / "inner.cuh").write_text("constexpr int N = 2;\n")
    first, digest = compile_now(Nvrtc(), store, unit, "sm_90a"), source_digest(unit)
    (unit.main.parent / "inner.cuh").write_text("constexpr int N = 5;\n")
    second = compile_now(Nvrtc(), store, unit, "sm_90a")
    assert not second.cached
    assert second.key != first.key
    assert source_digest(unit) != digest
    assert Path(first.path).read_bytes() != Path(second.path).read_bytes()


def ingredients(unit, arch="sm_90a"):
    return Recipe(compiler=Nvrtc(), unit=unit, arch=arch).ingredients()


def key_of(unit):
    return digest(ingredients(unit))


def test_whatever_can_change_the_bytes_changes_the_key(cuda_unit, kernel):
    same = ingredients(cuda_unit())
    assert ingredients(cuda_unit()) == same
    others = [
        ingredients(cuda_unit(), "sm_80"),
        ingredients(cuda_unit(value=2)),
        ingredients(cuda_unit(kernel + "// edited\n")),
        ingredients(cuda_unit(options=("--maxrregcount=64",))),
        ingredients(cuda_unit(entry="other")),
        ingredients(cuda_unit("#include <cuda_bf16.h>\n" + kernel)),
    ]
    assert all(other != same for other in others)


def test_the_contents_of_toolkit_headers_are_in_the_key(cuda_unit, tmp_path, monkeypatch, kernel):
    toolkit = tmp_path / "toolkit"
    toolkit.mkdir()
    (toolkit / "cuda_bf16.h").write_text('#include "cuda_bf16.hpp"\n#include NEVER_FOLLOWED\n')
    (toolkit / "cuda_bf16.hpp").write_text("// 13.0.88\n")
    monkeypatch.setattr(headers, "cuda_header_dirs", lambda: (toolkit,))
    unit = cuda_unit("#include <cuda_bf16.h>\n" + kernel)
    config = chosen_header(cuda_unit(name="other.cu"), "cuda_bf16.h")
    before = source_digest(unit), key_of(unit), key_of(config)
    headers._closure.cache_clear()
    (toolkit / "cuda_bf16.hpp").write_text("// 13.0.96\n")
    after = source_digest(unit), key_of(unit), key_of(config)
    assert not set(before) & set(after)
    headers._closure.cache_clear()
