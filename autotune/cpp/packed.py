"""The part of a header that comes from a bundle: its binaries, and what launches them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from autotune.cpp.names import literal
from autotune.cpp.text import array, braced
from autotune.dispatch import KernelTable
from autotune.dispatch.bundle import Argument, Bundle, PackedLaunch

MOST_MAPS = 3


def binaries_text(bundle: Bundle) -> str:
    """Return the array of the bundle's binaries."""
    items = []
    for binary in bundle.binaries.values():
        file = bundle.files[binary.file]
        words = map(literal, (binary.file, file.sha256, binary.entry))
        items.append(braced([*words, f"{file.bytes}u"]))
    return array("inline constexpr", "autotune::Binary", "binaries", items) + "\n"


def launches_text(bundle: Bundle, kernel: KernelTable) -> str:
    """Return the array of the launches of one kernel, those of one answer side by side."""
    places = {unit: at for at, unit in enumerate(bundle.binaries)}
    answers = {"entries": 0, "defaults": len(kernel.entries)}
    items = [
        launch_text(launch, answers[launch.role] + launch.at, places[launch.unit])
        for launch in bundle.launches
        if launch.kernel == kernel.name
    ]
    return array("inline constexpr", "autotune::Launch", "launches", items) + "\n"


def launch_text(launch: PackedLaunch, answer: int, binary: int) -> str:
    """Return what is fixed in a launch; a tensor map that is not there is empty."""
    maps = [each for each in launch.arguments if each.kind == "tensor_map"][:MOST_MAPS]
    listed = [*map(_map, maps), *["{}"] * (MOST_MAPS - len(maps))]
    return braced(
        [
            *(f"{answer}, {binary}", _numbers(launch.block), f"{launch.shared_bytes}"),
            *(str(launch.overlaps).lower(), f"{len(maps)}", f"{{{braced(listed)}}}"),
        ]
    )


def _map(argument: Argument) -> str:
    numbers = (*argument.box, argument.swizzle_bytes, argument.l2_promotion_bytes)
    return braced([literal(argument.operand), *map(str, numbers)])


def _numbers(values: Iterable[int]) -> str:
    return f"{{{braced(map(str, values))}}}"


def described_text(kernel: KernelTable, names: Mapping[str, str]) -> str:
    """Return what turns a problem of ``gemm`` into what its launch rule takes; else nothing."""
    if kernel.name != "gemm" or set(names) != {"m", "n", "k", "dtype", "layout"}:
        return ""
    sizes = ", ".join(f"problem.{names[field]}" for field in ("m", "n", "k"))
    words = ", ".join(
        f"{names[field]}_names[static_cast<std::size_t>(problem.{names[field]})]"
        for field in ("dtype", "layout")
    )
    return (
        "inline autotune::gemm::Problem described(const Problem& problem) {\n"
        f"    return {{{sizes}, {words}}};\n"
        "}\n"
    )
