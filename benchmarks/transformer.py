"""A small transformer whose linear layers are computed by whatever is handed to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from needs import torch

WIDTH, HEADS, DEPTH = 512, 8, 2

Linear = Callable[..., Any]  # x, weight, bias

_Module: Any = torch.nn.Module if torch is not None else object


class Block(_Module):
    """Attention and a perceptron, each behind a norm and beside the residual."""

    def __init__(self, width: int, linear: Linear) -> None:
        super().__init__()
        nn, self.linear = torch.nn, linear
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.mixed, self.joined = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return what the block makes of batch×length×width."""
        x = x + self._attention(self.norms[0](x))
        hidden = self._layer(self.wide, self.norms[1](x))
        return x + self._layer(self.narrow, torch.nn.functional.gelu(hidden))

    def _attention(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        mixed = self._layer(self.mixed, x).view(batch, length, 3, HEADS, width // HEADS)
        query, key, value = mixed.permute(2, 0, 3, 1, 4).unbind(0)
        seen = torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self._layer(self.joined, seen.transpose(1, 2).reshape(batch, length, width))

    def _layer(self, layer: torch.nn.Linear, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x, layer.weight, layer.bias)


class Transformer(_Module):
    """Blocks in a row.

    Args:
        linear: Computes every linear layer, of x, weight and bias.
        width: Elements of a token.
        depth: Number of blocks.
    """

    def __init__(self, linear: Linear, *, width: int = WIDTH, depth: int = DEPTH) -> None:
        super().__init__()
        self.blocks = torch.nn.ModuleList([Block(width, linear) for _ in range(depth)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return batch×length×width of the same."""
        for block in self.blocks:
            x = block(x)
        return x
