"""Studies of ``kernels/doubling.py``, and what the tests of a case ask of them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from autotune.records import QUICK
from autotune.study import DriftSpec, FinalSpec, Silent, StudySpec, run_study

sys.path.insert(0, str(Path(__file__).parent / "kernels"))
from doubling import CUDA, HOST, Doubling, DoublingOnGpu

POLICY = QUICK.replace(warmup_ms=0.1, budget_ms=1.0, stop_factor=0.0)  # slow here is bad luck
OF = {"c++": (HOST, Doubling), "cuda": (CUDA, DoublingOnGpu)}


def kernel(candidates, language="c++", made=None):
    """Return the kernel whose space is ``candidates``, in this order."""
    of = (made or OF[language][1])()
    of.candidates = tuple(candidates)
    return of


def spec(*candidates, counts=(1024,), language="c++", **changes):
    """Return a study that goes through ``candidates`` in this order, without a final."""
    reference = changes.pop("reference", OF[language][0])
    of = changes.pop("kernel", None) or kernel(candidates, language)
    fields = {
        "name": "study",
        "kernel_ref": reference,
        "kernel": of,
        "problems": tuple(of.problem_type(count=count) for count in counts),
        "sampler": "exhaustive",
        "trials": 100,
        "policy": POLICY,
        "final": FinalSpec(candidates=0),
        "drift": DriftSpec(every=0),
    }
    return StudySpec(**{**fields, **changes})


def hangs(count, config):
    """Return True if a candidate hangs on so many elements, now: ``kernels/doubling.cpp``."""
    match config["candidate"].partition(":")[0]:
        case "hang":
            return True
        case "hang_on_odd":
            return count % 2 == 1
        case "hang_when_told":
            return Path(os.environ["DOUBLING_HANGS"]).exists()
    return False


def large(policy):
    """Return how to study a size on a GPU that a neighbour's launches would show in."""
    return {
        "language": "cuda",
        "counts": (1 << 24,),
        "policy": policy.replace(stop_factor=0.0),
    }


def run(device, store, *candidates, observer=None, **changes):
    """Run a study and return what it reports of each problem."""
    asked = spec(*candidates, **changes)
    return run_study(asked, device=device, store=store, observer=observer).problems


def statuses(store):
    """Return the status of each candidate that has a row, as text, in the order of the rows."""
    return {row.trial.config["candidate"]: str(row.trial.status) for row in store.rows()}


class Interrupting(Silent):
    """Interrupts a study, as Ctrl-C does, once a candidate's row is kept."""

    def __init__(self, candidate):
        self._candidate = candidate

    def trial(self, problem, trial, best):
        if trial.config["candidate"] == self._candidate:
            raise KeyboardInterrupt
