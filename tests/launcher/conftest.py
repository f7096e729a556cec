from __future__ import annotations

import itertools
import json
import sys
import threading
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
sys.path.insert(0, str(Path(__file__).parent))
from made_table import table_text
from products import NAMES, TUNED

from autotune.device.loaded import Bound
from autotune.dispatch import Running, Table
from autotune.launcher import Dispatcher, gpu
from autotune.launcher.view import DTYPES
from autotune.records import ELEMENT_BYTES, load_kernel
from autotune.records.targets import TARGETS
from autotune.toolchain import BinaryStore

A100 = TARGETS["sm_80"]
HERE = Running(
    kind="cuda",
    name="a GPU",
    arch=A100.arch,
    sm_count=A100.sm_count,
    shared_bytes_per_block=A100.shared_bytes_per_block,
    memory_bytes=150754820096,
)
CUBE = {"m": 512, "n": 512, "k": 512}  # every other size takes its config: few are compiled
_TYPESTR = {"fp16": "<f2", "fp32": "<f4", "fp64": "<f8", "int32": "<i4"}
_TYPESTR |= {"bf16": "<V2", "e4m3": "|V1"}  # not of numpy's: the array names its type
_NAMES = {own: name for name, own in DTYPES.items()}


class Foreign:
    """An array of some other library, as the CUDA array interface shows it. Nothing is read."""

    addresses = itertools.count(1 << 40, 1 << 32)

    def __init__(self, shape, dtype="fp16", *, strides=None, pointer=None, **interface):
        size = ELEMENT_BYTES[dtype]
        self.dtype = SimpleNamespace(name=_NAMES[dtype])
        self.__cuda_array_interface__ = {
            "version": 3,
            "shape": shape,
            "typestr": _TYPESTR[dtype],
            "data": (next(self.addresses) if pointer is None else pointer, False),
            "strides": None if strides is None else tuple(size * stride for stride in strides),
            **interface,
        }

    @property
    def pointer(self):
        return self.__cuda_array_interface__["data"][0]

    @property
    def read_only(self):
        return self.__cuda_array_interface__["data"][1]


class Refused(Exception):
    """What the stand-in for CUDA raises when it refuses a launch."""


class StandIn:
    """Takes the place of CUDA: programs are compiled for real, and only noted when started."""

    def __init__(self):
        self.started = []
        self.refuse = set()
        self.bound = 0
        self.repeats = True
        self.streams = []  # of launches that were known
        self.device = 0  # that is current
        self.context = threading.local()  # has an attribute while a thread has one
        self.capturing = False

    def program(self, binary, launch):
        return Noted(self, binary, launch)


class Noted:
    """A program that is only noted when started."""

    def __init__(self, stand_in, binary, launch):
        self._stand_in, self._binary, self._launch = stand_in, binary, launch
        self.repeats = stand_in.repeats and not launch.scratch

    def start(self, pointers):
        if self._binary.key in self._stand_in.refuse:
            raise Refused("out of resources")
        self._stand_in.started.append((self._binary, self._launch, dict(pointers)))

    def bound(self, pointers, stream):
        assert hasattr(self._stand_in.context, "stream"), "a tensor map takes a context"
        self._stand_in.bound += 1
        return Bound((partial(self._again, pointers, stream),), None)

    def _again(self, pointers, stream):
        if self._binary.key in self._stand_in.refuse:
            return 701
        self._stand_in.started.append((self._binary, self._launch, dict(pointers)))
        self._stand_in.streams.append(stream)
        return 0


@pytest.fixture
def stand_in(monkeypatch):
    """The dispatcher without a GPU: everything but memory and launches is real."""
    made = StandIn()

    @contextmanager
    def current(device, stream):
        made.context.stream = stream
        yield stream
        del made.context.stream

    def empty(shape, dtype, like, device):
        return Foreign(shape, dtype)

    monkeypatch.setattr(gpu, "target", lambda device: A100)
    monkeypatch.setattr(gpu, "running", lambda device: HERE)
    monkeypatch.setattr(gpu, "device_of", lambda view: view.device or 0)
    monkeypatch.setattr(gpu, "stream_pointer", lambda stream, like, device: stream or 0)
    monkeypatch.setattr(gpu, "current", current)
    monkeypatch.setattr(gpu, "wait_for", lambda view, stream: None)
    monkeypatch.setattr(gpu, "empty", empty)
    monkeypatch.setattr(gpu, "device_teller", lambda: lambda: made.device)
    monkeypatch.setattr(gpu, "capturing", lambda: made.capturing)
    monkeypatch.setattr(gpu, "Program", made.program)
    monkeypatch.setattr(gpu, "refusal", lambda e: str(e) if isinstance(e, Refused) else None)
    return made


@pytest.fixture(scope="session")
def binaries(tmp_path_factory):
    """One store for all tests: most of them launch the same few configs."""
    return BinaryStore(tmp_path_factory.mktemp("binaries"))


def gemm_table(*answers, arch="sm_80", digest=None):
    """Return a table of ``(problem fields, config)`` pairs for the GPU that is stood in for."""
    made = json.loads(table_text(load_kernel("gemm"), A100, answers))
    made["device"] |= {"name": HERE.name, "memory_bytes": HERE.memory_bytes, "arch": arch}
    if digest:
        made["kernels"]["gemm"]["contexts"]["made"]["source_digest"] = digest
    return Table.parse(json.dumps(made))


@pytest.fixture
def foreign():
    return Foreign


@pytest.fixture(scope="session")
def cupy():
    return pytest.importorskip("cupy")


@pytest.fixture(scope="session")
def torch():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("torch has no CUDA")
    return torch


@pytest.fixture(scope="session")
def make_table():
    return gemm_table


@pytest.fixture
def gemm():
    return load_kernel("gemm")


@pytest.fixture
def target():
    return A100


@pytest.fixture
def operands_of(gemm):
    """Make an array for each operand of a problem."""

    def make(problem):
        return {o.name: Foreign(o.shape, o.dtype) for o in gemm.operands(problem)}

    return make


@pytest.fixture(scope="session")
def gpu_table(make_table):
    """One config for each dtype and layout, and a second one to fall to where it fails."""
    kernel, target = load_kernel("gemm"), gpu.target(0)
    problems = [CUBE | {"dtype": dtype, "layout": layout} for dtype, layout in TUNED]
    answers = [
        (problem, kernel.default(kernel.problem_type.parse(problem), target))
        for problem in problems
    ]
    second, config = answers[TUNED.index(("bf16", "nt"))]
    config = config.replace(stages=4 if config["stages"] == 3 else 3)
    answers.append((second | {"m": 4096, "n": 4096, "k": 4096}, config))
    return make_table(*answers, arch=target.arch)


@pytest.fixture(scope="session")
def shared(gpu_table, binaries):
    return Dispatcher(gpu_table, store=binaries)


@pytest.fixture
def known(shared, monkeypatch):
    """The dispatcher, which from ``known()`` on answers known calls alone."""

    def only():
        monkeypatch.setattr(shared, "_matmul", _unknown)
        return shared

    yield only
    monkeypatch.undo()


def _unknown(*arguments, **named):
    raise AssertionError("this call took the careful way")


@pytest.fixture
def drawn(torch):
    """Draw a tensor on the GPU as a matrix of these extents, stored transposed for ``t``."""
    generator = torch.Generator("cuda").manual_seed(0)

    def draw(rows, columns, letter="n", dtype="bf16", device="cuda"):
        kind = getattr(torch, NAMES[dtype])
        shape = (rows, columns) if letter == "n" else (columns, rows)
        values = torch.rand(shape, device="cuda", generator=generator).mul_(2).sub_(1)
        stored = values.to(device, kind)
        return stored if letter == "n" else stored.t()

    return draw
