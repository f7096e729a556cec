"""What a GEMM computes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from autotune.errors import InvalidProblem
from autotune.records import ELEMENT_BYTES, Operand, Problem

DTYPES = {  # of A and B, and of C
    "bf16": ("bf16", "bf16"),
    "fp16": ("fp16", "fp16"),
    "fp32": ("fp32", "fp32"),
    "bf16-fp32": ("bf16", "fp32"),
    "fp16-fp32": ("fp16", "fp32"),
    "e4m3-bf16": ("e4m3", "bf16"),
    "e4m3-fp16": ("e4m3", "fp16"),
    "e4m3-fp32": ("e4m3", "fp32"),
}
LAYOUTS = ("nn", "nt", "tn", "tt")
EIGHT_BIT_STEP = 16  # elements of 8 bits in the rows that tensor maps can describe
MAX_EXTENT = 2**30  # tile arithmetic on the device is 32-bit
SCALES = (0.5, 1.0)  # that inputs to check with are scaled by: neither lost nor magnified


@dataclass(frozen=True)
class GemmProblem(Problem):
    """C[m, n] = A·B with fp32 sums, rounded once to the dtype of C.

    Of ``e4m3`` the product is ``scale``·A·B: what its elements stand for is known up to a factor.
    Then layout is ``nt`` and k a positive multiple of 16: nothing else multiplies them.

    Attributes:
        m: Rows of A and C.
        n: Columns of B and C.
        k: Columns of A and rows of B. 0 gives zeros.
        dtype: ``bf16``, ``fp16`` or ``fp32``, of all three matrices; or of A and B and of C:
            ``bf16-fp32``, ``fp16-fp32``, ``e4m3-bf16``, ``e4m3-fp16`` or ``e4m3-fp32``.
        layout: One letter for A, one for B: ``n`` if stored as it is (A[m, k], B[k, n]), ``t``
            if stored transposed (A[k, m], B[n, k]). Everything is row-major without gaps.
    """

    m: int
    n: int
    k: int
    dtype: str = "bf16"
    layout: str = "nt"

    SIZES: ClassVar[tuple[str, ...]] = ("m", "n", "k")

    def validate(self) -> None:
        """Raise ``InvalidProblem`` unless every field is in range."""
        for name in self.SIZES:
            extent = getattr(self, name)
            if not 0 <= extent <= MAX_EXTENT:
                raise InvalidProblem(
                    f"problem: {name} must be from 0 to {MAX_EXTENT}, not {extent}"
                )
        self.require_one_of("dtype", DTYPES)
        self.require_one_of("layout", LAYOUTS)
        if self.scaled and (self.layout != "nt" or self.k == 0 or self.k % EIGHT_BIT_STEP):
            raise InvalidProblem(
                f"problem: {self.dtype} takes layout nt and k a positive multiple of "
                f"{EIGHT_BIT_STEP}, not {self.layout} and {self.k}"
            )

    @property
    def input_dtype(self) -> str:
        """Dtype of A and B."""
        return DTYPES[self.dtype][0]

    @property
    def output_dtype(self) -> str:
        """Dtype of C."""
        return DTYPES[self.dtype][1]

    @property
    def element_bytes(self) -> int:
        """Size of an element of A and B, in bytes."""
        return ELEMENT_BYTES[self.input_dtype]

    @property
    def result_bytes(self) -> int:
        """Size of an element of C, in bytes."""
        return ELEMENT_BYTES[self.output_dtype]

    @property
    def moved_bytes(self) -> int:
        """Size of all three matrices, in bytes: each travels once at least."""
        read = self.m * self.k + self.k * self.n
        return read * self.element_bytes + self.m * self.n * self.result_bytes

    @property
    def shape_a(self) -> tuple[int, int]:
        """Extents of A as stored."""
        return (self.k, self.m) if self.a_transposed else (self.m, self.k)

    @property
    def shape_b(self) -> tuple[int, int]:
        """Extents of B as stored."""
        return (self.n, self.k) if self.b_transposed else (self.k, self.n)

    @property
    def operands(self) -> tuple[Operand, ...]:
        """A, B, the scale if there is one, and C, as they are stored."""
        scale = Operand(name="scale", dtype="fp32", shape=(1,), drawn_from=SCALES)
        return (*self.matrices, *([scale] if self.scaled else []), self.result)

    @property
    def matrices(self) -> tuple[Operand, Operand]:
        """A and B as they are stored."""
        return (
            Operand(name="a", dtype=self.input_dtype, shape=self.shape_a),
            Operand(name="b", dtype=self.input_dtype, shape=self.shape_b),
        )

    @property
    def result(self) -> Operand:
        """C as it is stored."""
        return Operand(name="c", dtype=self.output_dtype, shape=(self.m, self.n), output=True)

    @property
    def scaled(self) -> bool:
        """True if the product is multiplied by a number: that of 8-bit elements is."""
        return self.input_dtype == "e4m3"

    @property
    def a_transposed(self) -> bool:
        """True if A is stored as [k, m]."""
        return self.layout[0] == "t"

    @property
    def b_transposed(self) -> bool:
        """True if B is stored as [n, k]."""
        return self.layout[1] == "t"

    @property
    def row_fields(self) -> tuple[str, str]:
        """Names of the fields that are the row length of A and of B, as stored."""
        return ("m" if self.a_transposed else "k", "k" if self.b_transposed else "n")

    def row_bytes(self, field: str) -> int:
        """Length of a stored row that runs along ``field``, in bytes."""
        return int(getattr(self, field)) * self.element_bytes

    @property
    def uses_tensor_cores(self) -> bool:
        """True unless A and B are fp32."""
        return self.input_dtype != "fp32"

    @property
    def tensor_speed(self) -> int:
        """How many times as fast as 16-bit elements tensor cores multiply these."""
        return 2 if self.input_dtype == "e4m3" else 1
