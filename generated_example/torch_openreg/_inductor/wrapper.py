# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `compile` in the spec changes it, then `openreg-gen generate`.
"""The Python code around kernels: allocations on the right device, and launches."""

from typing import Any

from torch._inductor.codegen.wrapper import PythonWrapperCodegen, SubgraphPythonWrapperCodegen
from torch._inductor.stream_constants import DEFAULT_STREAM_IDX
from torch._inductor.stream_utils import get_stream_name
from torch._inductor.virtualized import V

from .scheduling import language
from .settings import scope


class _OnDevice:
    """The differences from the CPU's wrapper, for a graph or a part of one."""

    def make_allocation(
        self,
        name: str,
        device: Any,
        dtype: Any,
        shape: Any,
        stride: Any,
        allocation_shape: Any = None,
        is_pinned: bool = False,
    ) -> str:
        # Inductor's own expression leaves the index out for devices that it does not know, and so allocates on the current one.
        if device.type != "openreg":
            return super().make_allocation(name, device, dtype, shape, stride, allocation_shape, is_pinned)
        tuples = [self.codegen_python_shape_tuple(t) for t in (shape, stride, allocation_shape or shape)]
        index = device.index or 0
        made = f"{name} = empty_strided_openreg({tuples[2]}, {tuples[1]}, {dtype}, {index})"
        return made if tuples[0] == tuples[2] else f"{made}.as_strided({tuples[0]}, {tuples[1]})"

    def _generate_kernel_call_helper(
        self,
        kernel_name: str,
        call_args: Any,
        *,
        device: Any = None,
        **kwargs: Any,
    ) -> None:
        device = device or V.graph.get_current_device_or_throw()
        if device.type != "openreg":
            super()._generate_kernel_call_helper(kernel_name, call_args, device=device, **kwargs)
            return
        arguments = ", ".join(str(argument) for argument in call_args)
        self.writeline(f"{kernel_name}({device.index or 0}, {arguments})")

    def codegen_cuda_stream_enter(self, stream_idx: int) -> Any:
        # Inductor writes where streams come from beside the device guards of GPUs that it knows by name.
        name = get_stream_name(stream_idx)
        scheduler = V.graph.scheduler
        if stream_idx == DEFAULT_STREAM_IDX:
            index = scheduler.current_device.index if scheduler.current_device else None
            self.writeline(f"{name} = torch.openreg.current_stream({index})")
        else:
            number = scheduler.stream_idx_to_user_obj_idx[stream_idx]
            self.writeline(f"{name} = openreg_compile.stream({number})")
        return super().codegen_cuda_stream_enter(stream_idx)


class Wrapper(_OnDevice, PythonWrapperCodegen):
    """Of a whole graph."""

    def write_header(self) -> None:
        super().write_header()
        module = "openreg_compile"
        package = "torch_openreg._inductor"
        self.imports.splice(f"from {package} import launch as {module}", strip=True)
        self.header.splice(f"empty_strided_openreg = {module}.empty_strided", strip=True)

    def generate(self, is_inference: bool) -> Any:
        try:
            return super().generate(is_inference)
        finally:
            scope.close()


class _SubgraphWrapper(_OnDevice, SubgraphPythonWrapperCodegen):
    """Of a part: a branch of torch.cond, a partition."""


def create(is_subgraph: bool, subgraph_name: str | None, parent: Any, partition_signatures: Any = None) -> Any:
    """The wrapper of a graph, with which Inductor starts code generation."""
    if is_subgraph:
        return _SubgraphWrapper(subgraph_name, parent, partition_signatures)
    scope.open(language())
    return Wrapper()
