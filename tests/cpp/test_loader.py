"""The C++ loader asks the driver for what Python would, and for nothing that is damaged.

No GPU is at hand here: a library stands in for the driver and prints its calls.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from made_tables import hopper_text, host_text

from autotune.bundle import write_bundle
from autotune.cpp import INCLUDE, write_header
from autotune.dispatch.bundle import Bundle
from autotune.records import Config, Scalar, TensorMap, load_kernel
from autotune.records.targets import TARGETS
from autotune.toolchain import BinaryStore

HERE = Path(__file__).parent
ADDRESSES = {"a": 0xA0, "b": 0xB0, "c": 0xC0}
BF16 = 9


@pytest.fixture(scope="module")
def binaries(tmp_path_factory):
    return BinaryStore(tmp_path_factory.mktemp("binaries"))


def packed(folder, text, store):
    (folder / "table.json").write_text(text)
    write_bundle(folder / "table.json", folder / "bundle", store=store)
    write_header(folder / "bundle", folder / "include", name="tuned")
    return folder / "bundle"


@pytest.fixture(scope="module")
def hopper(tmp_path_factory, binaries):
    return packed(tmp_path_factory.mktemp("hopper"), hopper_text(), binaries)


@pytest.fixture(scope="module")
def programs(hopper, compile_cpp):
    """Return the program that multiplies, and the folder of what stands in for the driver."""
    include, plain = [hopper.parent / "include"], ["-std=c++17"]
    shared = ("-shared", "-fPIC")
    driver = compile_cpp(HERE / "fake_cuda.cpp", *shared, include=include, strict=plain)
    driver = driver.rename(driver.with_name("libcuda.so.1"))
    return compile_cpp(HERE / "multiplies.cpp", "-ldl", include=include), driver.parent


@pytest.fixture
def run(hopper, programs, tmp_path):
    """Multiply with the stand-in for the driver and return the exit code and all that it says."""
    bundle = shutil.copytree(hopper, tmp_path / "bundle")
    program, driver = programs

    def ran(m, n, k, *, times=1, arguments=10, **environment):
        fake = {"LD_LIBRARY_PATH": str(driver), "FAKE_COUNT": str(arguments)}
        done = subprocess.run(
            [program, bundle, *map(str, (m, n, k, times))],
            env={**os.environ, **fake, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout.splitlines()

    ran.bundle = bundle
    return ran


def expected(bundle, m, n, k):
    """Return the maps and launches that Python would make of a problem."""
    gemm, target = load_kernel("gemm"), TARGETS["sm_90a"]
    choice = Bundle.open(bundle).table.lookup(m=m, n=n, k=k, dtype="bf16", layout="nt")
    launch = gemm.launch(gemm.problem_type(m, n, k), Config(choice.config), target)
    grid, block = (" ".join(map(str, each)) for each in (launch.grid, launch.block))
    head = f"launch {grid} / {block} / {launch.shared_bytes} / {int(launch.overlaps)}"
    words = [_word(each) for each in launch.arguments]
    maps = [_map(each) for each in launch.arguments if isinstance(each, TensorMap)]
    return [*maps, " ".join([head, *words])]


def _word(argument):
    if isinstance(argument, Scalar):
        return f"{argument.value:x}"
    return f"{ADDRESSES[argument if isinstance(argument, str) else argument.operand.name]:x}"


def _map(described):
    rows, columns = described.operand.shape
    cut = f"{described.box[1]} {described.box[0]} 1 1 0"
    swizzle = {32: 1, 64: 2, 128: 3}[described.swizzle_bytes]
    promotion = {0: 0, 128: 2, 256: 3}[described.l2_promotion_bytes]
    extents = f"{columns} {rows} {2 * columns}"
    return f"map {BF16} 2 {extents} {cut} {swizzle} {promotion} 0"


@pytest.mark.parametrize(
    ("m", "n", "k", "arguments"),
    [(4096, 4096, 4096, 10), (300, 4090, 8192, 10), (77, 99, 4095, 11)],
)
def test_the_driver_is_asked_for_what_python_asks_for(run, m, n, k, arguments):
    code, said = run(m, n, k, times=2, arguments=arguments)
    assert code == 0
    launched = [line for line in said if line.startswith(("map", "launch"))]
    assert launched == 2 * expected(run.bundle, m, n, k)
    assert said.count("load elf") == said.count("function gemm") == 1  # once a context


def test_an_empty_product_starts_nothing(run):
    assert run(0, 4096, 4096) == (0, [])


def test_a_damaged_binary_is_never_loaded(run):
    for cubin in run.bundle.glob("*.cubin"):
        content = bytearray(cubin.read_bytes())
        content[1000] ^= 1
        cubin.write_bytes(content)
    code, said = run(4096, 4096, 4096)
    assert (code, len(said)) == (1, 4)  # three maps, for which nothing is loaded
    assert said[-1].endswith("is damaged: its SHA-256 is another")
    for cubin in run.bundle.glob("*.cubin"):
        cubin.write_bytes(cubin.read_bytes()[:-1])
    assert "bytes long" in run(4096, 4096, 4096)[1][-1]


def test_what_the_driver_refuses_is_an_error(run):
    _, said = run(4096, 4096, 4096, FAKE_REFUSES="1")
    assert said[-1] == "error: cuFuncSetAttribute: CUDA_ERROR_REFUSED"


def test_the_declarations_are_those_of_cuda_h(compile_cpp):
    homes = (Path("/usr/local/cuda/include"), Path(os.environ.get("CUDA_HOME", "/")) / "include")
    found = [home for home in homes if (home / "cuda.h").is_file()]
    if not found:
        pytest.skip("no <cuda.h>")
    compile_cpp(HERE / "matches_cuda.cpp", "-isystem", found[0], "-ldl", include=[INCLUDE])


def test_a_product_is_computed_on_the_host_from_a_bundle(compile_cpp, tmp_path, binaries):
    bundle = packed(tmp_path, host_text(), binaries)
    program = compile_cpp(HERE / "host_product.cpp", "-ldl", include=[tmp_path / "include"])
    for sizes, answer in (((8, 16, 4), "0 0"), ((70, 33, 65), "2 1")):
        done = subprocess.run(
            [program, bundle, *map(str, sizes)], capture_output=True, text=True, check=False
        )
        assert done.stdout == f"{answer} right\n"


@pytest.fixture(scope="module")
def example(hopper, tmp_path_factory):
    """The program of ``examples/``, built without a word from the compiler."""
    pathfinder = pytest.importorskip("cuda.pathfinder")
    nvcc = shutil.which("nvcc") or pathfinder.find_nvidia_binary_utility("nvcc")
    if nvcc is None:
        pytest.skip("no nvcc")
    program = tmp_path_factory.mktemp("example") / "multiply"
    source, include = HERE.parents[1] / "examples" / "multiply.cu", hopper.parent / "include"
    command = [nvcc, "-std=c++17", f"-I{include}", source, "-o", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return program


def test_the_example_says_how_it_is_used(example):
    done = subprocess.run([example], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, f"usage: {example} BUNDLE M N K\n")


@pytest.mark.gpu
@pytest.mark.parametrize("sizes", [(4096, 4096, 4096), (300, 4090, 8192), (77, 99, 4095)], ids=str)
def test_the_example_multiplies(hopper, example, sizes):
    """With no Python, from a bundle: whole tiles, rows that end within one, and repacked ones."""
    cupy = pytest.importorskip("cupy")
    if cupy.cuda.Device(0).compute_capability != "90":
        pytest.skip("the bundle is for Hopper")
    command = [example, hopper, *map(str, sizes)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    m, n, k = sizes
    assert done.stdout == f"{m} x {n} x {k}: 0 of {m * n} elements are wrong\n", done.stderr
    assert done.returncode == 0
