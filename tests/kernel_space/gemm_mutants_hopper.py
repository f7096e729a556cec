"""Faults of Hopper's mechanisms, each with a product that should show it.

Two stages and large tiles make a product last longer than the copy that must not overtake it;
a short K and wide tiles make stores follow each other.
"""

from __future__ import annotations

from gemm_mutants import Mutant, changed, dropped

from kernel_space.gemm import GemmProblem

WIDE = GemmProblem(4096, 4096, 1024)
SQUARE = GemmProblem(1024, 1024, 1024)
SHALLOW = GemmProblem(4096, 4096, 64)
SKINNY = GemmProblem(16, 4096, 4096)
ODD = GemmProblem(520, 520, 1001)

PINGPONG = {"mechanism": "ws_pingpong"}
TMA = {"mechanism": "tma", "tile_m": 256, "tile_n": 176, "stages": 2, "in_flight": 1}
LONG = {"mechanism": "ws_cooperative", "tile_m": 256, "tile_n": 192, "stages": 2}
PANELS = {"mechanism": "ws_cooperative", "tile_m": 128, "tile_n": 256, "stages": 4}
CLUSTER = {**PANELS, "cluster_m": 2}
SPLIT = {
    "mechanism": "ws_basic",
    "tile_m": 64,
    "tile_n": 256,
    "stages": 5,
    "split_k": 4,
    "epilogue": "direct",
}

CONSUMERS = (
    Mutant(
        name="hopper_forgets_the_phase",
        file="gemm/hopper/layout.cuh",
        edits=dropped("phase ^= 1;"),
        problem=SQUARE,
        knobs=PINGPONG,
    ),
    Mutant(
        name="hopper_frees_a_stage_before_it_is_read",
        file="gemm/hopper/consumer.cuh",
        edits=(
            ("ring.phase);", "ring.phase);\n            release(ring.stage);"),
            ("        release(stage);\n", ""),
            ("        release(previous);\n", ""),
        ),
        problem=WIDE,
        knobs=LONG,
    ),
    Mutant(
        name="hopper_frees_a_stage_while_it_is_multiplied",
        file="gemm/hopper/consumer.cuh",
        edits=dropped("product_wait<config::IN_FLIGHT - 1>();"),
        problem=WIDE,
        knobs=PANELS,
        seen=False,
    ),
    Mutant(
        name="sums_are_stored_before_the_last_product_is_done",
        file="gemm/hopper/consumer.cuh",
        edits=dropped("product_wait<0>();"),
        problem=SQUARE,
        knobs=PANELS,
        seen=False,
    ),
    Mutant(
        name="tma_refills_a_stage_while_it_is_multiplied",
        file="gemm/hopper/gemm_hopper.cuh",
        edits=dropped("product_wait<0>();"),
        problem=WIDE,
        knobs=TMA,
    ),
    Mutant(
        name="tma_refills_a_stage_that_other_groups_multiply",
        file="gemm/hopper/gemm_hopper.cuh",
        edits=dropped("__syncthreads();", "  // everybody has read the stage"),
        problem=WIDE,
        knobs=TMA,
    ),
)

PRODUCERS = (
    Mutant(
        name="hopper_expects_the_bytes_of_a_alone",
        file="gemm/hopper/producer.cuh",
        edits=changed("8 * stage, STAGE_BYTES);", "8 * stage, TileA::BYTES);"),
        problem=SQUARE,
        knobs=PINGPONG,
    ),
    Mutant(
        name="hopper_expects_too_many_bytes",
        file="gemm/hopper/producer.cuh",
        edits=changed("8 * stage, STAGE_BYTES);", "8 * stage, STAGE_BYTES + 16);"),
        problem=SQUARE,
        knobs=PINGPONG,
    ),
    Mutant(
        name="hopper_reads_b_where_a_is",
        file="gemm/hopper/producer.cuh",
        edits=changed("stage, place.col, k,", "stage, place.row, k,"),
        problem=SQUARE,
        knobs=PINGPONG,
    ),
    Mutant(
        name="blocks_of_a_cluster_load_the_same_slice",
        file="gemm/hopper/producer.cuh",
        edits=changed("place.col, k, schedule.rank_m(),", "place.col, k, 0,"),
        problem=SQUARE,
        knobs=CLUSTER,
    ),
    Mutant(
        name="barriers_are_used_without_a_fence",
        file="gemm/hopper/gemm_hopper.cuh",
        edits=dropped("barrier_init_fence();"),
        problem=SQUARE,
        knobs=CLUSTER,
        seen=False,
    ),
    Mutant(
        name="hopper_does_not_wait_for_the_launch_before",
        file="gemm/hopper/producer.cuh",
        edits=dropped("wait_for_launch_before();"),
        problem=SQUARE,  # its 32 tiles leave room for the next launch beside it …
        knobs=PANELS,  # … which starts while the last stages are multiplied
        chained=True,
    ),
)

EPILOGUES = (
    Mutant(
        name="a_panel_is_overwritten_while_it_is_stored",
        file="gemm/hopper/*.cuh",
        edits=dropped("if (thread == 0) bulk_store_wait_read<config::STORE_SLOTS - 1>();"),
        problem=SHALLOW,
        knobs=PANELS,
    ),
    Mutant(
        name="a_panel_is_stored_without_a_proxy_fence",
        file="gemm/hopper/*.cuh",
        edits=dropped("async_proxy_fence();"),
        problem=SHALLOW,
        knobs=PANELS,
    ),
    Mutant(
        name="a_part_of_k_is_added_twice",
        file="gemm/hopper/*.cuh",
        edits=changed("schedule.in_part(peer)", "schedule.in_part(peer / 2)"),
        problem=SKINNY,
        knobs=SPLIT,
    ),
    Mutant(
        name="a_block_leaves_while_others_read_its_sums",
        file="gemm/hopper/gemm_hopper.cuh",
        edits=dropped("cluster_sync();", "  // a block must not leave"),
        problem=SKINNY,
        knobs=SPLIT,
    ),
    Mutant(
        name="a_block_leaves_while_others_signal_its_barriers",
        file="gemm/hopper/producer.cuh",
        edits=dropped("if constexpr (TEAM > 1) drain(ring);"),
        problem=SQUARE,
        knobs=CLUSTER,
        seen=False,
    ),
)

PACKING = (
    Mutant(
        name="rows_are_packed_one_element_off",
        file="gemm/hopper/pack.cuh",
        edits=changed("int>(start % PIECE", "int>((start + 1) % PIECE"),
        problem=ODD,
        knobs=PINGPONG,
    ),
    Mutant(
        name="packing_skips_the_last_element_of_odd_rows",
        file="gemm/hopper/pack.cuh",
        edits=changed(": count > 2 * i ? word & 0xFFFF : 0;", ": 0;"),
        problem=ODD,
        knobs=PINGPONG,
    ),
    Mutant(
        name="packing_skips_the_last_elements_of_the_matrix",
        file="gemm/hopper/pack.cuh",
        edits=changed("if (e < count(at))", "if (e + 1 < count(at))"),
        problem=ODD,
        knobs=PINGPONG,
    ),
)

HOPPER_MUTANTS = (*CONSUMERS, *PRODUCERS, *EPILOGUES, *PACKING)
