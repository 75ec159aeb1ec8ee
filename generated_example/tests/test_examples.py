# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""The programs of examples/ return on the device what they return on the CPU, and no warning is heard."""

import importlib
import math
from pathlib import Path

import pytest
import torch

NAME = "openreg"
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
PROGRAMS = sorted(path.stem for path in EXAMPLES.glob("*.py"))
# In mixed precision; None: not at all.
DTYPES = {"train_mlp": (None, "bfloat16"), "cnn_amp": ("float16", "bfloat16")}
# Its later steps amplify a difference in the last bit thousands of times, on the CPU as well.
OPTIONS = {"train_mlp": ["--steps", "20"]}


@pytest.fixture
def warnings_are_errors():
    """Those of PyTorch's C++ code too, which it otherwise says once a process."""
    always = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(always)


@pytest.mark.filterwarnings(
    "error",
    "ignore:.* has no kernel for .* and runs on the CPU:UserWarning",
    "ignore:An output with one or more elements was resized:UserWarning",  # losses: the CPU's kernel resizes its own output
)
@pytest.mark.parametrize(("program", "dtype"), [(p, dtype) for p in PROGRAMS for dtype in DTYPES.get(p, (None,))])
def test_example(device, program, dtype, monkeypatch, capsys, warnings_are_errors):
    if dtype and getattr(torch, dtype) not in torch.openreg.get_amp_supported_dtype():
        pytest.skip(f"the spec has no {dtype} for mixed precision")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    main = importlib.import_module(program).main
    options = [*OPTIONS.get(program, []), *(["--dtype", dtype] if dtype else [])]
    found, expected = (main(["--device", where, *options]) for where in (NAME, "cpu"))
    assert expected
    assert all(map(math.isfinite, expected))
    # Operators may round differently, and training lets differences grow; mixed precision starts with larger ones.
    rounding = {"rel": 0.05, "abs": 0.02} if dtype else {"rel": 2e-3, "abs": 2e-4}
    assert found == pytest.approx(expected, **rounding)
    assert "loss" in capsys.readouterr().out
