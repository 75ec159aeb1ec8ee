"""Calls that were once wrong, or might well be: each is run on its own, before all others."""

import operator
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import torch

from .compare import Call

# x: float32, i: int64, b: bool, c: complex64, h: float16, all 3 by 3; u: uint8; v: a vector of x; half: its first 4
# elements; cpu: a 0-dim CPU float64, cpui: a 0-dim CPU int64.
Function = Callable[[SimpleNamespace], Any]
Calls = dict[str, Function]


def gradients(function: Callable[..., Any], *args: Any) -> Any:
    leaves = [x.detach().requires_grad_() for x in args if isinstance(x, torch.Tensor)]
    return torch.autograd.grad(function(*leaves, *args[len(leaves) :]).sum(), leaves)


NUMBER_FIRST: Calls = {
    "number_minus": lambda t: 1 - t.x,
    "number_minus_int": lambda t: 1.5 - t.i,
    "number_over": lambda t: 2 / t.x,
    "number_floordiv": lambda t: 5 // t.i,
    "number_mod": lambda t: 5 % t.i,
    "number_power": lambda t: 2**t.x,
    "number_shift": lambda t: 1 << t.i,
    "number_and": lambda t: 3 & t.i,
    "number_less": lambda t: operator.lt(2, t.x),
    "bool_plus": lambda t: True + t.i,
    "complex_times": lambda t: (1 + 2j) * t.x,
    "rsub": lambda t: torch.rsub(t.x, 1),
    "rsub_alpha": lambda t: torch.rsub(t.i, 3, alpha=2),
    "remainder_number": lambda t: torch.remainder(5, t.i),
    "pow_number": lambda t: torch.pow(2, t.i),
    "float_power_number": lambda t: torch.float_power(2, t.x),
    "xlogy_number": lambda t: torch.xlogy(2, t.x),
    "where_number": lambda t: torch.where(t.b, 1, t.x),
    "where_numbers": lambda t: torch.where(t.b, 1.0, 0.0),
    # A number beside 16 bits is one of 32.
    "half_times_wide": lambda t: t.h * 1e-3 * 65536.0,
    "half_over_wide": lambda t: t.h / 131072.0,
    "half_times_fine": lambda t: t.h * 0.3333333,
    "half_over_fine": lambda t: t.h / 0.1,
    "half_times_wide_": lambda t: t.h.div_(1000).mul_(1e5),
    "half_over_zero_dim": lambda t: t.h / torch.tensor(1e6, dtype=torch.float64),
    "half_foreach": lambda t: torch._foreach_mul([t.h * 1e-3], 65536.0),
    "half_addcmul": lambda t: torch.addcmul(t.h, t.h * 1e-3, t.h * 1e-3, value=131072.0),
}
ZERO_DIM_CPU: Calls = {
    "cpu_minus": lambda t: torch.sub(t.cpu, t.x),
    "cpu_plus": lambda t: t.cpu + t.x,
    "minus_cpu": lambda t: t.x - t.cpu,
    "cpu_minus_int": lambda t: t.cpu - t.i,
    "cpu_shift": lambda t: t.cpui << t.i,
    "cpu_floor_divide": lambda t: torch.floor_divide(t.cpu, t.x),
    "cpu_where": lambda t: torch.where(t.cpui > 1, t.x, t.x + 1),
    "cpu_where_value": lambda t: torch.where(t.b, t.cpu, t.x),
    "cpu_dist": lambda t: torch.dist(t.cpu.float(), t.x),
    "cpu_atan2": lambda t: torch.atan2(t.cpu, t.x),
    "cpu_lerp": lambda t: torch.lerp(t.x, t.x + 1, t.cpu.float()),
    "cpu_maximum": lambda t: torch.maximum(t.cpu, t.x),
    "cpu_add_": lambda t: t.x.add_(t.cpu),
    "cpu_masked_fill": lambda t: t.x.masked_fill(t.b, t.cpu.float()),
    "cpu_index_put": lambda t: t.x.index_put_((t.i[0] % 3,), t.cpu.float()),
    "cpu_copy": lambda t: t.x.copy_(t.cpu),
    "cpu_fill": lambda t: t.x.fill_(t.cpu),
    "cpu_index": lambda t: t.x[t.cpui],
}
VIEWS: Calls = {
    "conj_addmm_": lambda t: (t.c.conj().addmm_(t.c2, t.c2), t.c),
    "conj_baddbmm_": lambda t: (t.c[None].conj().baddbmm_(t.c2[None], t.c2[None]), t.c),
    "conj_add_": lambda t: (t.c.conj().add_(t.c2), t.c),
    "conj_mul_number_": lambda t: (t.c.conj().mul_(2j), t.c),
    "conj_copy_": lambda t: (t.c.conj().copy_(t.c2), t.c),
    "conj_out_mm": lambda t: (torch.mm(t.c2, t.c2, out=t.c.conj()), t.c),
    "conj_out_bmm": lambda t: (torch.bmm(t.c2[None], t.c2[None], out=t.c[None].conj()), t.c),
    "conj_out_addmm": lambda t: (torch.addmm(t.c2, t.c2, t.c2, out=t.c.conj()), t.c),
    "conj_out_baddbmm": lambda t: (torch.baddbmm(t.c2[None], t.c2[None], t.c2[None], out=t.c[None].conj()), t.c),
    "conj_out_solve_triangular": lambda t: (
        torch.linalg.solve_triangular(t.c2, t.c2, upper=True, out=t.c.conj()),
        t.c,
    ),
    "conj_physical_": lambda t: t.c.conj_physical_(),
    "conj_physical_of_conj_": lambda t: (t.c.conj().conj_physical_(), t.c),
    "neg_view_add_": lambda t: (t.c.conj().imag.add_(1), t.c),
    "neg_view_out": lambda t: (torch.add(t.x, t.x, out=t.c.conj().imag), t.c),
    "neg_view_mm": lambda t: torch.mm(t.c.conj().imag, t.x),
    "neg_view_addmm_": lambda t: (t.c.conj().imag.addmm_(t.x, t.x), t.c),
    "conj_item": lambda t: t.c[0, 0].conj().item(),
    "conj_mm": lambda t: torch.mm(t.c.conj(), t.c.mH),
    "real_of_conj": lambda t: t.c.conj().real,
}
WRITES: Calls = {
    "logical_and_grows_": lambda t: t.v[:1].logical_and_(t.x),
    "logical_or_grows_": lambda t: t.v[:1].logical_or_(t.x),
    "logical_xor_grows_": lambda t: t.v[:1].logical_xor_(t.x),
    "ldexp_grows_": lambda t: t.v[:1].ldexp_(t.i),
    "overlap_mv": lambda t: torch.mv(t.c, t.c[1].clone(), out=t.c[0]),
    "overlap_cat": lambda t: torch.cat([t.flat[:4], t.flat[4:6]], out=t.flat[1:7]),
    "overlap_gather": lambda t: torch.gather(t.flat[:4], 0, t.ones[:4], out=t.flat[1:5]),
    "overlap_grown": lambda t: torch.gather(t.flat[:4], 0, t.ones[1:3], out=t.ones[:1]),
    "overlap_index_select": lambda t: torch.index_select(t.flat[:4], 0, t.ones[:4], out=t.flat[1:5]),
    "overlap_take": lambda t: torch.take(t.flat[:4], t.ones[:4], out=t.flat[1:5]),
    "overlap_masked_select": lambda t: torch.masked_select(t.flat[:4], t.flat[:4] > -9, out=t.flat[1:5]),
    "overlap_kthvalue": lambda t: torch.kthvalue(t.x, 2, out=(t.x[0], t.ones[:3])),
    "overlap_sub": lambda t: torch.sub(t.flat[:4], t.flat[:4], out=t.flat[1:5]),
    "overlap_self": lambda t: t.flat.as_strided((3, 3), (1, 1)).add_(1),
    "overlap_expanded": lambda t: t.flat[:1].expand(3).mul_(2),
    "batch_norm_out": lambda t: (
        torch.ops.aten.native_batch_norm.out(
            t.x, t.one, t.one, t.mean, t.var, True, 0.1, 1e-5, out=t.v3, save_mean=t.s1, save_invstd=t.s2
        ),
        t.mean,
        t.var,
    ),
    "strides_qr": lambda t: torch.linalg.qr(t.x, out=(t.none, t.none2)),
    "strides_svd": lambda t: torch.linalg.svdvals(t.x, out=t.none),
    "strides_inv": lambda t: torch.linalg.inv(t.x, out=t.none),
    "strides_solve": lambda t: torch.linalg.solve(t.x, t.x, out=t.none),
    "strides_cholesky": lambda t: torch.linalg.cholesky(t.x @ t.x.mT + 9 * torch.eye(3, device=t.x.device), out=t.none),
    "strides_nan_to_num": lambda t: torch.nan_to_num(t.x[0].as_strided((1, 3), (6, 1))),
    "strides_abs": lambda t: torch.abs(t.x[0].as_strided((1, 3), (6, 1))),
    "strides_fft": lambda t: torch.fft.fft2(t.c, dim=(0,), s=(3,), out=t.nonec),
    "strides_lu_factor": lambda t: torch.linalg.lu_factor(t.x, out=(t.none, t.nonei)),
}
DTYPES: Calls = {
    "amax_int8": lambda t: torch.amax(t.i.to(torch.int8), 1),
    "amax_int16": lambda t: torch.amax(t.i.to(torch.int16), 1),
    "amax_bool": lambda t: torch.amax(t.b, 1),
    "amin_int8": lambda t: torch.amin(t.i.to(torch.int8), 1),
    "amin_bool": lambda t: torch.amin(t.b, 1),
    "hypot_half": lambda t: torch.hypot(t.h, t.h),
    "hypot_bfloat16": lambda t: torch.hypot(t.x.bfloat16(), t.x.bfloat16()),
    "hypot_int": lambda t: torch.hypot(t.i, t.i),
    "hypot_large": lambda t: torch.hypot(t.x * 1e30, t.x * 1e30),
    "mm_bool": lambda t: torch.mm(t.b, t.b),
    "mm_uint16": lambda t: torch.mm(t.i.to(torch.uint16), t.i.to(torch.uint16)),
    "mm_int8": lambda t: torch.mm(t.i.to(torch.int8), t.i.to(torch.int8)),
    "mm_complex32": lambda t: torch.mm(t.c.to(torch.complex32), t.c.to(torch.complex32)),
    "mm_half": lambda t: torch.mm(t.h, t.h),
    "batch_norm_half_eval": lambda t: gradients(
        lambda x: torch.nn.functional.batch_norm(x, t.mean.half(), t.var.half()), t.h
    ),
}
# Zeros without memory, as derivatives of sgn and forward-mode AD make them.
ZEROS: Calls = {
    "zeros_plus": lambda t: torch._efficientzerotensor((3, 3), device=t.x.device) + t.x,
    "zeros_times": lambda t: torch._efficientzerotensor((3, 3), device=t.x.device) * t.x,
    "zeros_copied": lambda t: t.x.copy_(torch._efficientzerotensor((3, 3), device=t.x.device)),
    "sgn_backward": lambda t: torch.autograd.grad(t.x.requires_grad_().sgn().sum(), t.x),
}
# Sparse, nested and quantized tensors on the way.
COMPOUND: Calls = {
    "sparse_dense": lambda t: t.x.to_sparse().coalesce().to_dense(),
    "sparse_mm": lambda t: torch.sparse.mm(t.x.to_sparse(), t.x),
    "sparse_csr_mm": lambda t: t.x.to_sparse_csr() @ t.x,
    "sparse_csr_mm_amax_grad": lambda t: gradients(torch.sparse.mm, t.x.to_sparse_csr(), t.x, "amax"),
    "sparse_add_": lambda t: t.x.add_(t.x.clone().to_sparse()),
    "sparse_values": lambda t: t.x.to_sparse()._values(),
    "nested_padded": lambda t: torch._nested_tensor_from_mask(t.x[None], t.b[None, 0] | True).to_padded_tensor(0.0),
    "nested_product": lambda t: (torch.nested.as_nested_tensor([t.x, t.x[:2]]) * 2).to_padded_tensor(0.0),
}


def then(function: Callable[[], Any], rest: Callable[[], Any]) -> Any:
    """After a refused call the next one works."""
    try:
        function()
    except Exception as error:  # the CPU's is another one, where the kernel finds out late
        return type(error).__name__ != "SystemError", rest()
    return None


# Refused by the CPU's kernels alone, which on the device run later.
REFUSED: Calls = {
    "overlap_cumsum": lambda t: torch.cumsum(t.flat[:4], 0, out=t.flat[1:5]),
    "overlap_index_add": lambda t: torch.index_add(t.flat[:4], 0, t.ones[:4], t.one.new_ones(4), out=t.flat[1:5]),
    "expanded_mean": lambda t: torch.mean(t.x, 0, out=t.one[:1].expand(3)),
    "expanded_max": lambda t: torch.max(t.x, 0, out=(t.one[:1].expand(3), t.ones[:3])),
    "dtype_all": lambda t: torch.all(t.x, (0, 1), out=t.cpu.to(t.x.device)),
    "dtype_cumsum": lambda t: torch.cumsum(t.x, 0, out=t.b),
    "dtype_softmax_backward": lambda t: torch._softmax_backward_data(t.x.double(), t.x, 0, torch.float32),
    "shape_addmm": lambda t: torch.addmm(t.none, t.x[:0], t.x),
    "number_lerp": lambda t: then(lambda: torch.lerp(t.x, t.x, 1 + 2j), lambda: t.x + 1),
    "number_scatter": lambda t: then(lambda: t.x.scatter(0, t.i % 3, 1 + 2j), lambda: t.x + 1),
    # Numbers that the dtype cannot hold, after a call that had nothing to convert.
    "number_scatter_half": lambda t: [t.h.scatter(0, t.i[:n] % 3, 1e6) for n in (0, 1)],
    "number_index_fill_half": lambda t: [t.h.index_fill(0, t.i[0, :n] - 1, 1e6) for n in (0, 1)],
    "number_scatter_complex": lambda t: [t.h.scatter(0, t.i[:n] % 3, 1 + 2j) for n in (0, 1)],
    "index_gather": lambda t: then(lambda: t.x.gather(0, t.i).tolist(), lambda: t.x + 1),
}
# Right, but not in all ways.
ODD: Calls = {
    "bools_into_double": lambda t: torch.add(t.b, t.b, out=t.x.double()),
    "conj_of_lu_solve": lambda t: torch.linalg.lu_solve(*torch.linalg.lu_factor(t.c), t.c2, left=False, adjoint=True),
}
ALL: Calls = {**NUMBER_FIRST, **ZERO_DIM_CPU, **VIEWS, **WRITES, **DTYPES, **ZEROS, **COMPOUND, **REFUSED, **ODD}


def inputs() -> tuple[dict[str, torch.Tensor], tuple[torch.Tensor, ...]]:
    """The tensors of a call by name, and which of them stay on the CPU."""
    generator = torch.Generator().manual_seed(5)
    x, y = torch.randn(2, 3, 3, generator=generator)
    c, c2 = torch.complex(x, y), torch.complex(y, x)
    cpu, cpui = torch.tensor(1.5, dtype=torch.float64), torch.tensor(2)
    given = {
        "x": x, "i": torch.arange(1, 10).view(3, 3), "b": x > 0, "c": c, "c2": c2, "h": x.half(), "v": y[0].clone(),
        "flat": torch.arange(8.0), "ones": torch.ones(8, dtype=torch.int64), "one": torch.ones(3),
        "mean": torch.zeros(3), "var": torch.ones(3), "v3": torch.zeros(3, 3), "s1": torch.zeros(3),
        "s2": torch.zeros(3), "none": torch.empty(0), "none2": torch.empty(0), "cpu": cpu, "cpui": cpui,
        "nonec": torch.empty(0, dtype=torch.complex64), "nonei": torch.empty(0, dtype=torch.int32),
    }  # fmt: skip
    return given, (cpu, cpui)


def calls() -> Iterator[tuple[str, str, Call]]:
    """Name, dtype and call."""
    for name, function in ALL.items():
        given, kept = inputs()

        def run(function: Function = function, **tensors: torch.Tensor) -> Any:
            return function(SimpleNamespace(**tensors))

        yield name, "any", Call(run, (), given, kept=kept)
    for name, function in {**NUMBER_FIRST, **ZERO_DIM_CPU}.items():
        given, kept = inputs()
        if name[-1] == "_" or name in ("cpu_index_put", "cpu_copy", "cpu_fill"):
            continue

        def grads(function: Function = function, **tensors: torch.Tensor) -> Any:
            tensors["x"].requires_grad_()
            value = function(SimpleNamespace(**tensors))
            return value, torch.autograd.grad(value.sum(), tensors["x"]) if value.requires_grad else None

        yield f"{name}_backward", "any", Call(grads, (), given, kept=kept)
