"""Runs code under a function mode, a dispatch mode and the profiler, and keeps what each of them saw.

The modes open a range of the profiler around each call, named after the number of their own record ("openreg_gen::call#3"),
so that `tree.py` finds the records in the profiler's tree.
"""

import contextlib
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch._C._profiler import _ExperimentalConfig, _RecordFunctionFast
from torch.overrides import TorchFunctionMode, resolve_name
from torch.profiler import ProfilerActivity, profile
from torch.utils._python_dispatch import TorchDispatchMode

from .. import device, protocol
from . import keys, places
from .code import Code, ScriptExit
from .events import Place, TensorInfo
from .graph import Graph, watch
from .tensors import Memory, aliases, tensors_in

CALL, OPERATOR, NODE, WAIT = "openreg_gen::call#", "openreg_gen::operator#", "openreg_gen::node#", "openreg_gen::wait#"


class EnoughCalls(BaseException):
    """The code has made as many calls as were asked for. No Exception, so that the code does not catch it."""


@dataclass
class CallRecord:
    """A Python function of PyTorch's that the code called."""

    name: str
    place: Place | None
    raw_keys: int
    thread_keys: tuple[int, int]
    error: str = ""


@dataclass
class OperatorRecord:
    """An operator, as it stood below autograd."""

    name: str  # "aten::add.Tensor"
    place: Place | None
    raw_keys: int
    thread_keys: tuple[int, int]
    inputs: list[TensorInfo]
    outputs: list[TensorInfo] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    fallbacks: list[protocol.Fallback] = field(default_factory=list)
    made_on: str = ""  # the type of the device that a factory is asked for
    error: str = ""


@dataclass
class Recording:
    """The result of a run: records by number, the profiler's rows, and how the code ended."""

    calls: list[CallRecord] = field(default_factory=list)
    operators: list[OperatorRecord] = field(default_factory=list)
    graph: Graph = field(default_factory=Graph)
    waits: list[Place | None] = field(default_factory=list)
    roots: Sequence[Any] = ()  # of the profiler's tree
    rows: Sequence[Any] = ()  # the profiler's flat rows
    device_rows: Mapping[tuple[str, int], Mapping[str, Any]] = field(default_factory=dict)  # by name and correlation
    error: BaseException | None = None
    error_place: Place | None = None
    stopped: bool = False  # at the limit of calls


class Calls(TorchFunctionMode):
    """Writes down the functions that the code calls; raises EnoughCalls after `most` of them."""

    def __init__(self, recording: Recording, memory: Memory, most: int) -> None:
        super().__init__()
        self.recording, self.memory, self.most = recording, memory, most

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        name = resolve_name(func) or getattr(func, "__qualname__", None) or repr(func)
        calls = self.recording.calls
        # Properties call few operators, and ranges of record_function are in the profiler's tree already.
        if name.endswith((".__get__", ".__set__", ".__repr__", ".__format__")) or "_record_function_" in name:
            return func(*args, **kwargs)
        if len(calls) >= self.most:
            self.recording.stopped = True
            raise EnoughCalls
        tensors = list(tensors_in([args, kwargs]))
        record = CallRecord(name, places.caller(), keys.raw_keys(tensors), keys.thread_keys())
        calls.append(record)
        hooks = watch(self.recording.graph, name, args, self.memory, NODE)
        try:
            with _RecordFunctionFast(f"{CALL}{len(calls) - 1}"):
                return func(*args, **kwargs)
        except Exception as error:
            record.error = record.error or str(error)
            raise
        finally:
            for hook in hooks:
                hook.remove()


class Operators(TorchDispatchMode):
    """Writes down the operators that are left of the calls below autograd, with their tensors."""

    def __init__(self, recording: Recording, memory: Memory, workbench: protocol.Workbench) -> None:
        super().__init__()
        self.recording, self.memory, self.workbench = recording, memory, workbench

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func.namespace == "profiler":
            return func(*args, **kwargs)
        given = list(_arguments(func, args, kwargs))
        name = func._schema.name + (f".{func._schema.overload_name}" if func._schema.overload_name else "")
        record = OperatorRecord(
            name,
            places.caller(),
            keys.raw_keys(tensor for _, tensor in given),
            keys.thread_keys(),
            [self.memory.describe(tensor, argument) for argument, tensor in given],
            made_on=next((value.type for value in kwargs.values() if isinstance(value, torch.device)), "cpu"),
        )
        operators = self.recording.operators
        operators.append(record)
        self.workbench.reset_fallbacks()
        try:
            with _RecordFunctionFast(f"{OPERATOR}{len(operators) - 1}"):
                result = func(*args, **kwargs)
        except Exception as error:
            record.error = str(error)
            raise
        finally:
            record.fallbacks = self.workbench.fallbacks()
        outputs = list(tensors_in(result))
        record.outputs = [self.memory.describe(tensor) for tensor in outputs]
        record.notes = aliases(given, outputs, self.memory)
        return result


def _arguments(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[tuple[str, torch.Tensor]]:
    """The tensors of a call, with the names of the schema's arguments; those of a list are `tensors[0]` and so on."""
    names = [argument.name for argument in func._schema.arguments]
    for name, value in [*zip(names, args, strict=False), *kwargs.items()]:
        found = list(tensors_in(value))
        for index, tensor in enumerate(found):
            yield (name if isinstance(value, torch.Tensor) else f"{name}[{index}]"), tensor


@contextlib.contextmanager
def _waits(kind: str, recording: Recording) -> Iterator[None]:
    """Marks calls of `synchronize`, which neither mode sees: of torch.accelerator and of the device's module and classes."""
    backend: Any = device.module(kind)
    classes = [getattr(backend, name, None) for name in ("Stream", "Event")] if kind != "cpu" else []
    owners: list[Any] = [torch.accelerator, backend, *classes]
    owners = [owner for owner in owners if hasattr(owner, "synchronize")]
    before: list[tuple[Any, Any]] = []

    def marked(original: Callable[..., Any]) -> Callable[..., Any]:
        def synchronize(*args: Any, **kwargs: Any) -> Any:
            recording.waits.append(places.caller())
            with _RecordFunctionFast(f"{WAIT}{len(recording.waits) - 1}"):
                return original(*args, **kwargs)

        return synchronize

    for owner in owners:
        original = owner.synchronize
        with contextlib.suppress(AttributeError, TypeError):  # a class in C++ can't be changed
            owner.synchronize = marked(original)
            before.append((owner, original))
    try:
        yield
    finally:
        for owner, original in before:
            owner.synchronize = original


def _name_parameters(memory: Memory) -> Any:
    """Names parameters after the module that the code calls. The hook has to be removed."""

    def before(module: torch.nn.Module, _: object) -> None:
        for name, parameter in module.named_parameters():
            memory.call(parameter, name)

    return torch.nn.modules.module.register_module_forward_pre_hook(before)


def record(code: Code, kind: str, workbench: protocol.Workbench, most: int) -> Recording:
    """Run the code and write down what happens.

    kind: the device's type. most: calls after which the code is stopped. What the code raises is kept, not raised:
    `Recording.error`; only KeyboardInterrupt is passed on.
    """
    recording, memory = Recording(), Memory()
    for name, tensor in code.inputs.items():
        memory.call(tensor, name)
    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.PrivateUse1] if kind != "cpu" else [])
    config = _ExperimentalConfig(capture_overload_names=True)
    hook = _name_parameters(memory)
    try:
        with profile(
            activities=activities, record_shapes=True, profile_memory=True, experimental_config=config
        ) as profiler:
            try:
                with (
                    _waits(kind, recording),
                    Calls(recording, memory, most),
                    Operators(recording, memory, workbench),
                ):
                    code.run()
            except EnoughCalls:
                pass
            except Exception as error:
                recording.error = error
                left = error.__cause__ if isinstance(error, ScriptExit) else None
                recording.error_place = places.of_error(left or error)
            finally:
                _finish(kind)
    finally:
        hook.remove()
    results = profiler.profiler.kineto_results if profiler.profiler else None
    if results is not None:
        recording.roots, recording.rows = results.experimental_event_tree(), results.events()
    if kind != "cpu":
        recording.device_rows = device_rows(profiler)
    return recording


def _finish(kind: str) -> None:
    """Wait for the device, so that its last kernels are in the profile. A backend without `synchronize` shows fewer."""
    synchronize = getattr(device.module(kind), "synchronize", None)
    if kind != "cpu" and synchronize is not None:
        with contextlib.suppress(Exception):  # the error of the traced code is the one to show
            synchronize()


def device_rows(profiler: profile) -> dict[tuple[str, int], Mapping[str, Any]]:
    """Bytes, stream and device of the kernels and copies, by name and correlation. Only the exported trace has them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        try:
            profiler.export_chrome_trace(str(path))
            rows = json.loads(path.read_text(errors="replace"))["traceEvents"]
        except (RuntimeError, OSError, ValueError, KeyError):
            return {}
    found: dict[tuple[str, int], Mapping[str, Any]] = {}
    for row in rows:
        if row.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset") and "correlation" in row.get("args", {}):
            found[(row["name"], row["args"]["correlation"])] = {**row["args"], "category": row["cat"]}
    return found
