"""Spaces that others published, and two that no list should hold.

The published ones are those of the benchmark hub of Kernel Tuner's authors
(github.com/AutoTuningAssociation/benchmark_hub, commit 8eeb99e). A constraint's name is the rule as
text, which is what Kernel Tuner takes.
"""
# Parameters keep their published names.
# ruff: noqa: N803

from __future__ import annotations

from collections.abc import Sequence

from autotune.space import Constraint, Parameter, Space


def _parameters(values: dict[str, Sequence[int]]) -> tuple[Parameter, ...]:
    return tuple(Parameter(name, tuple(each)) for name, each in values.items())


_THREADS = Constraint(
    "block_size_x * block_size_y <= 1024",
    lambda block_size_x, block_size_y: (
        None if block_size_x * block_size_y <= 1024 else "too many threads"
    ),
)

CONVOLUTION = Space(
    _parameters(
        {
            "block_size_x": range(16, 257, 16),
            "block_size_y": (1, 2, 4, 8, 16),
            "tile_size_x": range(1, 5),
            "tile_size_y": range(1, 5),
            "read_only": (0, 1),
            "use_padding": (0, 1),
            "use_shmem": (0, 1),
            "use_cmem": (1,),
            "filter_height": (15,),
            "filter_width": (15,),
        }
    ),
    (
        Constraint(
            "use_padding == 0 or block_size_x % 32 != 0",
            lambda use_padding, block_size_x: (
                None if use_padding == 0 or block_size_x % 32 else "padding is for odd widths"
            ),
        ),
        _THREADS,
        Constraint(
            "use_padding == 0 or use_shmem != 0",
            lambda use_padding, use_shmem: (
                None if use_padding == 0 or use_shmem else "there is nothing to pad"
            ),
        ),
        Constraint(
            "use_shmem == 0 or (block_size_x * tile_size_x + filter_width - 1)"
            " * (block_size_y * tile_size_y + filter_height - 1) < 12 * 1024",
            lambda use_shmem, block_size_x, tile_size_x, filter_width, block_size_y, tile_size_y, filter_height: (  # noqa: E501
                None
                if use_shmem == 0
                or (block_size_x * tile_size_x + filter_width - 1)
                * (block_size_y * tile_size_y + filter_height - 1)
                < 12 * 1024
                else "too much shared memory"
            ),
        ),
    ),
)

DEDISPERSION = Space(
    _parameters(
        {
            "block_size_x": (1, 2, 4, 8, 16, 32),
            "block_size_y": range(32, 257, 8),
            "block_size_z": (1,),
            "tile_size_x": range(1, 5),
            "tile_size_y": range(1, 9),
            "tile_stride_x": (0, 1),
            "tile_stride_y": (0, 1),
            "loop_unroll_factor_channel": (0,),
        }
    ),
    (
        Constraint(
            "32 <= block_size_x * block_size_y <= 1024",
            lambda block_size_x, block_size_y: (
                None if 32 <= block_size_x * block_size_y <= 1024 else "a wrong count of threads"
            ),
        ),
        Constraint(
            "tile_size_x > 1 or tile_stride_x == 0",
            lambda tile_size_x, tile_stride_x: (
                None if tile_size_x > 1 or tile_stride_x == 0 else "nothing to stride over"
            ),
        ),
        Constraint(
            "tile_size_y > 1 or tile_stride_y == 0",
            lambda tile_size_y, tile_stride_y: (
                None if tile_size_y > 1 or tile_stride_y == 0 else "nothing to stride over"
            ),
        ),
    ),
)

HOTSPOT = Space(
    _parameters(
        {
            "grid_width": (4096,),
            "grid_height": (4096,),
            "block_size_x": (1, 2, 4, 8, 16, *range(32, 1025, 32)),
            "block_size_y": (1, 2, 4, 8, 16, 32),
            "tile_size_x": range(1, 11),
            "tile_size_y": range(1, 11),
            "temporal_tiling_factor": range(1, 11),
            "max_tfactor": (10,),
            "loop_unroll_factor_t": range(1, 11),
            "sh_power": (0, 1),
        }
    ),
    (
        Constraint(
            "block_size_x * block_size_y >= 32",
            lambda block_size_x, block_size_y: (
                None if block_size_x * block_size_y >= 32 else "less than a warp"
            ),
        ),
        Constraint(
            "temporal_tiling_factor % loop_unroll_factor_t == 0",
            lambda temporal_tiling_factor, loop_unroll_factor_t: (
                "a remainder" if temporal_tiling_factor % loop_unroll_factor_t else None
            ),
        ),
        _THREADS,
        Constraint(
            "(block_size_x * tile_size_x + temporal_tiling_factor * 2)"
            " * (block_size_y * tile_size_y + temporal_tiling_factor * 2)"
            " * (2 + sh_power) * 4 <= 49152",
            lambda block_size_x, tile_size_x, temporal_tiling_factor, block_size_y, tile_size_y, sh_power: (  # noqa: E501
                None
                if (block_size_x * tile_size_x + temporal_tiling_factor * 2)
                * (block_size_y * tile_size_y + temporal_tiling_factor * 2)
                * (2 + sh_power)
                * 4
                <= 49152
                else "too much shared memory"
            ),
        ),
    ),
)

CLBLAST = Space(
    _parameters(
        {
            "GEMMK": (0,),
            "MWG": (16, 32, 64, 128),
            "NWG": (16, 32, 64, 128),
            "KWG": (16, 32),
            "MDIMC": (8, 16, 32),
            "NDIMC": (8, 16, 32),
            "MDIMA": (8, 16, 32),
            "NDIMB": (8, 16, 32),
            "KWI": (2,),
            "VWM": (1, 2, 4, 8),
            "VWN": (1, 2, 4, 8),
            "STRM": (0, 1),
            "STRN": (0, 1),
            "SA": (0, 1),
            "SB": (0, 1),
            "KREG": (1,),
            "PRECISION": (32,),
        }
    ),
    (
        Constraint("KWG % KWI == 0", lambda KWG, KWI: "a remainder" if KWG % KWI else None),
        Constraint(
            "MWG % (MDIMC * VWM) == 0",
            lambda MWG, MDIMC, VWM: "a remainder" if MWG % (MDIMC * VWM) else None,
        ),
        Constraint(
            "NWG % (NDIMC * VWN) == 0",
            lambda NWG, NDIMC, VWN: "a remainder" if NWG % (NDIMC * VWN) else None,
        ),
        Constraint(
            "MWG % (MDIMA * VWM) == 0",
            lambda MWG, MDIMA, VWM: "a remainder" if MWG % (MDIMA * VWM) else None,
        ),
        Constraint(
            "NWG % (NDIMB * VWN) == 0",
            lambda NWG, NDIMB, VWN: "a remainder" if NWG % (NDIMB * VWN) else None,
        ),
        Constraint(
            "KWG % ((MDIMC * NDIMC) / MDIMA) == 0",
            lambda KWG, MDIMC, NDIMC, MDIMA: (
                "a remainder" if KWG % ((MDIMC * NDIMC) / MDIMA) else None
            ),
        ),
        Constraint(
            "KWG % ((MDIMC * NDIMC) / NDIMB) == 0",
            lambda KWG, MDIMC, NDIMC, NDIMB: (
                "a remainder" if KWG % ((MDIMC * NDIMC) / NDIMB) else None
            ),
        ),
        Constraint(
            "not (MWG == 128 and NWG == 128 and MDIMC == 8 and NDIMC == 8)",
            lambda MWG, NWG, MDIMC, NDIMC: (
                "slow to compile" if (MWG, NWG, MDIMC, NDIMC) == (128, 128, 8, 8) else None
            ),
        ),
    ),
)

PUBLISHED = {
    "convolution": CONVOLUTION,
    "dedispersion": DEDISPERSION,
    "gemm of CLBlast": CLBLAST,
    "hotspot": HOTSPOT,
}


def wide() -> Space:
    """Return hotspot with three more knobs, of which one rule ties two to the block."""
    knobs = _parameters(dict.fromkeys(("a", "b", "c"), range(16)))
    tie = Constraint(
        "(a + b) % 16 < 12 or block_size_x > 64",
        lambda a, b, block_size_x: None if (a + b) % 16 < 12 or block_size_x > 64 else "far apart",
    )
    front, back = HOTSPOT.parameters[:4], HOTSPOT.parameters[4:]
    return Space((*front, knobs[0], *back, *knobs[1:]), (*HOTSPOT.constraints, tie))


def tangled() -> Space:
    """Return a space of one rule that uses every parameter: no two prefixes go on alike."""
    knobs = _parameters(dict.fromkeys("abcdefgh", range(8)))
    rule = Constraint(
        "(a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + h) % 8 != 0",
        lambda a, b, c, d, e, f, g, h: (
            None if (a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + h) % 8 else "a multiple"
        ),
    )
    return Space(knobs, (rule,))
