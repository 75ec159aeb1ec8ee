"""check_statement.py DEVICE MODULE: reads statements of an audit, one line of JSON each, and says of each whether it is true.

Each statement has a process of its own, in which the backend is loaded; PyTorch is loaded before. Uses PyTorch alone, and nothing of openreg_gen. "true" is null where the statement can't be checked here, as where no arguments are
known that the CPU takes.
"""

import importlib
import itertools
import json
import os
import pathlib
import re
import signal
import sys
import time
import warnings

import torch
from torch.utils._pytree import tree_map_only

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import interfaces  # noqa: E402

COMPOSITE = ("CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")
SECONDS = 120
SHAPES = ((3, 3), (1, 2, 4, 4), (2, 4, 4), (4,), ())  # of all tensors of a call


def has_kernel(op, key="PrivateUse1"):
    return torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{op}", key)


def overload(op):
    name, _, which = op.partition(".")
    return getattr(getattr(torch.ops.aten, name), which or "default")


def is_composite(op):
    return any(has_kernel(op, key) for key in COMPOSITE)


# --- arguments


def value_of(argument, shape, dtype):
    kind = str(argument.type)
    if kind == "Tensor":
        return torch.full(shape, 0.5).to(dtype)
    if kind in ("List[Tensor]", "List[Optional[Tensor]]"):
        return [torch.full(shape, 0.5).to(dtype)] * 2
    if kind.startswith("Optional["):
        return None
    values = {"int": 1, "SymInt": 1, "float": 0.5, "number": 1, "bool": False, "str": "none", "Device": "cpu"}
    if kind.startswith("List[") and kind[5:-1] in values:
        return [values[kind[5:-1]]] * max(len(shape) - (2 if len(shape) > 2 else 0), 1)
    return values[kind]


def calls(op, dtype=torch.float32):
    """Arguments with which the CPU runs the operator, for each shape that it takes."""
    function = overload(op)
    for shape in SHAPES:
        try:
            arguments = [each for each in function._schema.arguments if not each.has_default_value()]
            args = [value_of(each, shape, dtype) for each in arguments if not each.kwarg_only]
            kwargs = {each.name: value_of(each, shape, dtype) for each in arguments if each.kwarg_only}
            result = function(*copied(args), **copied(kwargs))
        except Exception:  # it does not take these arguments
            continue
        yield args, kwargs, result


def copied(values):
    return tree_map_only(torch.Tensor, torch.clone, values)


def on_device(values, device):
    return tree_map_only(torch.Tensor, lambda x: x.to(device), copied(values))


def run(op, args, kwargs, device):
    """The error with which the call ends on the device, or None."""
    try:
        moved = on_device((args, kwargs), device)
    except Exception as error:
        return error
    if isinstance(moved[1], dict):
        moved[1].update({name: device for name in moved[1] if name == "device"})
    try:
        overload(op)(*moved[0], **moved[1])
    except Exception as error:
        return error
    return None


def lacks(error, op):
    """Whether an error says that the device has no kernel of an operator, in any of its overloads."""
    return error is not None and f"aten::{op.partition('.')[0]}'" in str(error).replace(".", "'")


# --- the kinds of statements


def native(device, op, key):
    return has_kernel(op, key), f"_dispatch_has_kernel_for_dispatch_key(aten::{op}, {key})"


def delegate(device, op, through):
    return (
        has_kernel(through) and not has_kernel(op),
        f"a kernel of {through}: {has_kernel(through)}, of {op}: {has_kernel(op)}",
    )


def composite(device, op):
    if has_kernel(op) or not is_composite(op):
        return False, f"a kernel: {has_kernel(op)}; a default kernel: {is_composite(op)}"
    for args, kwargs, _ in itertools.islice(calls(op), 1):
        error = run(op, args, kwargs, device)
        if lacks(error, op) and "could not run" in str(error).lower():
            return False, f"{str(error)[:150]}"
    return True, "no kernel, and a default kernel of PyTorch"


def missing(device, op):
    """Without a kernel, PyTorch refuses before anybody looks at the arguments' values."""
    if has_kernel(op) or is_composite(op):
        return False, f"a kernel: {has_kernel(op)}; a default kernel: {is_composite(op)}"
    tensors = [each for each in overload(op)._schema.arguments if "Tensor" in str(each.type)]
    for args, kwargs, _ in itertools.islice(calls(op), 1):
        if not tensors:
            break
        error = run(op, args, kwargs, device)
        if error is None:
            return False, "a call of it answers"
        return True, str(error)[:150]
    return True, "no kernel and no default; no arguments are known to call it with"


def fallback(device, op):
    if has_kernel(op) and not boxed(op):
        return False, "it has a kernel"
    for args, kwargs, wanted in calls(op):
        error = run(op, args, kwargs, device)
        if error is not None and "could not run" in str(error).lower() and "'CPU' backend" not in str(error):
            return False, str(error)[:150]
        if error is None and isinstance(wanted, torch.Tensor):
            return True, "a call of it answers, without a kernel"
    return None, "no arguments are known"


def boxed(op):
    """Registered without a signature: the fallback, for this operator."""
    lines = torch._C._dispatch_dump(f"aten::{op}").splitlines()
    return any(line.startswith("PrivateUse1") and "(none)" in line for line in lines)


def view(device, op):
    if has_kernel(op):
        return False, "it has a kernel"
    for args, kwargs, wanted in calls(op):
        if not isinstance(wanted, torch.Tensor) or not wanted.numel():
            continue
        moved = on_device((args, kwargs), device)
        source = next(x for x in moved[0] if isinstance(x, torch.Tensor))
        try:
            made = overload(op)(*moved[0], **moved[1])
            made.fill_(7.0)
        except Exception as error:
            return True, str(error)[:150]
        reached = bool((source.cpu() == 7.0).any())
        return not reached, f"a write to its result reaches the original: {reached}"
    return None, "no arguments are known"


def dtypes(device, op, takes, refuses):
    """The same call on the CPU, on the device with a dtype that it takes, and with the one that it refuses."""
    seen = False
    for dtype in takes:
        if dtype.startswith("float"):
            seen = seen or any(
                run(op, args, kwargs, device) is None for args, kwargs, _ in calls(op, getattr(torch, dtype))
            )
    if not seen:
        return None, "no arguments are known that the device takes"
    for args, kwargs, _ in calls(op, getattr(torch, refuses)):
        error = run(op, args, kwargs, device)
        return error is not None, str(error)[:150] if error else f"a call with {refuses} answers"
    return None, f"no arguments of {refuses} are known"


def interface(device, name, verdict):
    torch.empty(1, device=device)
    try:
        exec(compile(interfaces.CALLS[name], name, "exec"), {"torch": torch, "d": device})
    except BaseException as error:
        return verdict in ("not implemented", "wrong"), f"{type(error).__name__}: {str(error)[:150]}"
    return verdict == "answers", "it answers"


def unlocks(device, op, waiting):
    """A call of the waiting operator names the missing one; with a kernel of it on the CPU, the call gets further."""
    if has_kernel(op):
        return False, f"{op} has a kernel"
    if not hasattr(torch.ops.aten, waiting.partition(".")[0]):
        return None, "a Python function of PyTorch, and not an operator"
    names = [waiting] if "." in waiting else [waiting, *(f"{waiting}.{each}" for each in overloads_of(waiting))]
    for name in names:
        for args, kwargs, _ in calls(name):
            error = run(name, args, kwargs, device)
            if error is None:
                return False, f"a call of {name} answers"
            if lacks(error, op):
                library = serve_on_cpu(op, device, key_of(error))
                again = run(name, args, kwargs, device)
                del library
                return not lacks(again, op), f"without it: {str(error)[:80]}; with it: {str(again)[:80]}"
    return None, "no arguments are known that end there"


def overloads_of(name):
    packet = getattr(torch.ops.aten, name, None)
    return [each for each in packet.overloads() if each != "default"] if packet is not None else []


def key_of(error):
    """The dispatch key that has no kernel, such as SparsePrivateUse1."""
    named = re.search(r"arguments from the '(\w+)' backend", str(error))
    return named.group(1).replace(torch._C._get_privateuse1_backend_name(), "PrivateUse1") if named else "PrivateUse1"


def serve_on_cpu(op, device, key):
    library = torch.library.Library("aten", "IMPL")

    def kernel(*args, **kwargs):
        args, kwargs = tree_map_only(torch.Tensor, lambda x: x.cpu(), (args, kwargs))
        return tree_map_only(torch.Tensor, lambda x: x.to(device), overload(op)(*args, **kwargs))

    library.impl(op, kernel, key)
    return library


CHECKS = {
    "native": native,
    "delegate": delegate,
    "composite": composite,
    "missing": missing,
    "fallback": fallback,
    "view that falls back": view,
    "dtypes": dtypes,
    "unlocks": unlocks,
}


def check(device, module, facts):
    """In a process of its own: it loads the backend, which no other statement has used."""
    warnings.simplefilter("ignore")
    importlib.import_module(module)
    kind = facts.pop("kind")
    true, why = CHECKS.get(kind, interface)(device, **facts)
    return {"true": true, "why": why}


def in_child(device, module, facts):
    """{"true", "why"}, or {"signal"}, or {"hangs"}."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        os.dup2(2, 1)  # the backend may print; answers have a pipe of their own
        try:
            answer = check(device, module, facts)
        except BaseException as error:
            answer = {"true": False, "why": f"the checker failed: {type(error).__name__}: {error}"}
        os.write(writing, json.dumps(answer).encode())
        os._exit(0)  # what a backend does at the end of its process is not the question
    os.close(writing)
    end = time.monotonic() + SECONDS
    while (ended := os.waitpid(child, os.WNOHANG))[0] == 0 and time.monotonic() < end:
        time.sleep(0.05)
    if ended[0] == 0:
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
    with os.fdopen(reading) as file:
        text = file.read() if ended[0] else ""
    code = os.waitstatus_to_exitcode(ended[1])
    return {"hangs": SECONDS} if ended[0] == 0 else json.loads(text) if text else {"signal": -code}


def main():
    device, module = sys.argv[1:]
    for line in sys.stdin:
        print(json.dumps(in_child(device, module, json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
