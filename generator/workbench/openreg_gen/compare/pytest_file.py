"""Writes a stored call as a pytest file that needs PyTorch and the backend, and nothing of openreg-gen."""

import base64
import inspect
import io
from pathlib import Path

import torch

from .placing import placed
from .references import reference_of
from .rules import outcomes, results
from .stored import StoredCall, expression, names, words
from .values import EXACT

_INLINE = 60_000  # bytes of tensors that the test itself holds; more go into a file beside it

_TEXT = '''"""{op} on device {kind!r} is not what {reference}.

Written by `openreg-gen replay --pytest`. Found in step {step}, {phase}, {where}, with PyTorch {torch}:
{problem}
"""

{imports}
from torch.utils._pytree import tree_flatten

DEVICE = {kind!r}
TENSORS = {tensors}
PLACES = {places}  # indices of devices; None: the CPU


{placed}

def call(device):
    """Its result or argument that differed, on the CPU."""
    t = placed(TENSORS, PLACES, device)
    result = torch.ops.{op}({words})
    outcomes = [*tree_flatten(result)[0]{some}, *tree_flatten([{written}])[0]]
    found = outcomes[{outcome}]
    return found.cpu() if isinstance(found, torch.Tensor) else found


def test_{name}():
    torch.set_default_dtype(torch.{default})
    expected = {expected}
    for _ in range({runs}):
        torch.testing.assert_close(call(DEVICE), expected, rtol={rtol!r}, atol={atol!r}, equal_nan=True)
'''


def test_of(stored: StoredCall, kind: str, package: str | None, path: Path) -> list[Path]:
    """Write the test, and beside it tensors that are too large for it; return the files. Raises OSError."""
    data, tensors, places = io.BytesIO(), list(stored.tensors), list(stored.places)
    reference = reference_of(stored.func)
    if reference is not None and not stored.twice:
        args, kwargs = stored.call("cpu")
        tensors.append(outcomes(stored.func, (args, kwargs), reference(*args, **kwargs))[stored.outcome][1])
        places.append(None)
    torch.save(tensors, data)
    written = [path]
    modules = ["torch"] + ([package] if package else [])
    if len(data.getvalue()) <= _INLINE:
        text = base64.b64encode(data.getvalue()).decode()
        lines = "\n".join(f'    "{text[i : i + 110]}"' for i in range(0, len(text), 110))
        loaded = f"torch.load(io.BytesIO(base64.b64decode(\n{lines}\n)), weights_only=True)"
        standard = ["base64", "io"]
    else:
        beside = path.with_suffix(".tensors.pt")
        beside.write_bytes(data.getvalue())
        written.append(beside)
        loaded, standard = (
            'torch.load(pathlib.Path(__file__).with_suffix(".tensors.pt"), weights_only=True)',
            ["pathlib"],
        )
    schema = {argument.name: argument for argument in stored.func._schema.arguments}
    outputs = [
        _place(stored, name)
        for name in names(stored)
        if schema[name].alias_info is not None and schema[name].alias_info.is_write
    ]
    rtol, atol = stored.allowed or EXACT
    imports = [f"import {each}" for each in standard] + [""] + [f"import {each}" for each in modules]
    path.write_text(
        _TEXT.format(
            op=stored.op,
            kind=kind,
            reference="its own first run gave" if stored.twice else "the CPU computes",
            step=stored.step,
            phase=stored.phase,
            where=stored.module or stored.line or "in no module",
            torch=stored.versions["torch"],
            problem=stored.problem.replace("\\", "/"),
            imports="\n".join(imports),
            tensors=loaded,
            places=places,
            placed=inspect.getsource(placed).replace("  # type: ignore[no-untyped-def]", ""),
            words=words(stored),
            some="" if results(stored.func) is None else f"[:{results(stored.func)}]",
            outcome=stored.outcome,
            written=", ".join(outputs),
            name=stored.op.split(".")[1].strip("_"),
            default=stored.settings["default_dtype"],
            expected="call(DEVICE)" if stored.twice else 'call("cpu")' if reference is None else "TENSORS[-1]",
            runs=100 if stored.twice else 1,
            rtol=rtol,
            atol=atol,
        ),
        encoding="utf-8",
    )
    return written


def _place(stored: StoredCall, name: str) -> str:
    values = dict(zip(names(stored), [*stored.args, *stored.kwargs.values()], strict=True))
    return expression(stored, values[name])
