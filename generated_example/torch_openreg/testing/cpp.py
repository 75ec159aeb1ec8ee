# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""What C++ means by the spec's expressions, over tensors and numbers: tests compare kernels with it.

What has the same name and meaning in PyTorch comes from there; the rest is below.
"""

import torch

_NAMES = {"arg": "angle", "fabs": "abs", "is_negative": "signbit", "max": "maximum", "min": "minimum"}
_NAMES |= {"nearbyint": "round", "rint": "round"}
_DTYPES = {
    "bool": torch.bool,
    "int": torch.int32,
    "float": torch.float32,
    "double": torch.float64,
    "int64_t": torch.int64,
}


def _tensor(value):
    return torch.as_tensor(value, dtype=torch.float64 if isinstance(value, float) else None)


def _is_whole(value):
    return not _tensor(value).is_floating_point() and not _tensor(value).is_complex()


def __getattr__(name):
    function = getattr(torch, _NAMES.get(name, name))

    def call(*values):
        values = [_tensor(value) for value in values]
        if name not in ("abs", "clamp", "max", "min") and all(map(_is_whole, values)):
            values = [value.double() for value in values]
        return function(*values)

    return call


def divide(a, b):
    """The quotient of integers is cut off."""
    whole = _is_whole(a) and _is_whole(b)
    return torch.div(_tensor(a), _tensor(b), rounding_mode="trunc" if whole else None)


def modulo(a, b):
    return torch.fmod(_tensor(a), _tensor(b))


def where(condition, a, b):
    return torch.where(_tensor(condition).bool(), _tensor(a), _tensor(b))


def cast(name, value):
    return value if name == "scalar_t" else _tensor(value).to(_DTYPES[name])


def round(value):
    """Halves go away from zero."""
    value = _tensor(value)
    return torch.sign(value) * torch.floor(torch.abs(value) + 0.5)


def remainder(a, b):
    return _tensor(a) - _tensor(b) * torch.round(divide(a, b))


def div_floor_floating(a, b):
    return torch.div(_tensor(a), _tensor(b), rounding_mode="floor")


div_floor_integer = div_floor_floating


def cbrt(value):
    value = _tensor(value)
    return torch.sign(value) * torch.abs(value) ** (1 / 3)


def tgamma(value):
    value = _tensor(value)
    negative = (value < 0) & (torch.floor(value) % 2 != 0)
    return torch.where(negative, -1, 1) * torch.exp(torch.lgamma(value))


def fma(a, b, c):
    return _tensor(a) * _tensor(b) + _tensor(c)


def norm(value):
    return torch.abs(_tensor(value)) ** 2


def has_value(value):
    return value is not None


def value_or(value, otherwise):
    return otherwise if value is None else value
