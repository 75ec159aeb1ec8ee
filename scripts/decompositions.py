"""Traces which operators PyTorch's composites call and writes specs/decompositions.json, which `openreg-gen explain` reads.

Run below autograd, a mode sees composites as well; it then runs the default kernel in C++ that every backend has, itself
still on, so that each call is noted under the one that made it. Inputs are PyTorch's OpInfo samples, on the CPU.
"""

import argparse
import itertools
import json
import pathlib
import sys
import warnings

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._python_dispatch import TorchDispatchMode

SAMPLES = 16
KEYS = ("CompositeImplicitAutograd", "CompositeExplicitAutograd")
# Picks its kernel by device: what it calls on the CPU says nothing of another device.
OPAQUE = {"_convolution", "_convolution_mode"}


def short(func):
    return func.name().removeprefix("aten::")


def has_kernel(func, key):  # PyTorch's own in C++; a decomposition in Python (torch._decomp) does not count
    return torch._C._dispatch_has_kernel(func.name()) and torch._C._dispatch_has_kernel_for_dispatch_key(
        func.name(), key
    )


class Tracer(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.calls = {}
        self.inside = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = short(func)
        if self.inside and func.namespace == "aten" and name != self.inside[-1]:
            self.calls.setdefault(self.inside[-1], set()).add(name)
        key = next((key for key in KEYS if has_kernel(func, key)), None)
        if func.namespace != "aten" or key is None or name in OPAQUE or name in self.inside:
            return func(*args, **kwargs)
        self.calls.setdefault(name, set())
        self.inside.append(name)
        try:
            with self:
                return func._op_dk(getattr(torch._C.DispatchKey, key), *args, **kwargs)
        finally:
            self.inside.pop()


def forms(info):
    """Callables of an OpInfo, each with a word on how it is called."""
    yield info.op, ""
    for alias in (info, *info.aliases):
        yield alias.method_variant, ""
        yield alias.inplace_variant, "in place"
        if alias is not info:
            yield alias.op, ""
    if info.supports_out:
        yield info.op, "out"


def overloads(info):
    """Every aten overload that has the name of an OpInfo, for calls that no Python function makes."""
    packet = getattr(torch.ops.aten, info.aten_name or info.name.split(".")[-1], None)
    return [getattr(packet, each) for each in packet.overloads()] if packet else []


def call(tracer, function, how, sample, fails):
    inputs = (sample.input, *sample.args)
    kwargs = dict(sample.kwargs)
    try:
        if how == "in place":
            inputs = (torch.utils._pytree.tree_map_only(torch.Tensor, torch.clone, sample.input), *sample.args)
        if how == "out":
            made = function(*inputs, **kwargs)
            kwargs["out"] = torch.utils._pytree.tree_map_only(torch.Tensor, torch.empty_like, made)
        with torch._C._AutoDispatchBelowAutograd(), tracer:
            function(*inputs, **kwargs)
    except Exception as error:  # a form that does not take the sample; the next may
        fails.append(f"{function}: {error}")
    tracer.inside.clear()


def modules():
    """Calls that are in no OpInfo."""
    nn = torch.nn
    x = torch.randn(3, 2, 8)
    for rnn in (nn.RNN, nn.GRU, nn.LSTM):
        yield rnn(8, 8), (x,)
    for cell in (nn.RNNCell, nn.GRUCell, nn.LSTMCell):
        yield cell(8, 8), (x[0],)
    yield nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1), (x,)
    yield nn.MultiheadAttention(8, 2), (x, x, x)
    yield nn.Bilinear(8, 8, 4), (x[0], x[1])


def trace():
    tracer, fails = Tracer(), []
    with torch.backends.mkldnn.flags(enabled=False), sdpa_kernel(SDPBackend.MATH):
        for info in op_db:
            dtype = next(
                (each for each in (torch.float32, torch.int64, torch.bool) if info.supports_dtype(each, "cpu")), None
            )
            if dtype is None:
                continue
            torch.manual_seed(0)
            samples = list(itertools.islice(info.sample_inputs("cpu", dtype), SAMPLES))
            for sample in samples:
                for function, how in forms(info):
                    if function is not None:
                        call(tracer, function, how, sample, fails)
            for overload in overloads(info):
                key = short(overload)
                if key in tracer.calls or not has_kernel(overload, KEYS[0]):
                    continue
                how = "out" if overload._schema.arguments and overload._schema.arguments[-1].is_out else ""
                for sample in samples[:2]:
                    call(tracer, overload, how, sample, fails)
        for module, inputs in modules():
            with torch._C._AutoDispatchBelowAutograd(), tracer:
                module(*inputs)
    return tracer.calls, fails


def main():
    default = pathlib.Path(__file__).parent.parent / "specs/decompositions.json"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", nargs="?", type=pathlib.Path, default=default, help="default: specs/decompositions.json")
    out = parser.parse_args().out
    warnings.simplefilter("ignore")
    calls, fails = trace()
    rows = [f" {json.dumps(name)}: {json.dumps(sorted(calls[name]))}" for name in sorted(calls) if calls[name]]
    version = torch.__version__.split("+")[0]
    out.write_text("\n".join([f'{{"torch": "{version}", "ops": {{', ",\n".join(rows), "}}", ""]))
    print(f"{len(rows)} operators traced, {len(fails)} calls did not fit; {out}", file=sys.stderr)


if __name__ == "__main__":
    main()
