"""How fast a device is: the few numbers that a prediction of a kernel's time needs.

A target tells its limits, not its speed. Speeds go by architecture: they rank configs, which
needs no more, and give times that are right for the card named in the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from autotune.records import Target

SHARED_BYTES_PER_CLK = 128  # of one multiprocessor, sm_80 and later: CUDA programming guide
L2_BYTES_PER_CLK = 48  # that one multiprocessor gets while all ask; fitted on an H200: 48 to 52
MEMORY_SHARE = 0.9  # of the data sheet's bandwidth: a copy on an H200 reaches 4.3 of 4.8 TB/s
LOAD_CLK = 1100  # from a load to its data, while others load; fitted on an H200
LAUNCH_CLK = 4000  # before and after the work of a launch; fitted on an H200: 3000 to 5500
SHARPNESS = 4  # of the norm that joins demands; fitted on an H200: 4 to 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """The speed of one architecture.

    Attributes:
        clock_ghz: Highest clock of the multiprocessors, in clocks per ns.
        memory_bytes_per_ns: Bandwidth of device memory that a copy reaches.
        fma_flop_per_clk: Of one multiprocessor, fp32 on CUDA cores.
        mma_flop_per_clk: Of one multiprocessor, 16-bit products of warps with fp32 sums.
        wgmma_flop_per_clk: Of one multiprocessor, those of warp groups; 0 where there are none.
    """

    clock_ghz: float
    memory_bytes_per_ns: float
    fma_flop_per_clk: int
    mma_flop_per_clk: int
    wgmma_flop_per_clk: int = 0

    @property
    def tensor_flop_per_clk(self) -> int:
        """The most that tensor cores of one multiprocessor do."""
        return max(self.mma_flop_per_clk, self.wgmma_flop_per_clk)

    @property
    def memory_bytes_per_clk(self) -> float:
        """Bandwidth of device memory, in bytes per clock."""
        return self.memory_bytes_per_ns / self.clock_ghz


def _sheet(clock_mhz: int, memory_gb_per_s: int, fma: int, mma: int, wgmma: int = 0) -> Rates:
    return Rates(
        clock_ghz=clock_mhz / 1000,
        memory_bytes_per_ns=MEMORY_SHARE * memory_gb_per_s,
        fma_flop_per_clk=fma,
        mma_flop_per_clk=mma,
        wgmma_flop_per_clk=wgmma,
    )


# Data sheets, but for products of warps on sm_90: 62 % of those of warp groups, as others have
# measured and as fits the H200 recording (60 to 63 %). sm_100 is taken to do as much.
_RATES = {
    80: _sheet(1410, 1555, 128, 2048),  # A100 with 40 GB
    86: _sheet(1740, 696, 256, 1024),  # A40
    89: _sheet(2520, 864, 256, 1024),  # L40S
    90: _sheet(1980, 4800, 256, 2540, 4096),  # H200
    100: _sheet(1965, 8000, 256, 2540),  # B200
}


def rates_of(target: Target) -> Rates | None:
    """Return the rates of the newest architecture known that is no newer, or None on a host."""
    return _newest(target.capability)


@cache
def _newest(most: int) -> Rates | None:
    known = [capability for capability in _RATES if capability <= most]
    return _RATES[max(known)] if known else None


def together(*demands: float) -> float:
    """Return how long demands take that overlap: little more than the largest of them.

    The norm, unlike the largest, still tells apart two configs that one limit holds back alike.
    """
    total = 0.0
    for demand in demands:
        total += demand**SHARPNESS
    return float(total ** (1 / SHARPNESS))
