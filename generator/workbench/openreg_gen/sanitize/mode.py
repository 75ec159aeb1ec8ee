"""The sanitizer: looks at each operator before it runs, and at what the hooks report."""

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._subclasses import FakeTensor
from torch._subclasses.functional_tensor import FunctionalTensor
from torch.utils._python_dispatch import TorchDispatchMode, _pop_mode, _push_mode

from . import accesses, stacks
from .accesses import Use
from .calls import Call
from .clocks import HOST, Clocks, Stream
from .findings import Kind, Race, RaceError, Races
from .hooks import Listener, Streams, module_of
from .memory import Access, Block, Memory
from .readers import Readers
from .stacks import Stack
from .threads import Threads, forget_in_child
from .unseen import Unseen, Watch

# What PyTorch traces a graph with: no memory.
_TRACED = (FakeTensor, FunctionalTensor)


def _no_report(race: Race) -> None:
    pass


class Sanitizer:
    """Find races in a block: `with Sanitizer("mybackend") as races: ...`.

    `kind` is the device's type. `raise_on_first` raises RaceError at the second operator of the first race; otherwise `report` gets
    each race when it is found, and `races.races` keeps at most `limit` of them. `frames` is how much of a stack their text shows.

    Seen are operators that PyTorch dispatches, in this thread, in those that Python starts meanwhile, and in backward's;
    `races.unseen` says what was not.
    """

    def __init__(
        self,
        kind: str,
        *,
        raise_on_first: bool = False,
        limit: int = 20,
        frames: int = 5,
        report: Callable[[Race], None] = _no_report,
    ) -> None:
        self.kind, self._raise_on_first, self._frames, self._report = kind, raise_on_first, frames, report
        module = module_of(kind)
        self.lock = threading.RLock()
        self.streams = Streams()
        self._clocks = Clocks()
        self._memory = Memory(bool(getattr(module, "FREE_WAITS", False)))
        self._known: set[tuple[Any, ...]] = set()
        self._async: set[int] = set()  # addresses of the CPU's storages that streams copy
        # A hook may run anywhere, also where the garbage collector frees a tensor in the middle of this code. So hooks only queue.
        self._queue: deque[tuple[Callable[..., None], tuple[Any, ...]]] = deque()
        self._listener = Listener(module, self._callbacks())
        self._threads = Threads(self._inside, lambda: self.note(Unseen.PROCESSES))
        self._watch = Watch(torch.get_device_module(kind), self.note)
        self._readers = Readers(self.python_reaches)
        self._local = threading.local()
        self._heard: set[int] = set()  # threads that called hooks
        self._seen: set[int] = set()  # threads whose operators come here
        self._stack = contextlib.ExitStack()
        self._open = False
        self.result = Races(limit)

    def __enter__(self) -> Races:
        self._open = True
        forget_in_child(self)
        for each in (self._listener, self._threads, self._watch, self._readers):
            each.open()
            self._stack.callback(each.close)
        self._stack.enter_context(self._inside())
        return self.result

    def __exit__(self, *error: Any) -> None:
        self._stack.close()
        if self._open:
            self._open = False
            self._count_threads()

    def forget(self) -> None:
        """Called in a forked child, where the sanitizer does nothing."""
        self._open, self.lock = False, threading.RLock()
        self._listener.close()

    @contextlib.contextmanager
    def _inside(self) -> Iterator[None]:
        """Look at the operators of this thread."""
        if not self._open or getattr(self._local, "mode", None) is not None:
            yield
            return
        self._seen.add(threading.get_ident())
        self._local.mode = _Operators(self)
        first = threading.current_thread() is threading.main_thread()
        try:
            # Entering sets flags for the whole process, which may outlive a thread.
            with self._local.mode if first else _pushed(self._local.mode):
                yield
        finally:
            self._local.mode = None

    def dispatch(self, mode: "_Operators", func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not self._open or any(issubclass(each, _TRACED) for each in types):
            return func(*args, **kwargs)
        self._seen.add(threading.get_ident())
        if not isinstance(func, torch._ops.OpOverload):
            self.note(Unseen.HIGHER_ORDER)
            return func(*args, **kwargs)
        if any(not _is_plain(each) for each in types):
            return NotImplemented  # its own operators come here afterwards
        if accesses.is_composite(func) and not any(accesses.is_unseen(each) for each in args):
            with _pushed(mode):
                return func.decompose(*args, **kwargs)
        if func is torch.ops.aten.record_stream.default:
            self._record_stream(args[0], args[1])
        rule = accesses.rule(func)
        if rule is None or (rule.resizes and not accesses.grows(args)):
            return func(*args, **kwargs)
        uses = [Use("self", args[0], False)] if rule.resizes else list(accesses.arguments(rule, args, kwargs))
        call = Call(self, func, rule, args, kwargs)
        call.begin(uses)
        try:
            result = func(*args, **kwargs)
        except BaseException:
            call.cancel()
            raise
        call.end(uses, [Use("self", args[0], True)] if rule.resizes else list(accesses.results(rule, result)))
        return result

    def note(self, what: Unseen, count: int = 1) -> None:
        with self.lock:
            self.result.unseen[what] = self.result.unseen.get(what, 0) + count

    # What follows is called by Call, with the lock held.

    def drain(self) -> None:
        while self._queue:
            action, arguments = self._queue.popleft()
            action(*arguments)

    def tick(self, stream: Stream) -> tuple[Stream, int]:
        return stream, self._clocks.tick(stream)

    def use(
        self, use: Use, op: str, stream: Stream, tick: int, stack: Stack, *, keep: bool = True, fresh: bool = False
    ) -> tuple[Block, Access] | None:
        """A stream uses a tensor's memory. `keep`: also after the call. `fresh`: only if nobody has used it before."""
        found = accesses.storage_of(use.tensor)
        if found is None:
            if accesses.is_unseen(use.tensor):
                self.note(Unseen.LAYOUTS)
            return None
        storage, start = found
        block = self._memory.block_of(storage, start)
        if fresh and block.accesses:
            return None
        where = accesses.geometry(use.tensor, start)
        access = Access(stream, tick, use.write, op, use.argument, accesses.described(use.tensor), where, stack)
        kind = Kind.HOST if stream == HOST else Kind.ORDER
        races = [(kind, block, old) for old in block.touching(where) if self._collide(old, access)]
        if stream != HOST:
            remains = self._memory.remains(where.start, where.end)
            races += [(Kind.REUSE, freed, old) for freed, old in remains if self._collide(old, access)]
            if keep:
                forgotten = block.add(access, self._settled)
                if forgotten:
                    self.note(Unseen.FORGOTTEN, forgotten)
                if use.tensor.is_cpu:
                    self._async.add(start)
                    self._note_pointer(block)
        for kind, of, old in races:
            self._found(Race(self.kind, kind, old, access, of, self._frames))
        return block, access

    def use_on_host(self, uses: list[Use], op: str) -> None:
        """The CPU uses tensors now."""
        for use in uses:
            if self._async and use.tensor.is_cpu:
                found = accesses.storage_of(use.tensor)
                if found is not None and found[1] in self._async:
                    self.use(use, op, HOST, 0, stacks.take())
                    if all(map(self._settled, self._memory.block_of(*found).accesses)):
                        self._async.discard(found[1])

    def _settled(self, access: Access) -> bool:
        """Whether all that follows comes after it."""
        return self._clocks.ordered(access.stream, access.tick, HOST)

    def _note_pointer(self, block: Block) -> None:
        if block.pointed and not block.noted and not all(map(self._settled, block.accesses)):
            block.noted = True
            self.note(Unseen.POINTERS)

    def python_reaches(self, use: Use, op: str, reads: bool, points: bool) -> None:
        """Python reads a tensor of the CPU, or gets its address, without an operator."""
        with self.lock:
            if not self._open:
                return
            self.drain()
            if reads:
                self.use_on_host([use], op)
            found = accesses.storage_of(use.tensor) if points and accesses.is_pinned(use.tensor) else None
            if found is not None:
                block = self._memory.block_of(*found)
                block.pointed = True
                self._note_pointer(block)

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
        clocks, numbered = self._clocks, self.streams.numbered

        def queued(action: Callable[..., None]) -> Callable[..., None]:
            def queue(*arguments: Any) -> None:
                self._heard.add(threading.get_ident())
                self._queue.append((action, arguments))

            return queue

        def allocated(start: int) -> None:
            self._heard.add(threading.get_ident())
            stream, _ = self.streams.current(torch.accelerator.current_device_index())
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
            "StreamCreation": queued(lambda stream: None),
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
            with self.lock:
                self.drain()
                self._memory.block_of(*found).recorded.add(key)

    def _count_threads(self) -> None:
        """Those whose operators don't come here."""
        earlier = {id: name for id, name in self._threads.earlier.items() if id not in self._seen}
        if earlier:
            self.result.threads = sorted(earlier.values())
            self.note(Unseen.EARLIER_THREADS, len(earlier))
        others = self._heard - self._seen - set(earlier)
        if others:
            self.note(Unseen.OTHER_THREADS, len(others))


class _Operators(TorchDispatchMode):
    """Passes a thread's operators to the sanitizer."""

    supports_higher_order_operators = True

    def __init__(self, sanitizer: Sanitizer) -> None:
        super().__init__()
        self._sanitizer = sanitizer

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        """Compiled code runs under this mode: it is ordered as ever, but what its fused kernels use is not seen."""
        return True

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return self._sanitizer.dispatch(self, func, types, args, kwargs or {})


@contextlib.contextmanager
def _pushed(mode: TorchDispatchMode) -> Iterator[None]:
    _push_mode(mode)
    try:
        yield
    finally:
        _pop_mode()


def _is_plain(type_: type) -> bool:
    return getattr(type_, "__torch_dispatch__", None) in (None, torch._C._disabled_torch_dispatch_impl) or type_ in (
        torch.Tensor,
        torch.nn.Parameter,
    )
