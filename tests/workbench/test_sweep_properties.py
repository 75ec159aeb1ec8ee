"""Results that aren't unique: each judge accepts another right one, and refuses wrong ones."""

from typing import Any

import pytest
import torch
from openreg_gen.sweep import opinion, properties, question
from openreg_gen.sweep.compare import Call, Difference, check
from openreg_gen.sweep.copies import tensors
from openreg_gen.sweep.properties import PROPERTIES
from openreg_gen.sweep.variants import OpSample, backward
from openreg_gen.testing import opinfos

CPU = torch.device("cpu")
needs_opinfos = pytest.mark.skipif(not opinfos.database(), reason="PyTorch's OpInfos need numpy and expecttest")


class Changed:
    """A function whose second call, on the device, has its result changed."""

    def __init__(self, function, change):
        self.function, self.change, self.calls = function, change, 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        value = self.function(*args, **kwargs)
        if self.calls != 2:
            return value
        for result, other in zip(tensors(value), tensors(self.change(value)), strict=True):
            result.copy_(other.clone())  # with the same strides
        return value


def found(name, function, args, kwargs, change, form="result") -> Difference | None:
    call = Call(Changed(function, change), args, kwargs, judge=properties.of(name, form))
    return check(call, 0, CPU)


TIED = torch.tensor([[3.0, 1.0, 3.0, 2.0], [1.0, 1.0, 0.0, 1.0]])
torch.manual_seed(3)
SQUARE = torch.rand(2, 4, 4, dtype=torch.float64)
TALL = torch.rand(2, 5, 3, dtype=torch.complex64)
TIES_OF_PIVOTS = torch.tensor([[1.0, 2.0], [-1.0, 5.0]])
SIGNAL = torch.rand(1, 2, 8)
ENDLESS = torch.tensor([[[1.0, 2.0, torch.inf]], [[3.0, 1.0, 2.0]]])
DEFICIENT = torch.tensor([[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]])
SIGNS = torch.tensor([1.0, -1.0, -1.0, 1.0])


def at(part: int, change) -> Any:
    """Changes one of several results."""
    return lambda value: tuple(change(x) if i == part else x for i, x in enumerate(value))


def put(place, number) -> Any:
    def change(x: torch.Tensor) -> torch.Tensor:
        x = x.clone()
        x[place] = number
        return x

    return change


def swapped(*places) -> Any:
    """Two elements of the last dimension change places."""

    def change(x: torch.Tensor) -> torch.Tensor:
        order = list(range(x.size(-1)))
        i, j = places
        order[i], order[j] = order[j], order[i]
        return x[..., order]

    return change


def each(*changes) -> Any:
    return lambda value: tuple(change(x) for change, x in zip(changes, value, strict=True))


def same(x: torch.Tensor) -> torch.Tensor:
    return x


def other_pivot(value) -> Any:
    """Of the matrix of ties, with the other row first."""
    return torch.eye(2), torch.tensor([[1.0, 0.0], [-1.0, 1.0]]), torch.tensor([[1.0, 2.0], [0.0, 7.0]])


def other_packed(value) -> Any:
    return torch.tensor([[1.0, 2.0], [-1.0, 7.0]]), torch.tensor([1, 2], dtype=torch.int32), *value[2:]


def first_packed(value) -> Any:
    """As the CPU would have it from the second row."""
    return torch.tensor([[-1.0, 5.0], [-1.0, 7.0]]), torch.tensor([2, 2], dtype=torch.int32), *value[2:]


POOLED = torch.tensor([[[1.0, 1.0, 0.0, 2.0, 2.0, 0.0]]])
POOLED_2D = torch.tensor([[[[5.0, 5.0, 0.0, 1.0], [0.0, 5.0, 1.0, 1.0]]]])
POOLED_3D = POOLED_2D[:, None]
WINDOW = {"kernel_size": 2, "return_indices": True}
F = torch.nn.functional
PHASE = torch.tensor([1, 1j, -1], dtype=torch.complex64)

# Operator: the call, a change that is right, two that are wrong.
CASES: dict[str, tuple[Any, ...]] = {
    "topk": (torch.topk, (TIED, 2), {}, at(1, swapped(0, 1)), at(1, put((1, 1), 2)), at(1, put(1, 0))),
    "sort": (torch.sort, (TIED,), {}, at(1, swapped(2, 3)), at(1, swapped(0, 3)), at(0, put((0, 0), 9))),
    "argsort": (torch.argsort, (TIED,), {}, swapped(2, 3), swapped(0, 3), put((1, 2), 0)),
    "kthvalue": (torch.kthvalue, (TIED, 3), {}, at(1, put(1, 3)), at(1, put(1, 2)), at(1, put(1, 9))),
    "median": (torch.median, (TIED, 1), {}, at(1, put(1, 3)), at(1, put(1, 2)), at(0, put(1, 0))),
    "nanmedian": (torch.nanmedian, (TIED, 1), {}, at(1, put(1, 3)), at(1, put(1, 2)), at(0, put(1, 0))),
    "mode": (
        *(torch.mode, (torch.tensor([1.0, 1.0, 2.0, 2.0, 3.0]),), {}),
        each(lambda x: x + 1, lambda x: x * 0 + 3),
        each(lambda x: x + 2, lambda x: x * 0 + 4),
        each(same, lambda x: x * 0 + 4),
    ),
    "max": (torch.max, (TIED, 1), {}, None, at(1, put(0, 1)), at(0, put(0, 2))),
    "min": (torch.min, (TIED, 0), {}, None, at(1, put(0, 0)), at(1, put(0, 5))),
    "argmax": (torch.argmax, (TIED, 1), {}, None, put(0, 1), put(0, -1)),
    "argmin": (torch.argmin, (TIED,), {}, None, lambda x: x * 0, lambda x: x * 0 + 99),
    "masked.argmax": (torch.argmax, (TIED, 1), {}, None, put(0, 1), put(0, -1)),
    "masked.argmin": (torch.argmin, (TIED,), {}, None, lambda x: x * 0, lambda x: x * 0 + 99),
    "cummax": (torch.cummax, (TIED, 1), {}, at(1, put((0, 2), 0)), at(1, put((0, 2), 1)), at(1, put((1, 1), 3))),
    "cummin": (torch.cummin, (TIED, 1), {}, at(1, put((1, 1), 0)), at(1, put((0, 2), 2)), at(1, put((1, 0), 1))),
    "nn.functional.max_pool1d": (
        *(F.max_pool1d, (POOLED,), WINDOW),
        *(at(1, put((0, 0, 0), 1)), at(1, put((0, 0, 1), 4)), at(1, put((0, 0, 0), 2))),
    ),
    "nn.functional.max_pool2d": (
        *(F.max_pool2d, (POOLED_2D,), WINDOW),
        *(at(1, put((0, 0, 0, 0), 5)), at(1, put((0, 0, 0, 0), 4)), at(1, put((0, 0, 0, 1), 0))),
    ),
    "nn.functional.max_pool3d": (
        *(F.max_pool3d, (POOLED_3D,), {**WINDOW, "kernel_size": (1, 2, 2)}),
        *(at(1, put((0, 0, 0, 0, 0), 5)), at(1, put((0, 0, 0, 0, 0), 4)), at(0, put((0, 0, 0, 0, 0), 0))),
    ),
    "nn.functional.adaptive_max_pool1d": (
        *(F.adaptive_max_pool1d, (POOLED, 2, True), {}),
        *(at(1, put((0, 0, 0), 1)), at(1, put((0, 0, 0), 2)), at(1, put((0, 0, 1), 0))),
    ),
    "nn.functional.adaptive_max_pool2d": (
        *(F.adaptive_max_pool2d, (POOLED_2D, (1, 2), True), {}),
        *(at(1, put((0, 0, 0, 0), 5)), at(1, put((0, 0, 0, 0), 4)), at(1, put((0, 0, 0, 1), 99))),
    ),
    "nn.functional.adaptive_max_pool3d": (
        *(F.adaptive_max_pool3d, (POOLED_3D, (1, 1, 2), True), {}),
        *(at(1, put((0, 0, 0, 0, 0), 5)), at(1, put((0, 0, 0, 0, 0), 4)), at(1, put((0, 0, 0, 0, 1), 2))),
    ),
    "linalg.eig": (
        *(torch.linalg.eig, (SQUARE,), {}),
        each(swapped(0, 2), lambda x: swapped(0, 2)(x) * 1j),
        each(swapped(0, 2), same),
        each(same, lambda x: x * 2),
    ),
    "linalg.eigvals": (
        *(torch.linalg.eigvals, (SQUARE,), {}),
        *(swapped(1, 3), put((0, 1), 0), lambda x: x[..., [0, 0, 1, 2]]),
    ),
    "linalg.eigh": (
        *(torch.linalg.eigh, (SQUARE,), {"UPLO": "U"}),
        *(at(1, lambda x: x * SIGNS), at(1, swapped(0, 1)), at(1, lambda x: x * SIGNS[:, None])),
    ),
    "linalg.svd": (
        *(torch.linalg.svd, (SQUARE,), {}),
        each(lambda x: x * SIGNS, same, lambda x: x * SIGNS[:, None]),
        each(lambda x: x * SIGNS, same, same),
        each(swapped(0, 1), same, lambda x: swapped(0, 1)(x.mT).mT),
    ),
    "svd": (
        *(torch.svd, (TALL,), {}),
        each(lambda x: x * PHASE, same, lambda x: x * PHASE),
        each(lambda x: x * PHASE, same, lambda x: x * PHASE.conj()),
        each(lambda x: x * 2, same, lambda x: x / 2),
    ),
    "linalg.qr": (
        *(torch.linalg.qr, (TALL,), {}),
        each(lambda x: x * PHASE, lambda x: x * PHASE.conj()[:, None]),
        each(lambda x: x * PHASE, lambda x: x * PHASE[:, None]),
        each(lambda x: x / 2, lambda x: x * 2),
    ),
    "qr": (
        *(torch.qr, (SQUARE[..., :3], False), {}),
        each(lambda x: x * SIGNS, lambda x: x * SIGNS[:, None]),
        each(lambda x: x * SIGNS, same),
        each(lambda x: x.flip(-1), lambda x: x.flip(-2)),  # not a triangle
    ),
    "geqrf": (
        *(torch.geqrf, (torch.tensor([[2.0, 1.0], [0.0, 3.0]]),), {}),
        lambda value: (torch.tensor([[-2.0, -1.0], [0.0, -3.0]]), torch.tensor([2.0, 2.0])),
        lambda value: (torch.tensor([[-2.0, -1.0], [0.0, -3.0]]), torch.tensor([2.0, 0.0])),
        lambda value: (torch.tensor([[2.0, 1.0], [0.0, 3.0]]), torch.tensor([1.0, 1.0])),
    ),
    "linalg.lu": (
        *(torch.linalg.lu, (TIES_OF_PIVOTS,), {}),
        lambda value: other_pivot(value) if value[2][0, 0] < 0 else second_pivot(value),
        at(2, lambda x: x * 2),
        at(0, lambda x: x.flip(0)),
    ),
    "linalg.lu_factor": (
        *(torch.linalg.lu_factor, (TIES_OF_PIVOTS,), {}),
        lambda value: other_packed(value) if value[0][0, 0] < 0 else first_packed(value),
        at(0, lambda x: x * 2),
        at(1, lambda x: x * 0 + 9),
    ),
    "linalg.lu_factor_ex": (
        *(torch.linalg.lu_factor_ex, (TIES_OF_PIVOTS,), {}),
        lambda value: other_packed(value) if value[0][0, 0] < 0 else first_packed(value),
        at(2, lambda x: x + 1),
        at(1, lambda x: x.flip(0) * 0),
    ),
    "lu": (
        *(torch.lu, (TIES_OF_PIVOTS,), {}),
        lambda value: other_packed(value) if value[0][0, 0] < 0 else first_packed(value),
        at(0, lambda x: x * 2),
        at(1, lambda x: x * 0 + 9),
    ),
    "nn.functional.conv1d": (
        *(torch.nn.functional.conv1d, (SIGNAL, ENDLESS), {"padding": "same", "groups": 2}),
        lambda value: torch.nn.functional.conv1d(torch.nn.functional.pad(SIGNAL, (1, 1)), ENDLESS, groups=2),
        lambda value: value * torch.nan,
        lambda value: value + torch.rand(value.shape).log(),
    ),
    "linalg.lstsq": (
        *(torch.linalg.lstsq, (DEFICIENT, torch.tensor([[1.0], [2.0], [6.0]])), {"driver": "gelsd"}),
        at(0, lambda x: torch.tensor([[3.0], [0.0]])),
        at(0, lambda x: torch.tensor([[3.0], [1.0]])),
        at(2, lambda x: x + 1),
    ),
}


def second_pivot(value) -> Any:
    """Of the matrix of ties, with the second row first."""
    p = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    return p, torch.tensor([[1.0, 0.0], [-1.0, 1.0]]), torch.tensor([[-1.0, 5.0], [0.0, 7.0]])


def test_each_judge_has_a_case():
    assert set(CASES) == set(PROPERTIES)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case[3] is not None])
def test_another_right_result_is_accepted(name):
    function, args, kwargs, right, *_ = CASES[name]
    call = Call(Changed(function, right), args, kwargs)
    assert check(call, 0, CPU).category == "value", "without a judge it counts as wrong"
    assert found(name, function, args, kwargs, right) is None


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("place", [4, 5])
def test_a_wrong_result_is_refused(name, place):
    function, args, kwargs = CASES[name][:3]
    difference = found(name, function, args, kwargs, CASES[name][place])
    assert difference is not None
    assert difference.category == "value"
    assert "; " in difference.detail or "index" in difference.detail


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case[3] is None])
def test_the_first_of_equal_elements_is_promised_by_the_documentation(name):
    """max, min, argmax and argmin: another one has a category of its own."""
    function, args, kwargs, *_ = CASES[name]

    def last(value) -> Any:
        return (value[0], value[1] * 0 + 1) if isinstance(value, tuple) else value * 0 + 1

    difference = found(name, function, (torch.ones(2, 2), *args[1:]), kwargs, last)
    assert difference == Difference("tie", question.FIRST)


def test_stable_sort_keeps_the_order_of_equal_elements():
    for name, function, change in (
        ("sort", torch.sort, at(1, swapped(2, 3))),
        ("argsort", torch.argsort, swapped(2, 3)),
    ):
        assert found(name, function, (TIED,), {"stable": True}, change).category == "value"
        assert found(name, function, (TIED,), {"stable": False}, change) is None


def test_out_holds_the_result_that_was_judged():
    out = torch.zeros(2, 2), torch.zeros(2, 2, dtype=torch.int64)
    assert found("topk", lambda x, out: torch.topk(x, 2, out=out), (TIED,), {"out": out}, at(1, swapped(0, 1))) is None


class Tied:
    """topk(x, 2), whose second call, on the device, returns equal elements in another order."""

    def __init__(self, wrong: bool = False) -> None:
        self.calls, self.wrong = 0, wrong

    def __call__(self, x: torch.Tensor, k: int) -> Any:
        self.calls += 1
        indices = x.topk(k).indices
        if self.calls == 2:
            indices = indices.flip(-1)
        values = x.gather(-1, indices)
        return torch.return_types.topk(
            (values * 2 - values.detach() if self.wrong and self.calls == 2 else values, indices)
        )


class Info:
    """As much of an OpInfo as a gradient needs."""

    method_variant = inplace_variant = operator_variant = inplace_operator_variant = None

    def __init__(self, name, op) -> None:
        self.name, self.op = name, op


class Sample:
    kwargs: dict[str, Any] = {}

    def __init__(self, *args) -> None:
        self.input, *self.args = args

    @staticmethod
    def output_process_fn_grad(value):
        return value


@pytest.mark.parametrize("wrong", [False, True])
def test_the_gradient_follows_the_device_s_choice(wrong):
    sample = Sample(torch.ones(2, 4, requires_grad=True), 2)
    (call,) = backward(OpSample(Info("topk", Tied(wrong)), sample, torch.float32, 0))
    difference = check(call, 0, CPU)
    assert (difference is None) != wrong
    assert check(call._replace(judge=None, function=backward_again(sample)), 0, CPU).category == "value"


def backward_again(sample):
    (call,) = backward(OpSample(Info("topk", Tied()), sample, torch.float32, 0))
    return call.function


class Backwards(Info):
    """An operator whose second call has its eigenvalues in another order, or other signs."""

    def __init__(self, name, op, change) -> None:
        calls = []

        def function(*args, **kwargs):
            calls.append(1)
            value = op(*args, **kwargs)
            return change(value) if len(calls) == 2 else value

        super().__init__(name, function)


@pytest.mark.parametrize("wrong", [1, 1.1])
def test_gradients_of_other_orders_and_signs(wrong):
    x = SQUARE.clone().requires_grad_()
    order = torch.tensor([2, 0, 3, 1])

    def turned(value):
        return value[0] * SIGNS * wrong, value[1] * SIGNS[:, None].to(x.dtype) / wrong

    for info, sample in (
        (Backwards("linalg.eigvals", torch.linalg.eigvals, lambda value: value[..., order] * wrong), Sample(x)),
        (Backwards("linalg.qr", torch.linalg.qr, turned), Sample(x)),
    ):
        difference = check(next(backward(OpSample(info, sample, x.dtype, 0))), 0, CPU)
        assert (difference is None) == (wrong == 1), difference


class OffOnTheCpu:
    """A function that the CPU computes badly: all calls but the second one, on the device."""

    def __init__(self, function) -> None:
        self.function, self.calls = function, 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        value = self.function(*args, **kwargs)
        return value if self.calls == 2 else value * 1.01


OPINIONS = {
    "digamma": (torch.digamma, (TALL.real + 0.5,), {}),
    "exp": (torch.exp, (TALL,), {}),
    "nn.functional.gelu": (torch.nn.functional.gelu, (TALL.real,), {"approximate": "tanh"}),
    "asinh": (torch.asinh, (TALL,), {}),
    "hypot": (torch.hypot, (TALL.real, TALL.imag), {}),
    "special.zeta": (torch.special.zeta, (TALL.real + 2, torch.tensor(3.0)), {}),
    "special.scaled_modified_bessel_k1": (torch.special.scaled_modified_bessel_k1, (TALL.real + 1,), {}),
    "sum": (torch.sum, (TALL,), {}),
    "mean": (torch.mean, (TALL, (0, 2)), {"keepdim": True}),
    "cumsum": (torch.cumsum, (TALL.real, 1), {}),
}


@pytest.mark.parametrize("name", OPINIONS)
def test_where_the_cpu_is_further_from_the_exact_value_the_device_is_not_to_blame(name):
    function, args, kwargs = OPINIONS[name]
    call = Call(OffOnTheCpu(function), args, kwargs, second=opinion.of(name))
    assert check(call, 0, CPU).category == "reference"
    off = Changed(function, lambda x: x * 1.01)
    assert check(call._replace(function=off), 0, CPU).category == "value"
    assert check(Call(OffOnTheCpu(function), args, kwargs), 0, CPU).category == "value"


class Weighted:
    """Of 16 bits, weighted by numbers of 64. The device, which computes the second call, is off in each step of 16 bits by `ulps`."""

    def __init__(self, ulps: int, result: torch.dtype = torch.float64) -> None:
        self.ulps, self.result, self.calls = ulps, result, 0

    def __call__(self, x: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        step = torch.log_softmax(x, 0)
        if self.calls == 2:
            step = (step.view(torch.int16) + self.ulps).view(torch.float16)
        return (step * weights).to(self.result)


@pytest.mark.parametrize(
    "ulps, weights, result, wrong",
    [
        (1, torch.float64, torch.float64, False),
        (40, torch.float64, torch.float64, True),
        (1, torch.bfloat16, torch.float32, False),
        (1, torch.float16, torch.float64, True),  # nothing that was given has 64 bits: the result promises them
        (1, torch.float64, torch.int64, True),
    ],
)
def test_a_result_of_64_bits_is_as_near_as_its_step_of_16(ulps, weights, result, wrong):
    x = torch.linspace(-3, 4, 32, dtype=torch.float16)
    scale = 1e6 if result == torch.int64 else 1.0
    call = Call(Weighted(ulps, result), (x, torch.linspace(1, 2, 32, dtype=weights) * scale), {})
    assert (check(call, 0, CPU) is not None) == wrong


class Rounding:
    """Adds. The device, which computes the second call, rounds the wider number first."""

    calls = 0

    def __call__(self, x: torch.Tensor, wide: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return x + (wide.to(x.dtype).to(wide.dtype) if self.calls == 2 else wide)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_what_the_cpu_computes_in_the_wide_dtype_is_not_rounded(dtype):
    x = torch.linspace(-3, 4, 32, dtype=dtype)
    assert check(Call(Rounding(), (x, torch.rand(32, dtype=torch.float64)), {}), 0, CPU) is not None


@needs_opinfos
def test_exact_functions_are_those_of_pytorch_s_names():
    """Each against the CPU, on PyTorch's samples."""
    wrong = []
    for name in opinion.EXACT:
        info = opinfos.database()[name]
        for sample in [s for s in info.sample_inputs("cpu", torch.float64) if s.input.numel() < 500][:2]:
            expected = info.op(sample.input, *sample.args, **sample.kwargs)
            try:
                args = (sample.input, *sample.args)
                exact = opinion.EXACT[name](args, sample.kwargs, torch.ones_like(expected, dtype=torch.bool))
            except (ValueError, TypeError, ZeroDivisionError, OverflowError):
                continue
            if not torch.allclose(exact.to(expected.dtype), expected.reshape(-1), rtol=1e-4, atol=1e-4, equal_nan=True):
                wrong.append(name)
    assert wrong == []
