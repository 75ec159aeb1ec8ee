"""What stands in for names of torch.cuda where a name of `torch.NAME` is not enough: the rows "here X" of the table."""

import contextlib
import types
from collections.abc import Callable, Iterator
from typing import Any

import torch

from .. import device as devices
from ..cuda_names import DTYPES
from .mode import on_device


def substitutes(kind: str) -> dict[str, Any]:
    """Everything, by the names that the table gives."""
    module = devices.module(kind)
    found: dict[str, Any] = {
        "is_available": lambda: devices.count(kind) > 0,
        "is_bf16_supported": lambda including_emulation=True: _has_bfloat16(kind),
        "default_generators": tuple(getattr(module, "default_generators", ())) or _generators(kind),
        "device": _device_type(kind),
        "stream": _stream(kind),
        "nvtx": _nvtx(),
        "profiler": _profiler(),
        "nccl": types.SimpleNamespace(is_available=lambda tensors: False, version=lambda: (0, 0, 0)),
        "Stream": stand_in(
            getattr(module, "Stream", torch.Stream),
            lambda device=None, priority=0, **more: getattr(module, "Stream", torch.Stream)(
                device=on_device(device, kind), priority=priority, **more
            ),
        ),
        "Event": stand_in(
            getattr(module, "Event", torch.Event),
            lambda enable_timing=False, blocking=False, interprocess=False, **more: _event(
                module, kind, enable_timing=enable_timing, blocking=blocking, interprocess=interprocess
            ),
        ),
    }
    for name, dtype in DTYPES.items():
        found[f"{name}Tensor"] = _tensor_type(f"{name}Tensor", getattr(torch, dtype), kind)
    return found


def stand_in(real: type, make: Callable[..., Any]) -> type:
    """A class in the place of `real`, whose calls are calls of `make`. Instances of `real` are its instances, and a class that
    derives from it derives from `real`."""

    class Meta(type(real)):  # type: ignore[misc]
        def __instancecheck__(cls, value: object) -> bool:
            return isinstance(value, real) if cls is found else super().__instancecheck__(value)

        def __subclasscheck__(cls, value: type) -> bool:
            return issubclass(value, real) if cls is found else super().__subclasscheck__(value)

    def __new__(cls: type, *args: Any, **kwargs: Any) -> Any:
        return make(*args, **kwargs) if cls is found else real.__new__(cls, *args, **kwargs)

    members = {"__module__": real.__module__, "__doc__": real.__doc__, "__new__": __new__}
    found = Meta(real.__name__, (real,), members)
    return found


def refused_type(real: type, refuse: Callable[..., Any]) -> type:
    """A class without instances; to make one is to call `refuse`."""

    def __new__(cls: type, *args: Any, **kwargs: Any) -> Any:
        return refuse(*args, **kwargs)

    return type(real.__name__, (), {"__module__": real.__module__, "__doc__": real.__doc__, "__new__": __new__})


def _has_bfloat16(kind: str) -> bool:
    asked = getattr(devices.module(kind), "is_bf16_supported", None)
    if asked is not None:
        return bool(asked())
    return torch.bfloat16 in torch.accelerator.get_device_capability(kind)["supported_dtypes"]


def _generators(kind: str) -> tuple[torch.Generator, ...]:
    get = getattr(devices.module(kind), "_get_generator", None)
    return tuple(get(torch.device(kind, i)) for i in range(devices.count(kind))) if get else ()


def _event(module: Any, kind: str, **options: bool) -> Any:
    own = getattr(module, "Event", None)
    return own(**options) if own is not None else torch.Event(kind, **options)


def _device_type(kind: str) -> type:
    class device:
        """Selects a device for a while; None and negative numbers select none."""

        def __init__(self, device: Any) -> None:
            self.idx = -1 if device is None else device if isinstance(device, int) else _index(device, kind)
            self.prev_idx = -1

        def __enter__(self) -> None:
            self.prev_idx = torch.accelerator.current_device_index()
            if self.idx >= 0:
                torch.accelerator.set_device_index(self.idx)

        def __exit__(self, *_: object) -> None:
            torch.accelerator.set_device_index(self.prev_idx)

    return device


def _index(device: Any, kind: str) -> int:
    index = on_device(device, kind).index
    return torch.accelerator.current_device_index() if index is None else index


def _stream(kind: str) -> Callable[[Any], contextlib.AbstractContextManager[Any]]:
    own = getattr(devices.module(kind), "stream", None)

    def stream(stream: Any) -> contextlib.AbstractContextManager[Any]:
        if stream is None:
            return contextlib.nullcontext()
        return own(stream) if own is not None else stream

    return stream


def _nvtx() -> Any:
    @contextlib.contextmanager
    def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
        with torch.profiler.record_function(msg.format(*args, **kwargs)):
            yield

    nothing = types.SimpleNamespace(range=range)
    for name in ("range_push", "range_pop", "range_start", "range_end", "mark"):
        setattr(nothing, name, lambda *_, **__: 0)
    return nothing


def _profiler() -> Any:
    # It starts and stops NVIDIA's tools, which don't run here.
    nothing = lambda *_, **__: None  # noqa: E731
    return types.SimpleNamespace(start=nothing, stop=nothing, init=nothing, profile=contextlib.nullcontext)


def _tensor_type(name: str, dtype: torch.dtype, kind: str) -> type:
    class Meta(type):
        def __call__(cls, *args: Any, device: Any = None) -> torch.Tensor:
            where = on_device(device, kind)
            if len(args) == 1 and not isinstance(args[0], int | torch.Size):
                return torch.as_tensor(args[0], dtype=dtype, device=where).clone()
            sizes = args[0] if len(args) == 1 and isinstance(args[0], torch.Size) else args
            return torch.empty(tuple(sizes) or (0,), dtype=dtype, device=where)

        def __instancecheck__(cls, value: object) -> bool:
            return isinstance(value, torch.Tensor) and value.dtype == dtype and value.device.type == kind

    return Meta(name, (), {"__module__": "torch.cuda", "dtype": dtype})
