"""The mode that sees each operator, and puts it in order with what the hooks report."""

import threading
from collections import deque
from collections.abc import Callable
from typing import Any

import torch
from torch._subclasses import FakeTensor
from torch._subclasses.functional_tensor import FunctionalTensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from . import accesses, stacks
from .accesses import Rule, Use
from .clocks import HOST, Clocks, Stream
from .findings import Kind, Race, RaceError, Races
from .hooks import Listener, Streams, module_of
from .memory import Access, Memory
from .stacks import Stack

# Methods that read a tensor of the CPU without calling an operator.
_READERS = frozenset((torch.Tensor.numpy, torch.Tensor.tolist, torch.Tensor.__array__))
# What PyTorch traces a graph with: no memory.
_TRACED = (FakeTensor, FunctionalTensor)


def _no_report(race: Race) -> None:
    pass


class Sanitizer(TorchDispatchMode):
    """Find races in a block: `with Sanitizer("mybackend") as races: ...`.

    `kind` is the device's type. `raise_on_first` raises RaceError at the second operator of the first race; otherwise `report` gets
    each race when it is found, and `races.races` keeps at most `limit` of them. `frames` is how much of a stack their text shows.

    Seen are operators that PyTorch dispatches: neither kernels that torch.compile made nor replays of graphs.
    """

    supports_higher_order_operators = True

    def __init__(
        self,
        kind: str,
        *,
        raise_on_first: bool = False,
        limit: int = 20,
        frames: int = 5,
        report: Callable[[Race], None] = _no_report,
    ) -> None:
        super().__init__()
        self._kind, self._raise_on_first, self._frames, self._report = kind, raise_on_first, frames, report
        module = module_of(kind)
        self._lock = threading.Lock()
        self._clocks, self._streams = Clocks(), Streams()
        self._memory = Memory(bool(getattr(module, "FREE_WAITS", False)))
        self._known: set[tuple[Any, ...]] = set()
        self._async: set[int] = set()  # addresses of the CPU's storages that streams copy
        # A hook may run anywhere, also where the garbage collector frees a tensor in the middle of this code. So hooks only queue.
        self._queue: deque[tuple[Callable[..., None], tuple[Any, ...]]] = deque()
        self._listener = Listener(module, self._callbacks())
        self._readers = _Readers(self)
        self.result = Races(limit)

    def __enter__(self) -> Races:
        self._listener.open()
        self._readers.__enter__()
        super().__enter__()
        return self.result

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        self._readers.__exit__(*error)
        self._listener.close()

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        """Compiled code runs under this mode: it is ordered as ever, but what its fused kernels use is not seen."""
        return True

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if not isinstance(func, torch._ops.OpOverload) or any(issubclass(each, _TRACED) for each in types):
            return func(*args, **kwargs)
        if any(not _is_plain(each) for each in types):
            return NotImplemented  # its own operators come here afterwards
        if func is torch.ops.aten.record_stream.default:
            self._record_stream(args[0], args[1])
        rule = accesses.rule(func)
        if rule is None:
            return func(*args, **kwargs)
        uses = list(accesses.arguments(rule, args, kwargs))
        call = _Call(self, str(func), rule, bool(kwargs.get("non_blocking", _third(func, args))))
        call.begin(uses)
        result = func(*args, **kwargs)
        call.end(uses, list(accesses.results(rule, result)))
        return result

    # What follows is called by _Call, with the lock held.

    def drain(self) -> None:
        while self._queue:
            action, arguments = self._queue.popleft()
            action(*arguments)

    def use(self, use: Use, op: str, stream: Stream, tick: int, stack: Stack) -> None:
        """A stream uses a tensor's memory."""
        found = accesses.storage_of(use.tensor)
        if found is None:
            return
        storage, start = found
        block = self._memory.block_of(storage, start)
        where = accesses.geometry(use.tensor, start)
        access = Access(stream, tick, use.write, op, use.argument, accesses.described(use.tensor), where, stack)
        kind = Kind.HOST if stream == HOST else Kind.ORDER
        races = [(kind, block, old) for old in block.accesses if self._collide(old, access)]
        if stream != HOST:
            remains = self._memory.remains(where.start, where.end)
            races += [(Kind.REUSE, freed, old) for freed, old in remains if self._collide(old, access)]
            block.add(access)
            if use.tensor.is_cpu:
                self._async.add(start)
        for kind, of, old in races:
            self._found(Race(self._kind, kind, old, access, of, self._frames))

    def use_on_host(self, uses: list[Use], op: str) -> None:
        """The CPU uses tensors now."""
        for use in uses:
            if self._async and use.tensor.is_cpu:
                found = accesses.storage_of(use.tensor)
                if found is not None and found[1] in self._async:
                    self.use(use, op, HOST, 0, stacks.take())
                    if not self._memory.block_of(*found).accesses:  # another storage has the address now
                        self._async.discard(found[1])

    def _collide(self, old: Access, new: Access) -> bool:
        return (
            (old.write or new.write)
            and not self._clocks.ordered(old.stream, old.tick, new.stream)
            and old.overlaps(new)
        )

    def _found(self, race: Race) -> None:
        self.result.times += 1
        if race.key in self._known:
            return
        self._known.add(race.key)
        self.result.found += 1
        if len(self.result.races) < self.result.limit:
            self.result.races.append(race)
            self._report(race)
        if self._raise_on_first:
            raise RaceError(race)

    # Hooks.

    def _callbacks(self) -> dict[str, Callable[..., None]]:
        clocks, numbered = self._clocks, self._streams.numbered

        def queued(action: Callable[..., None]) -> Callable[..., None]:
            return lambda *arguments: self._queue.append((action, arguments))

        def allocated(start: int) -> None:
            stream, _ = self._streams.current(torch.accelerator.current_device_index())
            self._queue.append((self._memory.allocate, (start, stream, stacks.take())))

        def device_waited() -> None:
            self._queue.append((clocks.synchronize_device, (torch.accelerator.current_device_index(),)))

        return {
            "EventCreation": queued(clocks.create_event),
            "EventDeletion": queued(clocks.delete_event),
            "EventRecord": queued(lambda event, stream: self._event_recorded(event, numbered(stream))),
            "EventWait": queued(lambda event, stream: clocks.wait(event, numbered(stream))),
            "EventSynchronization": queued(clocks.synchronize_event),
            "StreamSynchronization": queued(lambda stream: clocks.synchronize_stream(numbered(stream))),
            "DeviceSynchronization": device_waited,
            "MemoryAllocation": allocated,
            "MemoryDeallocation": queued(self._memory.free),
        }

    def _event_recorded(self, event: int, stream: Stream) -> None:
        block = None if self._clocks.knows_event(event) else self._memory.find(event)
        if block is None:
            self._clocks.record(event, stream)
        else:
            block.recorded.add(stream)  # record_stream()

    def _record_stream(self, tensor: torch.Tensor, stream: torch.Stream) -> None:
        found = accesses.storage_of(tensor)
        if found is not None:
            key = Stream(stream.device_index, stream.stream_id)
            with self._lock:
                self.drain()
                self._memory.block_of(*found).recorded.add(key)


class _Call:
    """One call of an operator. Its accesses get their numbers before it runs, so that a wait inside of it counts."""

    def __init__(self, sanitizer: Sanitizer, op: str, rule: Rule, non_blocking: bool) -> None:
        self._sanitizer, self._op = sanitizer, op
        self._copies_later = rule.copies and non_blocking
        self._ticks: dict[int, tuple[Stream, int] | None] = {}  # by device
        self._stack: Stack | None = None

    def begin(self, uses: list[Use]) -> None:
        with self._sanitizer._lock:
            self._sanitizer.drain()
            self._sanitizer.result.calls += 1
            self._on_device(uses)
            if not self._ticks:
                self._sanitizer.use_on_host(uses, self._op)
            elif self._copies_later:
                self._on_host(uses)

    def end(self, uses: list[Use], results: list[Use]) -> None:
        """A result in the memory of an argument, a view say, was not written."""
        if not results:
            return
        with self._sanitizer._lock:
            self._sanitizer.drain()
            known = {found[1] for use in uses if (found := accesses.storage_of(use.tensor)) is not None}
            fresh = [use for use in results if (found := accesses.storage_of(use.tensor)) and found[1] not in known]
            self._on_device(fresh)
            if self._copies_later:
                self._on_host(fresh)

    def _on_device(self, uses: list[Use]) -> None:
        for use in uses:
            device = use.tensor.device
            if device.type == self._sanitizer._kind:
                self._use(use, device.index or 0)

    def _on_host(self, uses: list[Use]) -> None:
        """A copy that doesn't wait uses memory of the CPU later, in the device's stream."""
        for use in uses:
            if use.tensor.is_cpu:
                for index in self._ticks:
                    self._use(use, index)

    def _use(self, use: Use, index: int) -> None:
        if index not in self._ticks:
            key, stream = self._sanitizer._streams.current(index)
            capturing = getattr(stream, "is_capturing", None)
            if capturing is not None and capturing():
                self._ticks[index] = None  # it runs with each replay, and not now
            else:
                self._sanitizer.result.streams.add(key)
                self._ticks[index] = key, self._sanitizer._clocks.tick(key)
        at = self._ticks[index]
        if at is not None:
            if self._stack is None:
                self._stack = stacks.take()
            self._sanitizer.use(use, self._op, *at, self._stack)


class _Readers(TorchFunctionMode):
    """Sees methods that read a tensor of the CPU without an operator."""

    def __init__(self, sanitizer: Sanitizer) -> None:
        super().__init__()
        self._sanitizer = sanitizer

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func in _READERS and self._sanitizer._async:
            with self._sanitizer._lock:
                self._sanitizer.drain()
                self._sanitizer.use_on_host([Use("self", args[0], False)], f"Tensor.{func.__name__}")
        return func(*args, **(kwargs or {}))


def _is_plain(type_: type) -> bool:
    return getattr(type_, "__torch_dispatch__", None) in (None, torch._C._disabled_torch_dispatch_impl) or type_ in (
        torch.Tensor,
        torch.nn.Parameter,
    )


def _third(func: Any, args: tuple[Any, ...]) -> Any:
    """`non_blocking` of copy_ and _copy_from, where it is given by its place."""
    return len(args) > 2 and func._schema.arguments[2].name == "non_blocking" and args[2]
