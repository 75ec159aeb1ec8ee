"""The CPU's side of operators that only devices have: fused attention and fused cells, by their formulas."""

import math
from collections.abc import Callable
from typing import Any

import torch

Bias = torch.Tensor | None


def _weights(query: torch.Tensor, key: torch.Tensor, bias: Bias, is_causal: bool, scale: float) -> torch.Tensor:
    scores = (query @ key.transpose(-2, -1)) * scale
    if bias is not None and bias.numel():
        scores = scores.masked_fill(~bias, -math.inf) if bias.dtype == torch.bool else scores + bias
    if is_causal:
        scores = scores.masked_fill(~torch.ones_like(scores, dtype=torch.bool).tril(), -math.inf)
    return torch.softmax(scores, -1)


def _scale(scale: float | None, query: torch.Tensor) -> float:
    return 1 / math.sqrt(query.shape[-1]) if scale is None else scale


def attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_bias: Bias = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    return_debug_mask: bool = False,
    *,
    scale: float | None = None,
) -> torch.Tensor:
    return _weights(query, key, attn_bias, is_causal, _scale(scale, query)) @ value


def attention_backward(
    grad_out: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_bias: Bias,
    grad_input_mask: list[bool],
    *others: Any,
    scale: float | None = None,
) -> list[torch.Tensor]:
    """Gradients of query, key and value. `others` are what the forward call kept, dropout_p, is_causal and the like."""
    is_causal, factor = others[7], _scale(scale, query)
    weights = _weights(query, key, attn_bias, is_causal, factor)
    slope = grad_out @ value.transpose(-2, -1)
    slope = weights * (slope - (slope * weights).sum(-1, keepdim=True)) * factor
    return [slope @ key, slope.transpose(-2, -1) @ query, weights.transpose(-2, -1) @ grad_out]


def lstm_cell(
    input_gates: torch.Tensor,
    hidden_gates: torch.Tensor,
    cx: torch.Tensor,
    input_bias: Bias = None,
    hidden_bias: Bias = None,
) -> list[torch.Tensor]:
    gates = input_gates + hidden_gates
    for bias in (input_bias, hidden_bias):
        gates = gates if bias is None else gates + bias
    i, f, g, o = gates.chunk(4, -1)
    cy = f.sigmoid() * cx + i.sigmoid() * g.tanh()
    return [o.sigmoid() * cy.tanh(), cy]


def gru_cell(
    input_gates: torch.Tensor,
    hidden_gates: torch.Tensor,
    hx: torch.Tensor,
    input_bias: Bias = None,
    hidden_bias: Bias = None,
) -> list[torch.Tensor]:
    given = input_gates if input_bias is None else input_gates + input_bias
    hidden = hidden_gates if hidden_bias is None else hidden_gates + hidden_bias
    (ir, iz, im), (hr, hz, hm) = given.chunk(3, -1), hidden.chunk(3, -1)
    new = (im + (ir + hr).sigmoid() * hm).tanh()
    return [new + (iz + hz).sigmoid() * (hx - new)]


# The function, and how many of the operator's results it gives; the others are a matter of the backend.
_REFERENCES: dict[str, tuple[Callable[..., Any], int]] = {
    "_scaled_dot_product_fused_attention_overrideable": (attention, 1),
    "_scaled_dot_product_fused_attention_overrideable_backward": (attention_backward, 3),
    "_thnn_fused_lstm_cell": (lstm_cell, 2),
    "_thnn_fused_gru_cell": (gru_cell, 1),
}


def reference_of(func: Any) -> Callable[..., Any] | None:
    """The function that computes an operator on the CPU, if the CPU has no kernel for it."""
    found = _REFERENCES.get(func.overloadpacket.__name__)
    return None if found is None else found[0]


def results_of(func: Any) -> int | None:
    """How many of its results `reference_of()` gives."""
    found = _REFERENCES.get(func.overloadpacket.__name__)
    return None if found is None else found[1]


def run(func: Any, args: Any, kwargs: Any) -> Any:
    """The operator on the CPU."""
    return (reference_of(func) or func)(*args, **kwargs)
