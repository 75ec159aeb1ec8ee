# Shared with openreg-gen: yours to edit; `compile` in the spec changes what is rendered.
"""Which operators are fused, and the text of the kernels: Inductor's for the CPU, made ready to be launched."""

from typing import Any

from torch._inductor import config
from torch._inductor.codegen.cpp import CppScheduling
from torch._inductor.cpp_builder import get_cpp_compiler
from torch._inductor.exc import InvalidCxxCompiler
from torch._inductor.utils import IndentedBuffer, Placeholder, get_fused_kernel_name
from torch._inductor.virtualized import V

from .. import backend
from .source import launchable


class Scheduling(CppScheduling):
    """Inductor's C++ kernels, each a function that is launched on a stream."""

    def define_kernel(self, src_code: str, nodes: Any, kernel_args: Any = None) -> str:
        wrapper = V.graph.wrapper_code
        if src_code in wrapper.src_to_kernel:
            return wrapper.src_to_kernel[src_code]
        fused = get_fused_kernel_name(nodes, config.cpp.descriptive_names) if config.cpp.descriptive_names else "fused"
        name = "_".join(("openreg", fused, wrapper.next_kernel_suffix()))
        wrapper.src_to_kernel[src_code] = name
        for placeholder in (Placeholder.KERNEL_NAME, Placeholder.DESCRIPTIVE_NAME):
            src_code = src_code.replace(str(placeholder), name)
        src_code = src_code.replace("#pragma CMT", "//")
        arguments = self.kernel_group.args if kernel_args is None else kernel_args
        types = list(arguments.cpp_argdefs()[2])
        text = IndentedBuffer()
        text.writeline(f"openreg_compile.kernel(async_compile, {name!r}, {types!r}, r'''")
        text.splice(launchable(src_code, name, types), strip=True)
        text.writeline("''')")
        wrapper.define_kernel(name, text.getvalue(), gpu=False)
        return name


def scheduling_for(scheduler: Any) -> Scheduling:
    """Inductor's entry. `scheduler` is None if it only asks what is supported."""
    if scheduler is not None:
        _check()
    return Scheduling(scheduler)


def language() -> str:
    """The name under which Inductor sees the language of kernels: "cpp" if it prints them itself, else a name that it does not know."""
    return "cpp" if issubclass(Scheduling, CppScheduling) else "openreg"


def _check() -> None:
    other_way = "torch.compile(model, backend='openreg') runs the device's own operators instead"
    if not backend.get_device_properties().host_accessible:
        what = "functions launched on openreg do not reach its memory"
        raise NotImplementedError(f"{what}, so Inductor's C++ kernels can't run there: {other_way}")
    try:
        get_cpp_compiler()
    except InvalidCxxCompiler as error:
        what = "torch.compile makes C++ kernels for openreg, and no C++ compiler was found"
        how = "install g++ or clang++, or name one in the environment variable CXX"
        raise RuntimeError(f"{what}: {how}; {other_way}") from error
