"""Faults of the mechanisms whose threads copy, each with a product that should show it.

Threads that race do so for long and often: many blocks share a multiprocessor, and CUDA cores
multiply a tile in more time than a copy takes. A batch that nobody waits for is the first one.
"""

from __future__ import annotations

from gemm_mutants import Mutant, changed, dropped

from kernel_space.gemm import GemmProblem

RACY = GemmProblem(2048, 2048, 512, "fp32")
SHALLOW = GemmProblem(4096, 4096, 64)  # fewer tiles of K than stages
TAIL = GemmProblem(1024, 1024, 1000)  # along K alone: what lies behind a row is the next one
SQUARE = GemmProblem(1024, 1024, 1024)

CROWD = {"tile_m": 64, "tile_n": 64, "tile_k": 32, "warp_m": 32, "warp_n": 32}
SYNC1 = {**CROWD, "mechanism": "sync1", "stages": 1, "barriers": 0, "cache": "l1"}
SYNC2_SMEM = {**SYNC1, "mechanism": "sync2_smem", "stages": 2}
SYNC2 = {**SYNC2_SMEM, "mechanism": "sync2"}
CG = {**CROWD, "mechanism": "cg_memcpy_async", "stages": 1, "barriers": 0}
TWO_BARRIERS = {**CROWD, "mechanism": "cp_async", "stages": 2, "barriers": 2}
FOUR_STAGES = {**TWO_BARRIERS, "stages": 4}
ONE_BARRIER = {**TWO_BARRIERS, "barriers": 1}
PIPELINE_THREAD = {**FOUR_STAGES, "mechanism": "pipeline_thread"}
PIPELINE_BLOCK = {**CROWD, "mechanism": "pipeline_block", "stages": 2, "barriers": 0}
MBARRIER = {**CROWD, "mechanism": "mbarrier", "stages": 3, "barriers": 0}
WS = {**MBARRIER, "mechanism": "ws_cp_async", "stages": 2}

BLOCK_BARRIERS = (
    Mutant(
        name="sync1_without_its_first_barrier",
        file="gemm/ampere/mainloop_sync1.cuh",
        edits=dropped("__syncthreads();", "             // the tile is complete"),
        problem=RACY,
        knobs=SYNC1,
    ),
    Mutant(
        name="sync1_without_its_second_barrier",
        file="gemm/ampere/mainloop_sync1.cuh",
        edits=dropped("__syncthreads();", "             // everyone has read it"),
        problem=RACY,
        knobs=SYNC1,
    ),
    Mutant(
        name="sync2_smem_without_its_barrier",
        file="gemm/ampere/mainloop_sync2_smem.cuh",
        edits=dropped("__syncthreads();", "\n        }"),
        problem=RACY,
        knobs=SYNC2_SMEM,
    ),
    Mutant(
        name="sync2_without_its_barrier",
        file="gemm/ampere/mainloop_sync2.cuh",
        edits=dropped("__syncthreads();", "  // the next tile is complete"),
        problem=RACY,
        knobs=SYNC2,
    ),
    Mutant(
        name="cg_memcpy_async_without_its_second_barrier",
        file="gemm/ampere/mainloop_cg_memcpy_async.cuh",
        edits=dropped("block.sync();", "  // everyone has read it"),
        problem=RACY,
        knobs=CG,
    ),
    Mutant(
        name="cp_async_without_its_second_barrier",
        file="gemm/ampere/mainloop_cp_async.cuh",
        edits=dropped("__syncthreads();", "  // everybody has read the stage"),
        problem=RACY,
        knobs=TWO_BARRIERS,
    ),
    Mutant(
        name="cp_async_without_its_only_barrier",
        file="gemm/ampere/mainloop_cp_async.cuh",
        edits=dropped("__syncthreads();", "             // and so has everybody else's"),
        problem=RACY,
        knobs=ONE_BARRIER,
    ),
)

BATCHES = (
    Mutant(
        name="five_batches_in_four_stages",
        file="gemm/ampere/mainloop_cp_async.cuh",
        edits=(
            ("tile < AHEAD; ++tile)", "tile <= AHEAD; ++tile)"),
            ("shared + tile * STAGE_BYTES", "shared + tile % config::STAGES * STAGE_BYTES"),
        ),
        problem=SQUARE,
        knobs=FOUR_STAGES,
    ),
    Mutant(
        name="empty_batches_are_not_committed",
        file="gemm/ampere/mainloop_cp_async.cuh",
        edits=changed("cp_async_commit();", "if (wanted) cp_async_commit();"),
        problem=SHALLOW,
        knobs=FOUR_STAGES,
    ),
    Mutant(
        name="cp_async_waits_for_one_batch_fewer",
        file="gemm/ampere/mainloop_cp_async.cuh",
        edits=changed("cp_async_wait<AHEAD - 1>", "cp_async_wait<AHEAD>"),
        problem=SQUARE,
        knobs=FOUR_STAGES,
    ),
    Mutant(
        name="pipeline_thread_waits_for_one_batch_fewer",
        file="gemm/ampere/mainloop_pipeline_thread.cuh",
        edits=changed("wait_prior<AHEAD - 1>", "wait_prior<AHEAD>"),
        problem=SQUARE,
        knobs=PIPELINE_THREAD,
    ),
)

RINGS = (
    Mutant(
        name="mbarrier_forgets_the_lap",
        file="ptx/pipeline.cuh",
        edits=dropped("lap ^= 1;"),
        problem=SQUARE,
        knobs=MBARRIER,
    ),
    Mutant(
        name="ws_cp_async_forgets_the_lap",
        file="ptx/pipeline.cuh",
        edits=dropped("lap ^= 1;"),
        problem=SQUARE,
        knobs=WS,
    ),
    Mutant(
        name="ws_cp_async_is_full_before_its_copies_came",
        file="ptx/pipeline.cuh",
        edits=changed("barrier_arrive_with_copies(full", "barrier_arrive(full"),
        problem=SQUARE,
        knobs=WS,
    ),
    Mutant(
        name="ws_cp_async_frees_a_stage_before_it_is_read",
        file="gemm/ampere/mainloop_ring.cuh",
        edits=(
            ("before(tile);", "before(tile);\n        ring.consumer_release_by_warp(read);"),
            ("        ring.consumer_release_by_warp(done);\n", ""),
            ("        const Ring::Cursor done = read;\n", ""),
        ),
        problem=RACY,
        knobs=WS,
    ),
    Mutant(
        name="pipeline_block_frees_a_stage_before_it_is_read",
        file="gemm/ampere/mainloop_pipeline_block.cuh",
        edits=(
            ("pipe.consumer_wait();", "pipe.consumer_wait();\n        pipe.consumer_release();"),
            (
                "multiply_last(product);\n        pipe.consumer_release();",
                "multiply_last(product);",
            ),
        ),
        problem=RACY,
        knobs=PIPELINE_BLOCK,
    ),
    Mutant(
        name="ws_cp_async_ends_before_its_copies",
        file="gemm/ampere/mainloop_ws_cp_async.cuh",
        edits=dropped("cp_async_wait<0>();"),
        problem=SQUARE,
        knobs=WS,
        seen=False,
    ),
)

COPIES = (
    Mutant(
        name="b_is_read_where_a_is",
        file="gemm/ampere/gemm_ampere.cuh",
        edits=changed("place.n * config::TILE_N, n, k)", "place.m * config::TILE_N, n, k)"),
        problem=SQUARE,
        knobs=FOUR_STAGES,
    ),
    Mutant(
        name="asynchronous_copies_leave_no_zeros_behind_k",
        file="gemm/ampere/ptx.cuh",
        edits=changed("inside ? BYTES : 0;", "BYTES;"),
        problem=TAIL,
        knobs=FOUR_STAGES,
    ),
    Mutant(
        name="loads_leave_no_zeros_behind_k",
        file="gemm/ampere/copy.cuh",
        edits=changed("inside(i) ? __ldg(address) : Piece{};", "__ldg(address);"),
        problem=TAIL,
        knobs=SYNC2,
    ),
    Mutant(
        name="libraries_leave_no_zeros_behind_k",
        file="gemm/ampere/library_copy.cuh",
        edits=dropped("        else\n            *target = {};\n"),
        problem=TAIL,
        knobs=PIPELINE_THREAD,
    ),
)

AMPERE_MUTANTS = (*BLOCK_BARRIERS, *BATCHES, *RINGS, *COPIES)
