"""Matrix products as an operator of torch: with gradients, for ``torch.compile`` and CUDA graphs.

This is the one module that imports torch, and ``Dispatcher.torch_op`` the one that imports it.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from autotune.errors import InvalidInput
from autotune.launcher.operands import ALIGNMENT_BYTES

try:
    import torch
    from torch._C._functorch import is_functorch_wrapped_tensor
    from torch.autograd.forward_ad import unpack_dual
    from torch.overrides import has_torch_function
    from torch.utils._python_dispatch import is_in_torch_dispatch_mode
except ModuleNotFoundError:
    raise InvalidInput("torch is not installed", hint="pip install torch") from None

if TYPE_CHECKING:
    from autotune.launcher.dispatcher import Dispatcher

_SCHEMA = "matmul(Tensor a, Tensor b, str by) -> Tensor"

_dispatchers: dict[str, Dispatcher] = {}  # graphs that torch compiled name them: they stay
_names = map(str, itertools.count())


@dataclass(frozen=True)
class TorchOp:
    """Products of tensors on GPUs by one dispatcher. It may be copied and pickled with a model.

    Attributes:
        by: The name of the dispatcher in this process, in the order in which they were asked. An
            operator of torch takes tensors, numbers and text alone, so that graphs name it thus.

    Example:
        >>> op = Dispatcher("table.json").torch_op()  # doctest: +SKIP
        >>> y = op.linear(x, layer.weight, layer.bias)  # doctest: +SKIP
    """

    by: str

    def matmul(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """Return ``a @ b``.

        Args:
            a: …×K, of any number of leading axes.
            b: K×N, of the same dtype and GPU.

        Raises:
            InvalidInput: As for ``Dispatcher.matmul``, or forward-mode derivatives are asked for;
                but tensors that lie as no kernel reads them are copied first, and gradients are
                computed, by the same operator.
        """
        multiply = _op if _is_watched(a, b) else _multiply
        if a.dim() == 2:
            return multiply(a, b, self.by)
        rows = a.reshape(a.shape[:-1].numel(), a.shape[-1])  # -1 is anything where K is 0
        return multiply(rows, b, self.by).reshape(*a.shape[:-1], b.shape[-1])

    def linear(
        self, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Return ``x @ weight.T + bias``, as ``torch.nn.functional.linear`` does.

        The product is rounded before the bias is added.

        Args:
            x: …×K.
            weight: N×K, used as it lies.
            bias: N, or None.

        Raises:
            InvalidInput: As for ``matmul``.
        """
        product = self.matmul(x, weight.t())
        return product if bias is None else product + bias


def registered(dispatcher: Dispatcher) -> TorchOp:
    """Return the operator by this dispatcher, which stays for as long as the process."""
    name = next(_names)
    _dispatchers[name] = dispatcher
    return TorchOp(name)


def _is_watched(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Return True if torch has to see the product: to trace, transform or differentiate it.

    If not, its dispatch of an operator in Python, which takes longer than the launch, is spared.
    """
    if torch.compiler.is_compiling():
        return True
    _refuse_tangents(a, b)
    return bool(
        (torch.is_grad_enabled() and (a.requires_grad or b.requires_grad))
        or a.is_meta
        or has_torch_function((a, b))
        or is_in_torch_dispatch_mode()
        or is_functorch_wrapped_tensor(a)
        or is_functorch_wrapped_tensor(b)
        or torch.jit.is_tracing()
    )


def _refuse_tangents(*tensors: torch.Tensor) -> None:
    """Raise where torch would drop them in silence: its custom operators have none."""
    if any(unpack_dual(each).tangent is not None for each in tensors):
        raise InvalidInput(
            "the operator has no forward-mode derivatives",
            hint="take them backward, by torch.autograd",
        )


def _multiply(a: torch.Tensor, b: torch.Tensor, by: str) -> torch.Tensor:
    if by not in _dispatchers:
        raise InvalidInput(
            f"this process has no dispatcher {by!r}: the operator was made in another one",
            hint="replace it by Dispatcher(…).torch_op()",
        )
    return _dispatchers[by].matmul(_readable(a), _readable(b))


def _readable(matrix: torch.Tensor) -> torch.Tensor:
    """Return a matrix that a kernel reads as it lies: a copy of one that has gaps, for instance."""
    dense = matrix.is_contiguous() or matrix.mT.is_contiguous()
    if dense and matrix.data_ptr() % ALIGNMENT_BYTES == 0 and not matrix.is_neg():
        return matrix
    return matrix.clone(memory_format=torch.contiguous_format)


def _shaped(a: torch.Tensor, b: torch.Tensor, by: str) -> torch.Tensor:
    """Return what a product looks like, for those who only trace."""
    del by
    torch._check(a.dim() == 2 and b.dim() == 2, lambda: "autotune.matmul takes matrices")  # noqa: SLF001 - what custom operators are told to use
    torch._check(a.shape[1] == b.shape[0], lambda: f"{a.shape} @ {b.shape}")  # noqa: SLF001
    torch._check(a.dtype == b.dtype, lambda: f"{a.dtype} @ {b.dtype}")  # noqa: SLF001
    return a.new_empty((a.shape[0], b.shape[1]))


def _keep(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
    del output
    a, b, ctx.by = inputs
    wants_a, wants_b = ctx.needs_input_grad[:2]
    ctx.save_for_backward(a if wants_b else None, b if wants_a else None)
    ctx.flipped = b.mT.is_contiguous()


def _gradients(ctx: Any, of_product: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
    a, b = ctx.saved_tensors
    of_a = None if b is None else _op(of_product, b.mT, ctx.by)
    if a is None:
        return of_a, None, None
    if ctx.flipped:  # a weight's gradient then lies as the weight does, and is not copied
        return of_a, _op(of_product.mT, a, ctx.by).mT, None
    return of_a, _op(a.mT, of_product, ctx.by), None


_library = torch.library.Library("autotune", "FRAGMENT")
_library.define(_SCHEMA, tags=(torch.Tag.needs_fixed_stride_order,))
_library.impl("matmul", _multiply, "CompositeExplicitAutograd")
torch.library.register_fake("autotune::matmul", _shaped, lib=_library)
torch.library.register_autograd("autotune::matmul", _gradients, setup_context=_keep, lib=_library)
_op = torch.ops.autotune.matmul.default
