"""What choosing and launching takes the host, beside torch; and a transformer through both.

    python benchmarks/dispatch.py --json benchmarks/results/dispatch_h200.json

- A lookup: on the table of ``lookup.py``, of problems asked for before and of new ones.
- A call: the product of two matrices of 64×64 fp16, so that the host is what takes time. Some
  calls are made in a row while the GPU lags behind, and it is waited for between two such rows.
- A forward pass: of the transformer in ``transformer.py``, until the GPU is done, with torch's own
  linear layers and with the operator's.

Everything is measured in turns, each round in another order, and a figure is the median of the
rounds; ``low`` is the fastest one.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from harness import write_json
from lookup import WARM, by_position, defaults_text, problems, strangers
from needs import require, torch
from transformer import WIDTH, Transformer

from autotune.dispatch import Table
from autotune.launcher import Dispatcher
from kernel_space.gemm import Gemm, GemmProblem

ROUNDS = 25
CALLS, FORWARDS, LOOKUPS = 200, 20, 4000
WARM_UP = 3
SIZE = 64
BATCH, LENGTH = 4, 256

Work = Callable[[], Any]
Clocked = Callable[[], float]  # runs some of a kind, and returns the µs of one


def main() -> None:
    """Measure, print a table, and keep it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", help="a table or bundle; without one, the kernel's defaults")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    require()
    dispatcher = Dispatcher(arguments.table)
    rows = list(measured(dispatcher, arguments.rounds))
    for row in rows:
        print(f"{row['kind']:8} {row['name']:36} {row['us']:10.3f} µs   low {row['low_us']:10.3f}")
    if arguments.json is not None:
        problem = GemmProblem(SIZE, SIZE, SIZE, "fp16", "nn")
        write_json(arguments.json, rows, kernel=Gemm(), problem=problem)


def measured(dispatcher: Dispatcher, rounds: int) -> Iterator[dict[str, Any]]:
    """Yield a row for each kind of lookup, call and forward pass."""
    with torch.no_grad():
        kinds = {"lookup": lookups(), "call": calls(dispatcher)}
        passes, errors = forwards(dispatcher)
        kinds["forward"] = passes
        for kind, works in kinds.items():
            for name, samples in in_turns(works, rounds).items():
                row = {"kind": kind, "name": name, "us": median(samples), "low_us": min(samples)}
                apart = {"apart": errors[name]} if name in errors else {}
                yield {**row, **apart, "samples_us": samples}


def in_turns(works: Mapping[str, Clocked], rounds: int) -> dict[str, list[float]]:
    """Return the µs of each work in each round."""
    order, shuffle = list(works), Random(0).shuffle  # noqa: S311 - not a secret
    samples: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        shuffle(order)
        for name in order:
            samples[name].append(works[name]())
    return samples


def lookups() -> dict[str, Clocked]:
    """Return what looks problems up that were asked for before, and new ones."""
    find, chance = Table.parse(defaults_text()).finder("gemm"), Random(1)  # noqa: S311 - no secret
    by_position(find, strangers(chance, WARM))
    seen = [tuple(problem.as_dict().values()) for problem in problems()] * 100
    return {
        "seen": lambda: by_position(find, seen) / 1e3,
        "unseen": lambda: by_position(find, strangers(chance, LOOKUPS)) / 1e3,
    }


def calls(dispatcher: Dispatcher) -> dict[str, Clocked]:
    """Return what multiplies small matrices by each way."""
    import cupy

    a, b = (torch.rand(SIZE, SIZE, device="cuda").half() for _ in range(2))
    out, op = torch.empty_like(a), dispatcher.torch_op()
    left, right, made = (cupy.from_dlpack(each) for each in (a, b, out))
    works: dict[str, Work] = {
        "dispatcher.matmul(out=), torch": lambda: dispatcher.matmul(a, b, out=out),
        "dispatcher.matmul, torch": lambda: dispatcher.matmul(a, b),
        "dispatcher.matmul(out=), CuPy": lambda: dispatcher.matmul(left, right, out=made),
        "operator of torch": lambda: op.matmul(a, b),
        "torch.mm(out=)": lambda: torch.mm(a, b, out=out),
        "torch.matmul(out=)": lambda: torch.matmul(a, b, out=out),
        "torch.matmul": lambda: torch.matmul(a, b),
        "cupy.matmul(out=)": lambda: cupy.matmul(left, right, out=made),
    }
    return {name: partial(host_us, warm(work)) for name, work in works.items()}


def forwards(dispatcher: Dispatcher) -> tuple[dict[str, Clocked], dict[str, float]]:
    """Return what runs a transformer each way, and how far each is from torch, as a norm."""
    torch.manual_seed(0)
    plain = Transformer(torch.nn.functional.linear).to("cuda", torch.bfloat16)
    ours = Transformer(dispatcher.torch_op().linear).to("cuda", torch.bfloat16)
    ours.load_state_dict(plain.state_dict())
    x = torch.randn(BATCH, LENGTH, WIDTH, device="cuda", dtype=torch.bfloat16)
    works: dict[str, Work] = {}
    for name, model in (("torch", plain), ("operator", ours)):
        works[f"{name}, eager"] = partial(model, x)
        works[f"{name}, compiled"] = partial(torch.compile(model, fullgraph=True), x)
        works[f"{name}, CUDA graph"] = captured(partial(model, x))
    expected = works["torch, eager"]().double()
    errors = {
        name: float((warm(work)().double() - expected).norm() / expected.norm())
        for name, work in works.items()
    }
    return {name: partial(whole_us, work) for name, work in works.items()}, errors


def captured(work: Work) -> Work:
    """Return what replays ``work`` as a CUDA graph, and returns what it has made."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        warm(work)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        made = work()

    def replay() -> Any:
        graph.replay()
        return made

    return replay


def warm(work: Work) -> Work:
    """Run ``work`` some times, and return it."""
    for _ in range(WARM_UP):
        work()
    torch.cuda.synchronize()
    return work


def host_us(work: Work) -> float:
    """Return the µs of the host for one call, and wait for the GPU only afterwards."""
    began = time.perf_counter_ns()
    for _ in range(CALLS):
        work()
    spent_ns = time.perf_counter_ns() - began
    torch.cuda.synchronize()
    return spent_ns / CALLS / 1e3


def whole_us(work: Work) -> float:
    """Return the µs of one pass of some, until the GPU is done with all."""
    torch.cuda.synchronize()
    began = time.perf_counter_ns()
    for _ in range(FORWARDS):
        work()
    torch.cuda.synchronize()
    return (time.perf_counter_ns() - began) / FORWARDS / 1e3


if __name__ == "__main__":
    main()
