"""Faults that a candidate brings along: each is one config of one kernel."""

from __future__ import annotations

from functools import partial

from faults_record import Fault
from faults_study import MOST_LANES, Seen, Site

from autotune.records import Status

# Area and expected status, then the configs.
HOST = {
    ("compile", Status.COMPILE_ERROR): "syntax asserts missing_header computed_include "
    "includes_itself no_entry many_errors deep_template native unit_raises",
    ("compile", Status.COMPILE_TIMEOUT): "endless_compile",
    ("run", Status.RUNTIME_ERROR): "undefined launch_raises launch_exits unknown_operand",
    ("run", Status.CRASHED): "null illegal_address read_only_write divides_by_zero "
    "illegal_instruction aborts throws exits kills_itself frees_twice overflows_stack "
    "crashes_second exhausts_memory closes_files garbles_pipe lane_exits",
    ("run", Status.TIMEOUT): "spins sleeps deadlocks stops",
    ("run", Status.OOM): "too_much_scratch",
    ("run", Status.OK): "prints forks copies_itself changes_folder clears_environment "
    "takes_signals rounds_up lowers_limits leaves_spinning leaves_crashing crashes_once "
    "killed_once",
    ("verification", Status.INCORRECT): "half_of_k not_a_number infinite zeros nothing tail "
    "integers_only low_precision transposed accumulates overruns underruns spoils_input stale "
    "trusts_scratch beyond_scratch",
    ("verification", Status.NONDETERMINISTIC): "wavers rarely_wrong",
    ("timing", Status.INCORRECT): "tires remembers spoils_later",
    ("timing", Status.BAD_MEASUREMENT): "clock_zero clock_negative clock_nan clock_infinite "
    "clock_stuck empty_grid",
}
GPU = {
    ("compile", Status.COMPILE_ERROR): "syntax asserts missing_header no_entry undefined",
    ("run", Status.RUNTIME_ERROR): "illegal_address unmapped_read misaligned_load "
    "misaligned_copy trap overflows_stack launch_raises unknown_operand",
    ("run", Status.CRASHED): "lane_exits lane_crashes",
    ("run", Status.TIMEOUT): "waits_for_mbarrier waits_for_copy waits_for_block spins sleeps",
    ("run", Status.OOM): "too_much_scratch",
    ("run", Status.RESOURCES): "spills too_many_threads too_much_shared",
    ("run", Status.OK): "prints",
    ("verification", Status.INCORRECT): "half nothing tail not_a_number integers_only "
    "low_precision accumulates overruns underruns spoils_input trusts_scratch beyond_scratch",
    ("verification", Status.NONDETERMINISTIC): "wavers rarely_wrong",
    ("timing", Status.INCORRECT): "tires spoils_later",
    ("timing", Status.BAD_MEASUREMENT): "empty_grid",
}


def of_candidates(groups: dict[tuple[str, Status], str]) -> list[Fault]:
    """Return each config of ``groups`` as a fault."""
    return [
        Fault(
            name=name.replace("_", " "),
            area=area,
            expected=str(status),
            inject=partial(_among_right_ones, fault=name),
        )
        for (area, status), names in groups.items()
        for name in names.split()
    ]


def _among_right_ones(site: Site, *, fault: str) -> Seen:
    """Run the study, resume it, and see that it was not tried again."""
    first = site.tune(fault)
    tried = site.lanes(fault)
    seen = site.seen([first, site.tune(fault)], fault=fault)
    if site.lanes(fault) == tried <= MOST_LANES:
        return seen
    return seen.but(f"{seen.status}, run in {site.lanes(fault)} processes")
