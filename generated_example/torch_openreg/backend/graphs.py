# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `graphs` in the spec changes it, then `openreg-gen generate`.
"""Graphs: the work of a stream is captured once and then replayed with one call. The same as in torch.cuda.

torch.accelerator.Graph makes the same graphs; torch._C._acceleratorGraph, below both, is PyTorch's name for OpenRegGraph of
csrc/graphs.
"""

import gc
from collections.abc import Callable
from typing import Any, TypeAlias

import torch
from torch.autograd.function import once_differentiable
from torch.utils import _pytree as pytree

from .. import _C
from ._lazy import _lazy_init
from .device import current_device, synchronize
from .memory import empty_cache, empty_host_cache
from .streams import Stream, StreamContext

_PoolHandle: TypeAlias = tuple[int, int]
_Callable: TypeAlias = Callable[..., Any]  # a torch.nn.Module, too


def is_current_stream_capturing() -> bool:
    """Whether the calling thread's current stream is being captured into a graph."""
    return _C._is_current_stream_capturing()


def graph_pool_handle() -> _PoolHandle:
    """A memory pool for several graphs that never replay at the same time."""
    return _C._graph_pool_handle()


class Graph(torch._C._acceleratorGraph):
    """Work of a stream that can be replayed. graph() captures it.

    Args:
        keep_graph: accepted, as torch.cuda.CUDAGraph has it; what was captured can be replayed at once.
    """

    def __new__(cls, keep_graph: bool = False) -> "Graph":
        _lazy_init()
        return super().__new__(cls, keep_graph)

    def __init__(self, keep_graph: bool = False) -> None:
        super().__init__(keep_graph)

    def capture_begin(self, pool: _PoolHandle | None = None, capture_error_mode: str = "global") -> None:
        """From now on, work of the current stream is recorded and not run; see graph()."""
        super().capture_begin(pool=pool, capture_error_mode=capture_error_mode)


class graph:  # noqa: N801 - torch.cuda's name
    """Context manager that captures the work of its block into a graph. The work runs only in replays.

    Run the block once or more before, on a side stream: what it allocates, compiles or looks up for the first time is better not
    a part of a graph. The tensors of the block stay where they are as long as the graph lives, and so must those that it reads:
    give them new values by copy_().

    Args:
        graph: a Graph or torch.accelerator.Graph.
        pool: graph_pool_handle(), or pool() of another graph which never replays at the same time.
        stream: the one to capture; None takes one that is kept for captures.
        capture_error_mode: who may wait for the device meanwhile. "global": nobody; "thread_local": other threads;
            "relaxed": all, as long as it is not for the stream itself.

    Raises:
        torch.AcceleratorError: the block waits for the device (item(), synchronize(), copies to pageable memory), or leaves work
            of other streams that the captured one has not waited for.
    """

    _streams: dict[int, Stream] = {}

    def __init__(
        self,
        graph: torch._C._acceleratorGraph,
        pool: _PoolHandle | None = None,
        stream: torch.Stream | None = None,
        capture_error_mode: str = "global",
    ) -> None:
        _lazy_init()
        if stream is None:
            device = current_device()
            stream = self._streams.setdefault(device, Stream(device))
        self._graph = graph
        self._pool = pool
        self._mode = capture_error_mode
        self._stream = StreamContext(stream)

    def __enter__(self) -> None:
        synchronize()
        if torch.compiler.config.force_cudagraph_gc:
            gc.collect()
        empty_cache()
        empty_host_cache()
        self._stream.__enter__()
        try:
            torch._C._acceleratorGraph.capture_begin(self._graph, pool=self._pool, capture_error_mode=self._mode)
        except BaseException:
            self._stream.__exit__()
            raise

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._graph.capture_end()
            else:  # what the block raised says more than that the capture failed
                self._graph.reset()
        finally:
            self._stream.__exit__()


class _Graphed:
    """One callable as two graphs, and the tensors that both read and write.

    These tensors are never shared with the caller, who may keep or change what it passes and gets: arguments are copied in, results
    and gradients are copied out. What forward saves for backward can't be copied. It is valid from a call to its backward, unless a
    graph that shares the memory runs between the two; then backward raises.
    """

    def __init__(self, function: _Callable, args: tuple[Any, ...]) -> None:
        samples, structure = pytree.tree_flatten(args)
        if not all(isinstance(value, torch.Tensor) for value in samples):
            raise TypeError("sample_args must consist of tensors")
        self.function = function
        self.inputs = tuple(value.detach().clone().requires_grad_(value.requires_grad) for value in samples)
        self.args = pytree.tree_unflatten(list(self.inputs), structure)
        self.parameters: tuple[torch.Tensor, ...] = ()
        self.later: tuple[_Graphed, ...] = ()  # graphs captured after its forward and before its backward
        self.saved_for: object = None  # the call whose saved tensors are in memory
        if isinstance(function, torch.nn.Module):
            if function._forward_pre_hooks or function._forward_hooks or function._backward_hooks:
                raise ValueError("a module is graphed without hooks; register them afterwards")
            if any(buffer.requires_grad for buffer in function.buffers()):
                raise ValueError("buffers of a graphed module must not require gradients")
            self.parameters = tuple(function.parameters())
        self.surface = self.inputs + self.parameters
        self.wanted = tuple(value.requires_grad for value in self.surface)
        self.forward, self.backward = Graph(), Graph()

    def _run(self) -> tuple[torch.Tensor, ...]:
        leaves, self.structure = pytree.tree_flatten(self.function(*self.args))
        return tuple(leaves)

    def _gradients(
        self,
        outputs: tuple[torch.Tensor, ...],
        gradients: tuple[torch.Tensor | None, ...],
        allow_unused: bool,
    ) -> tuple[torch.Tensor | None, ...]:
        """Of all that the callable reads; None where none is wanted."""
        given = [pair for pair in zip(outputs, gradients, strict=True) if pair[1] is not None]
        wanted = [value for value in self.surface if value.requires_grad]
        if not given or not wanted:
            return (None,) * len(self.surface)
        found = iter(
            torch.autograd.grad(
                [output for output, _ in given],
                wanted,
                [gradient for _, gradient in given],
                allow_unused=allow_unused,
            )
        )
        return tuple(next(found) if value.requires_grad else None for value in self.surface)

    @staticmethod
    def _gradients_like(outputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor | None, ...]:
        return tuple(torch.empty_like(output) if output.requires_grad else None for output in outputs)

    def warm_up(self, iterations: int, allow_unused: bool) -> None:
        for _ in range(iterations):
            outputs = self._run()
            self._gradients(outputs, self._gradients_like(outputs), allow_unused)

    def capture_forward(self, pool: _PoolHandle) -> None:
        versions = [value._version for value in self.inputs]
        with graph(self.forward, pool=pool):
            self.outputs = self._run()
        if versions != [value._version for value in self.inputs]:
            raise ValueError("a graphed callable must not write its arguments: it gets copies of them")

    def capture_backward(self, pool: _PoolHandle, allow_unused: bool) -> None:
        self.output_gradients = self._gradients_like(self.outputs)
        self.input_gradients: tuple[torch.Tensor | None, ...] = (None,) * len(self.surface)
        if any(gradient is not None for gradient in self.output_gradients):
            with graph(self.backward, pool=pool):
                self.input_gradients = self._gradients(self.outputs, self.output_gradients, allow_unused)
        self.outputs = tuple(output.detach() for output in self.outputs)

    def replay_forward(self, call: object, inputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        _update(self.inputs, inputs)
        self._overwrite(call)
        self.forward.replay()
        return tuple(output.clone() for output in self.outputs)

    def replay_backward(self, call: object, gradients: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor | None, ...]:
        if self.saved_for is not call:
            raise RuntimeError(
                "backward of a graphed callable can run once, and only before the callable, or one that was graphed before it in "
                "the same make_graphed_callables(), runs again: what this call saved for backward was overwritten"
            )
        _update(self.output_gradients, gradients)
        self._overwrite(None)
        self.backward.replay()
        return tuple(None if gradient is None else gradient.clone() for gradient in self.input_gradients)

    def _overwrite(self, call: object) -> None:
        """Note what a replay leaves in shared memory: of itself what `call` saves, of later callables nothing."""
        self.saved_for = call
        for part in self.later:
            part.saved_for = None

    def check(self, inputs: list[Any]) -> None:
        """Raise unless the graphs compute what the callable would."""
        shown, given = ([_metadata(value) for value in values] for values in (self.inputs, inputs))
        if shown != given:
            raise ValueError(f"graphed for arguments {shown}, called with {given}")
        if torch.is_grad_enabled():
            for value, wanted in zip((*inputs, *self.parameters), self.wanted, strict=True):
                if value.requires_grad and not wanted:
                    raise ValueError("an argument or parameter requires a gradient, but did not when graphed")

    def callable(self) -> _Callable:
        """The replacement of the callable; a module keeps its identity and gets another forward()."""
        graphed = self

        class Replay(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, *surface: torch.Tensor) -> tuple[torch.Tensor, ...]:
                ctx.call = object()
                outputs = graphed.replay_forward(ctx.call, surface[: len(graphed.inputs)])
                pairs = zip(outputs, graphed.output_gradients, strict=True)
                ctx.mark_non_differentiable(*(output for output, gradient in pairs if gradient is None))
                return outputs

            @staticmethod
            @once_differentiable
            def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
                return graphed.replay_backward(ctx.call, gradients)

        def replay(*args: Any) -> Any:
            inputs = pytree.tree_leaves(args)
            graphed.check(inputs)
            outputs = Replay.apply(*inputs, *graphed.parameters)
            return pytree.tree_unflatten(list(outputs), graphed.structure)

        if not isinstance(self.function, torch.nn.Module):
            return replay
        module, eager, training = self.function, self.function.forward, self.function.training

        def forward(*args: Any, **kwargs: Any) -> Any:
            return replay(*args, **kwargs) if module.training == training else eager(*args, **kwargs)

        module.forward = forward
        return module


def _update(static: tuple[torch.Tensor | None, ...], values: tuple[torch.Tensor, ...]) -> None:
    for target, value in zip(static, values, strict=True):
        if target is not None:
            target.copy_(value)


def _metadata(value: Any) -> Any:
    return (value.dtype, tuple(value.shape), value.device) if isinstance(value, torch.Tensor) else value


def make_graphed_callables(
    callables: _Callable | tuple[_Callable, ...],
    sample_args: tuple[Any, ...],
    num_warmup_iters: int = 3,
    allow_unused_input: bool = False,
    pool: _PoolHandle | None = None,
) -> _Callable | tuple[_Callable, ...]:
    """Functions or modules whose forward and backward are each one graph, for use in ordinary training code.

    Modules are changed in place, and run as before where they are not in the mode (training or not) that they were captured in.
    Results and gradients are the caller's to keep and to change. A call's backward can run once, before the next call; otherwise it
    raises, as it does for gradients of gradients.

    Args:
        callables: one, or a tuple of those that run one after the other, in that order, and share memory.
        sample_args: the arguments of the one, or a tuple of such tuples: tensors as later calls have them, in sizes, dtypes
            and whether they require gradients.
        num_warmup_iters: how often each is run before it is captured.
        allow_unused_input: whether inputs may have no influence on the result.
        pool: as for graph(). Graphs that share it must not run between a call and its backward.
    """
    if torch.is_autocast_enabled("openreg") and torch.is_autocast_cache_enabled():
        raise RuntimeError("make_graphed_callables() under autocast needs autocast(..., cache_enabled=False)")
    single = not isinstance(callables, tuple)
    functions = (callables,) if single else callables
    parts = [_Graphed(*each) for each in zip(functions, (sample_args,) if single else sample_args, strict=True)]
    for i, part in enumerate(parts):
        part.later = tuple(parts[i + 1 :])
    pool = graph_pool_handle() if pool is None else pool
    synchronize()
    with StreamContext(Stream()):
        for part in parts:
            part.warm_up(num_warmup_iters, allow_unused_input)
    synchronize()
    # In the order in which they will run, as each finds memory as the one before left it.
    for part in parts:
        part.capture_forward(pool)
    for part in reversed(parts):
        part.capture_backward(pool, allow_unused_input)
    graphed = tuple(part.callable() for part in parts)
    return graphed[0] if single else graphed
