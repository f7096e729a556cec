"""Some faults of the campaign, of every area, and those that once did harm."""

from __future__ import annotations

import sys
from pathlib import Path
from unittest import mock

import faults_campaign
import faults_signals
import pytest
from faults import faults, injected, main
from faults_campaign import KERNEL, PROBLEM, campaign
from faults_record import AREAS, IMPOSSIBLE
from patience import PATIENCE_S, PATIENT, limited

from autotune.records import Config, load_kernel
from autotune.records.targets import TARGETS
from autotune.toolchain import BinaryStore, Nvrtc, compile_now

HOST = {fault.name: fault for fault in faults("host")}
SOME = (
    "lowers limits",
    "leaves crashing",
    "stale",
    "clock nan",
    "compiler's disk full",
    "database replaced",
    "database of a rival",
    "source vanishes",
    "source edited",
    "SIGKILL in a run",
)
ON_GPU = ("waits for mbarrier", "illegal address", "too much scratch", "lane crashes", "tires")


def test_words_that_name_no_fault_are_refused_before_any_is_injected(capsys):
    with pytest.raises(SystemExit):
        main(["--list", "--only", "database", "--only", "gremlins"])
    assert "no area 'gremlins'" in capsys.readouterr().err
    assert main(["--list", "--only", "database", "--only", "SIGKILL"]) == 0
    assert "SIGKILL in a run" in capsys.readouterr().out


@pytest.fixture(scope="module")
def host():
    """A campaign that gives up soon what hangs, and nothing else on a machine that stalls."""

    def opened(name, limits, open_it=faults_campaign._opened):
        return limited(open_it(name, limits))

    with (
        mock.patch.dict(faults_campaign.LIMITS, host=PATIENT),
        mock.patch.object(faults_campaign, "_opened", opened),
        mock.patch.object(faults_signals, "ORPHANED_S", PATIENCE_S),
        campaign("host") as place,
    ):
        yield place


def requires(fault, place):
    """Inject ``fault`` and require that it costs what it may cost."""
    seen = injected(fault, place)
    if seen.status == IMPOSSIBLE:
        pytest.skip(seen.message)
    harm = (seen.rows_lost, seen.disturbed, seen.winners_wrong)
    assert (seen.status, *harm) == (fault.expected, 0, 0, 0), seen.message


@pytest.mark.parametrize("name", SOME)
def test_a_fault_costs_one_row_or_one_run(host, name):
    requires(HOST[name], host)


@pytest.mark.gpu
@pytest.mark.parametrize("name", ON_GPU)
def test_a_fault_on_a_gpu_costs_one_row(name):
    known = {fault.name: fault for fault in faults("cuda:0")}
    with campaign("cuda:0") as place:
        requires(known[name], place)


def test_no_fault_of_a_gpu_is_optimized_away(tmp_path):
    """A loop without effects, for one, a compiler may take to end."""
    kernel = load_kernel(KERNEL["cuda"])
    problem, target = kernel.problem_type.parse(PROBLEM["cuda"]), TARGETS["sm_90a"]
    code = {}
    for fault in sorted(sys.modules[type(kernel).__module__].IN_SOURCE):
        unit = kernel.unit(problem, Config(work=1, fault=fault), target)
        built = compile_now(Nvrtc(), BinaryStore(tmp_path), unit, target.arch)
        code.setdefault(Path(built.path).read_bytes(), []).append(fault)
    assert [alike for alike in code.values() if len(alike) > 1] == []


def test_every_fault_has_a_name_of_its_own():
    for device in ("host", "cuda:0"):
        names = [fault.name for fault in faults(device)]
        assert len(set(names)) == len(names)
    assert {fault.area for fault in HOST.values()} == set(AREAS)
    assert len(HOST) >= 60
