# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `compile` in the spec changes it, then `openreg-gen generate`.
"""torch.compile on device "openreg".

PyTorch's Inductor fuses operators into C++ kernels, which are compiled by the machine's C++ compiler and launched on the
device's current stream. docs/compile.md of the tree shows one and says what each file here is for.

Importing this imports nothing of torch._dynamo or torch._inductor, each of which takes seconds: what they need to know
of the device is registered right after PyTorch has imported them.
"""

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any


def _register_interface() -> None:
    from .device_interface import register

    register()


def _register_contexts() -> None:
    from .contexts import register

    register()


def _register_functions() -> None:
    from .functions import register

    register()


def _register_operators() -> None:
    from torch._dynamo.backends.registry import register_backend

    def openreg(graph: Any, example_inputs: Any, **options: Any) -> Any:
        from .operators import compile_graph

        return compile_graph(graph, example_inputs, **options)

    register_backend(openreg, name="openreg")


def _register_with_inductor() -> None:
    from .backend import register

    register()


def _register_random_numbers() -> None:
    from .rng import register

    register()


# What is registered once a module of PyTorch is there.
_after: dict[str, Callable[[], None]] = {
    "torch._dynamo.device_interface": _register_interface,
    "torch._dynamo.backends.registry": _register_operators,
    "torch._dynamo.polyfills.loader": _register_functions,
    "torch._dynamo.variables.ctx_manager": _register_contexts,
    "torch._inductor.codegen.common": _register_with_inductor,
    "torch._inductor.lowering": _register_random_numbers,
}


class _AfterImport(importlib.abc.MetaPathFinder):
    """Finds the modules of `_after` as Python would, and does what is to be done once they are executed."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in _after:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            _after.pop(fullname, lambda: None)()

        spec.loader.exec_module = exec_module
        return spec


def register() -> None:
    """Register the device with Dynamo and Inductor, each when it is imported."""
    for name in list(_after):
        if name in sys.modules:
            _after.pop(name)()
    if _after and not any(isinstance(finder, _AfterImport) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AfterImport())
