"""The named rules of the Hopper mechanisms. Those of the other mechanisms never meet them."""

from __future__ import annotations

from autotune.records import Config, Target, Value
from autotune.space import Constraint
from kernel_space.gemm.hopper.plan import (
    BARRIER_BYTES,
    GROUP_ROWS,
    IN_FLIGHT,
    MAX_CONSUMERS,
    MECHANISMS,
    PITCH_BYTES,
    HopperPlan,
    consumers,
    tile_k,
)
from kernel_space.gemm.problem import GemmProblem

MAX_SUMS = 208  # fp32 accumulators of a thread
MAX_SUMS_IN_A_CLUSTER = 192  # whose producers keep more registers
MAX_SUMS_IN_A_TEAM = 128  # of more than two blocks, whose producers keep most
MAX_SUMS_OF_THREE = 96  # consumers: each has fewer registers
FEW_ROWS = 256  # up to which swapping the operands may fill wgmma's 64 rows better
STEPS_OF_A_PART = 2  # fewest steps of K that are worth a block of their own
MOST_STAGES = 12
STAGES_BELOW_MOST = 2  # fewer stages than this below what fits hide less
MOST_BLOCKS_IN_A_CLUSTER = 8  # that every device can place
FLOP_PER_BYTE = 256  # from which arithmetic on 16-bit elements takes longer than memory
FIXED: dict[str, Value] = {  # with tile_k, what these mechanisms leave no choice in
    "warp_m": 0,
    "warp_n": 0,
    "copy_bytes": PITCH_BYTES,
    "cache": "bypass",
    "barriers": 0,
}


def fixed(problem: GemmProblem) -> dict[str, Value]:
    """Return what tensor copies and warp-group products leave no choice in."""
    return FIXED | {"tile_k": tile_k(problem)}


def idle(config: Config) -> dict[str, Value]:
    """Return what goes without saying in a config of these mechanisms."""
    in_flight = IN_FLIGHT[str(config["mechanism"])][-1]
    return FIXED | {"tile_k": config["tile_k"], "in_flight": in_flight, "epilogue": "staged"}


def hopper_rules(problem: GemmProblem, target: Target) -> tuple[Constraint, ...]:
    """Return the constraints that speak of TMA, wgmma, clusters, split K and swapping."""
    rules = (
        *(Constraint.fixed("no_choice", name, value) for name, value in fixed(problem).items()),
        tensor_copies(problem, target),
        repack(problem),
        warp_groups(),
        accumulators(),
        in_flight(),
        *cluster(problem),
        swap(problem),
        split_k(problem, target),
        keep(problem),
        epilogue(problem, target),
        shared_memory(problem, target),
        l2_promotion(problem),
    )
    return tuple(rule.only_where("mechanism", MECHANISMS) for rule in rules)


def unavailable(problem: GemmProblem, target: Target) -> str | None:
    """Return why no Hopper mechanism can run ``problem`` on ``target``, or None."""
    if target.arch != "sm_90a":
        return f"warp-group products exist on sm_90a, not on {target.arch}"
    if not problem.uses_tensor_cores:
        return f"warp-group products take e4m3, bf16 and fp16, not {problem.dtype}"
    if problem.k == 0:
        return "a tensor map cannot describe a matrix without elements"
    return None


def tensor_copies(problem: GemmProblem, target: Target) -> Constraint:
    """Return the rule that the device has them, and that there is something to copy."""
    reason = unavailable(problem, target)

    def broken(mechanism: str) -> str | None:
        del mechanism
        return reason

    return Constraint("tensor_copies", broken)


def repack(problem: GemmProblem) -> Constraint:
    """Return the rule that rows are repacked where tensor maps need it, and only there."""
    field = unmappable(problem)
    row_bytes = problem.row_bytes(field) if field is not None else 0

    def broken(repack: str) -> str | None:
        if repack == "none" and field is not None:
            return f"rows along {field} are {row_bytes} bytes, not a multiple of {PITCH_BYTES}"
        if repack == "rows" and field is None:
            return f"rows of A and B are multiples of {PITCH_BYTES} bytes: a map takes them as is"
        return None

    return Constraint("repack", broken)


def unmappable(problem: GemmProblem) -> str | None:
    """Return the field along which rows are too ragged for a tensor map, or None."""
    rows = (field for field in problem.row_fields if problem.row_bytes(field) % PITCH_BYTES)
    return next(rows, None)


def warp_groups() -> Constraint:
    """Return the rule that warp groups of 64 rows divide the tile."""

    def broken(mechanism: str, tile_m: int, tile_n: int) -> str | None:
        groups = consumers(mechanism, tile_m)
        each = GROUP_ROWS * (1 if mechanism == "ws_pingpong" else groups)
        if tile_m % each:
            return f"{tile_m} rows do not divide into {each} for each turn of the warp groups"
        if mechanism == "ws_cooperative" and groups == 1:
            return f"{tile_m} rows are one warp group's: there is nothing to share"
        if tile_n % 16:
            return f"a tile of {tile_n} columns is not a multiple of 16"
        return None

    return Constraint("warp_groups", broken)


def accumulators() -> Constraint:
    """Return the rule that a consumer's sums fit its registers."""

    def broken(  # who holds which sums, and who else needs registers
        mechanism: str, tile_m: int, tile_n: int, cluster_m: int, cluster_n: int, split_k: int
    ) -> str | None:
        groups = consumers(mechanism, tile_m)
        rows = tile_m if mechanism == "ws_pingpong" else tile_m // groups
        sums, most = rows * tile_n // 128, _most_sums(groups, cluster_m * cluster_n, split_k)
        if sums > most:
            return f"{sums} sums for each thread; with {groups} consumers {most} fit"
        return None

    return Constraint("accumulators", broken)


def _most_sums(groups: int, team: int, split_k: int) -> int:
    if groups == MAX_CONSUMERS:
        return MAX_SUMS_OF_THREE
    if team > 2:
        return MAX_SUMS_IN_A_TEAM
    return MAX_SUMS if team * split_k == 1 else MAX_SUMS_IN_A_CLUSTER


def in_flight() -> Constraint:
    """Return the rule that products overlap only where a producer goes on meanwhile."""

    def broken(mechanism: str, in_flight: int) -> str | None:
        allowed = IN_FLIGHT[mechanism]
        if in_flight not in allowed:
            return f"{mechanism} has {' or '.join(map(str, allowed))} here, not {in_flight}"
        return None

    return Constraint("in_flight", broken)


def cluster(problem: GemmProblem) -> tuple[Constraint, Constraint]:
    """Return the rules of clusters: every block loads a slice of what it shares; not too many."""
    k_contiguous = not problem.a_transposed and problem.b_transposed
    grain = 8 if k_contiguous else 64

    def slices(
        mechanism: str, tile_m: int, tile_n: int, cluster_m: int, cluster_n: int
    ) -> str | None:
        if mechanism == "tma" and cluster_m * cluster_n > 1:
            return "without a producer nobody waits for the other blocks of a cluster"
        for name, tile, sharers in (("A", tile_m, cluster_n), ("B", tile_n, cluster_m)):
            if tile % (sharers * grain):
                return f"{sharers} blocks cannot share {tile} lines of {name}, {grain} at a time"
        return None

    def size(cluster_m: int, cluster_n: int, split_k: int) -> str | None:
        blocks = cluster_m * cluster_n * split_k
        if blocks > MOST_BLOCKS_IN_A_CLUSTER:
            return f"{blocks} blocks are more than the {MOST_BLOCKS_IN_A_CLUSTER} of a cluster"
        return None

    return Constraint("cluster", slices), Constraint("cluster", size)


def swap(problem: GemmProblem) -> Constraint:
    """Return the rule that operands are swapped only where C has few rows."""

    def broken(operands: str) -> str | None:
        if operands == "swapped" and problem.m > FEW_ROWS:
            return f"swapping is for few rows; {problem.m} are more than {FEW_ROWS}"
        return None

    return Constraint("swap", broken)


def split_k(problem: GemmProblem, target: Target) -> Constraint:
    """Return the rule that K is split only where tiles alone leave the device idle."""
    steps = -(-problem.k // tile_k(problem))

    def broken(  # the grid decides
        mechanism: str, tile_m: int, tile_n: int, operands: str, split_k: int
    ) -> str | None:
        if split_k == 1:
            return None
        if mechanism not in ("ws_basic", "ws_cooperative"):
            return f"{mechanism} does not split K"
        if steps < STEPS_OF_A_PART * split_k:
            return f"{steps} steps of K are too few for {split_k} blocks"
        rows, columns = (problem.n, problem.m) if operands == "swapped" else (problem.m, problem.n)
        tiles = -(-rows // tile_m) * -(-columns // tile_n)
        if tiles * split_k > 2 * target.sm_count:
            return f"{tiles} tiles keep {target.sm_count} multiprocessors busy without splitting K"
        return None

    return Constraint("split_k", broken)


def keep(problem: GemmProblem) -> Constraint:
    """Return the rule that L2 holds on to the smaller operand only, where memory is the limit."""
    a, b = problem.m * problem.k, problem.k * problem.n
    smaller = "a" if a <= b else "b"
    flop = 2 * problem.m * problem.n * problem.k
    intensity = flop // max(1, problem.moved_bytes)
    enough = FLOP_PER_BYTE * problem.tensor_speed

    def broken(keep: str) -> str | None:
        if keep == "neither":
            return None
        if intensity >= enough:
            return f"at {intensity} FLOP for each byte it does not matter what L2 keeps"
        return None if keep == smaller else f"{keep} is the larger operand: it streams past"

    return Constraint("keep", broken)


def epilogue(problem: GemmProblem, target: Target) -> Constraint:
    """Return the rule that sums are stored directly only where nothing could hide a detour."""
    unrounded = problem.output_dtype == "fp32"

    def broken(  # who holds which sums, and how many tiles there are
        tile_m: int, tile_n: int, operands: str, split_k: int, epilogue: str
    ) -> str | None:
        if split_k > 1:
            return None if epilogue == "direct" else "parts are added up on their way to C"
        if unrounded:
            return None if epilogue == "direct" else "sums that are not rounded leave in sectors"
        if epilogue == "staged":
            return None
        if operands == "swapped":
            return "a transposed tile leaves through shared memory"
        tiles = -(-problem.m // tile_m) * -(-problem.n // tile_n)
        if tiles > target.sm_count:
            return f"with {tiles} tiles a store by the copy engine hides behind the next tile"
        return None

    return Constraint("epilogue", broken)


def shared_memory(problem: GemmProblem, target: Target) -> Constraint:
    """Return the rule that the stages fit, that they are many, and that partial sums fit them."""

    def broken(  # all that takes room
        mechanism: str,
        tile_m: int,
        tile_n: int,
        stages: int,
        operands: str,
        split_k: int,
        epilogue: str,
    ) -> str | None:
        tile = tile_m, tile_n
        plan = _without_stages(problem, mechanism, tile, operands, split_k, epilogue)
        room = target.shared_bytes_per_block - plan.shared_bytes
        most = room // (plan.stage_bytes + BARRIER_BYTES)
        if stages > most:
            return f"{stages} stages of {plan.stage_bytes} bytes do not fit; {most} do"
        if stages < max(2, min(most, MOST_STAGES) - STAGES_BELOW_MOST):
            return f"{stages} stages hide less than the {most} that fit"
        if split_k > 1 and plan.partial_bytes > stages * plan.stage_bytes:
            return f"{stages} stages have no room for {plan.partial_bytes} bytes of partial sums"
        return None

    return Constraint("shared_memory", broken)


def l2_promotion(problem: GemmProblem) -> Constraint:
    """Return the rule that only ragged rows choose how much a miss brings into L2.

    Those that are repacked are so no more: their copies have whole lines.
    """
    lengths = [problem.row_bytes(field) for field in problem.row_fields]
    ragged = any(length % 128 and length % PITCH_BYTES == 0 for length in lengths)
    allowed = (128, 256) if ragged else (256,)

    def broken(l2_promotion: int) -> str | None:
        if l2_promotion not in allowed:
            return f"{l2_promotion} bytes never won here; {' and '.join(map(str, allowed))} do"
        return None

    return Constraint("l2_promotion", broken)


def _without_stages(
    problem: GemmProblem,
    mechanism: str,
    tile: tuple[int, int],
    operands: str,
    split_k: int,
    epilogue: str,
) -> HopperPlan:
    return HopperPlan(
        problem=problem,
        mechanism=mechanism,
        tile_m=tile[0],
        tile_n=tile[1],
        stages=0,
        cluster_m=1,
        cluster_n=1,
        in_flight=1,
        split_k=split_k,
        swapped=operands == "swapped",
        l2_promotion_bytes=0,
        keep="neither",
        epilogue=epilogue,
        along_m=False,
        group=1,
        repacked=False,
    )
