# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `compile` in the spec changes it, then `openreg-gen generate`.
"""For a device with its own language: a kernel as code for one element, printed in that language.

A work item computes one element of the result; a reduction is a loop in it. That fits any language that looks like C.
What a language adds: the names of its types, what its functions are called, and the text around the code of one element
(`WorkItemKernel.text`). tests/test_compile_language.py has a whole one.
"""

import itertools
import math
from typing import Any, NamedTuple

import sympy
import torch
from torch._inductor.codegen.common import CSEVariable, DeferredLine, OpOverrides
from torch._inductor.codegen.simd import SIMDKernel, SIMDScheduling
from torch._inductor.ops_handler import ReductionType, StoreMode
from torch._inductor.utils import IndentedBuffer, get_fused_kernel_name, get_kernel_metadata
from torch._inductor.virtualized import V
from torch.utils._ordered_set import OrderedSet
from torch.utils._sympy.printers import CppPrinter
from torch.utils._sympy.value_ranges import ValueRanges

from .reductions import Reduction, reduction_of


class Operators(OpOverrides):
    """Operators as expressions of C; functions by their names in C and OpenCL C."""

    @staticmethod
    def to_dtype(x: Any, dtype: torch.dtype, src_dtype: Any = None, use_compute_types: bool = True) -> str:
        return f"(({V.kernel.type_name(dtype)})({x}))"

    @staticmethod
    def constant(value: Any, dtype: torch.dtype) -> str:
        name = V.kernel.type_name(dtype)
        if value != value:
            return f"(({name})NAN)"
        if value in (float("inf"), float("-inf")):
            return f"(({name}){'-' if value < 0 else ''}INFINITY)"
        return f"(({name}){str(value).lower()})"

    @staticmethod
    def index_expr(expr: sympy.Expr, dtype: torch.dtype) -> Any:
        text = V.kernel.index_to_str(V.kernel.prepare_indexing(expr))
        return V.kernel.cse.generate(V.kernel.compute, f"(({V.kernel.type_name(dtype)})({text}))", dtype=dtype)

    value_expr = index_expr  # the same where types are exact

    @staticmethod
    def masked(mask: Any, body: Any, other: Any) -> str:
        """`body()` where the mask is true; elsewhere what it would load may not be there."""
        with V.kernel.mask_loads(mask, other) as whole:
            value = body()
        plain = isinstance(other, bool) or math.isfinite(other)
        literal = str(other).lower() if plain else Operators.constant(other, torch.float32)
        return f"({whole} ? {value} : {literal})"

    @staticmethod
    def mod(a: Any, b: Any) -> str:
        return f"fmod({a}, {b})" if _is_floating(a, b) else f"({a} % {b})"

    @staticmethod
    def remainder(a: Any, b: Any) -> str:
        rest = Operators.mod(a, b)
        return f"({rest} != 0 && ({rest} < 0) != ({b} < 0) ? {rest} + {b} : {rest})"

    @staticmethod
    def trunc_to_int(x: Any, dtype: torch.dtype) -> str:
        return f"(({V.kernel.type_name(dtype)})trunc({x}))"


def _is_floating(*values: Any) -> bool:
    return any(getattr(getattr(value, "dtype", None), "is_floating_point", False) for value in values)


def _function(called: str) -> Any:
    return staticmethod(lambda *arguments: f"{called}({', '.join(map(str, arguments))})")


_EXPRESSIONS = {
    "where": "({0} ? {1} : {2})",
    "maximum": "({0} != {0} || {0} > {1} ? {0} : {1})",
    "minimum": "({0} != {0} || {0} < {1} ? {0} : {1})",
    "truncdiv": "({0} / {1})",
    "floordiv": "({0} / {1} - ({0} % {1} != 0 && ({0} < 0) != ({1} < 0)))",
    "logical_and": "({0} && {1})",
    "logical_or": "({0} || {1})",
    "logical_not": "(!{0})",
    "reciprocal": "(1 / {0})",
    "rsqrt": "(1 / sqrt({0}))",
    "sigmoid": "(1 / (1 + exp(-{0})))",
    "relu": "({0} <= 0 ? 0 : {0})",
    "abs": "({0} < 0 ? -{0} : {0})",
}
for _name, _text in _EXPRESSIONS.items():
    setattr(Operators, _name, staticmethod(_text.format))

_FUNCTIONS = "acos asin atan atan2 ceil cos cosh erf erfc exp exp2 expm1 floor fmod hypot isinf isnan"
_FUNCTIONS += " log log10 log1p log2 pow sin sinh sqrt tan tanh trunc"
for _name in _FUNCTIONS.split():
    setattr(Operators, _name, _function(_name))
Operators.round = _function("rint")


class LoopReduction(NamedTuple):
    """A reduction of the loop to come: its accumulators' names, and its steps."""

    how: Reduction
    names: list[str]
    steps: list[str]


class WorkItemKernel(SIMDKernel):
    """A kernel whose code is that of one work item."""

    overrides = Operators
    suffix = ";"
    newvar_prefix = "auto "  # a language without it declares by type: override create_cse_var
    kexpr = CppPrinter().doprint
    sexpr = kexpr
    index_type = "long"
    types: dict[torch.dtype, str] = {}  # of the language; what is not there has no kernels
    computed = {torch.float16: torch.float32, torch.bfloat16: torch.float32}  # in which type, if in another

    def __init__(self, tiling: Any, **kwargs: Any) -> None:
        super().__init__(tiling, **kwargs)
        self._accumulators = itertools.count()
        self._reduced: list[Any] = []  # index variables of the loop to come, in order
        self._folds: list[LoopReduction] = []  # its reductions

    def text(self, name: str, parameters: list[str], body: IndentedBuffer, items: str) -> str:
        """The source of a kernel that runs `body` for `item` from 0 to `items`."""
        raise NotImplementedError

    def type_name(self, dtype: torch.dtype) -> str:
        """The name of a dtype's compute type."""
        return self.types[self.computed.get(dtype, dtype)]

    def dtype_to_str(self, dtype: torch.dtype) -> str:
        return self.types[dtype]

    def load(self, name: str, index: sympy.Expr) -> CSEVariable:
        dtype = V.graph.get_dtype(name)
        line = f"{self.args.input(name)}[{self.index_to_str(self.prepare_indexing(index))}]"
        if dtype in self.computed:
            dtype = self.computed[dtype]
            line = f"(({self.types[dtype]}){line})"
        # A value that this kernel has stored before is read after that.
        return self.cse.generate(*self._guarded(line), dtype=dtype)

    def _guarded(self, line: str) -> tuple[IndentedBuffer, str]:
        """Where a load goes, and what it is under a mask, which is computed before."""
        if self._load_mask is None:
            return self.loads, line
        return self.compute, f"({self._load_mask} ? {line} : 0)"

    def check_bounds(self, expr: sympy.Expr, size: sympy.Expr, lower: bool, upper: bool) -> None:
        """Indices are taken as they are: a language that can report one out of range overrides this."""

    def store(self, name: str, index: sympy.Expr, value: CSEVariable, mode: StoreMode = None) -> None:
        if mode is not None:
            raise NotImplementedError(f"a kernel of work items that stores with {mode}")
        self._store(self.compute if self.inside_reduction else self.stores, name, index, value)

    def store_reduction(self, name: str, index: sympy.Expr, value: CSEVariable) -> None:
        self._store(self.stores, name, index, value)

    def _store(self, into: IndentedBuffer, name: str, index: sympy.Expr, value: CSEVariable) -> None:
        place = self.index_to_str(self.prepare_indexing(index))
        kind = self.types[V.graph.get_dtype(name)]
        into.writeline(DeferredLine(name, f"{self.args.output(name)}[{place}] = ({kind})({value});"))

    def reduction(self, dtype: torch.dtype, src_dtype: torch.dtype, reduction_type: ReductionType, value: Any) -> Any:
        key = (src_dtype, reduction_type, value)
        if key not in self.cse.reduction_cache:
            self.cse.reduction_cache[key] = self._reduce(dtype, src_dtype, reduction_type, value)
        return self.cse.reduction_cache[key]

    def _reduce(self, dtype: torch.dtype, src_dtype: torch.dtype, how: str, value: Any) -> Any:
        reduction = reduction_of(how, dtype, src_dtype, self.type_name, self.index_type)
        found = []
        for kind, begin, its_dtype in reduction.accumulators:
            name = f"acc{next(self._accumulators)}"
            self.indexing_code.writeline(f"{kind} {name} = {begin};")
            found.append(self.create_cse_var(name, ValueRanges.unknown(), its_dtype))
        names = [str(variable) for variable in found]
        self._folds.append(LoopReduction(reduction, names, reduction.step(names, value, self._reduction_index())))
        result = found[reduction.result]
        return tuple(result) if isinstance(result, list) else result

    def _reduction_index(self) -> str:
        roots = [tree for tree in self.range_trees if tree.is_reduction]
        index = "0"
        for tree in roots:
            index = f"({index} * {self._count(tree)} + {tree.name})"
        return index

    def _count(self, tree: Any) -> str:
        return str(tree.numel) if isinstance(tree.numel, (int, sympy.Integer)) else f"{tree.prefix}numel"

    def _index(self, entry: Any) -> str:
        return f"{self.index_type} {entry.name} = {self.kexpr(self.rename_indexing(entry.expr))};"

    def codegen_iteration_ranges_entry(self, entry: Any) -> None:
        if entry.is_reduction:
            self._reduced.append(entry)
        else:
            self.indexing_code.writeline(self._index(entry))

    def codegen_body(self) -> None:
        """Adds what was computed since the last call: in a loop if it is over what is reduced."""
        if self.inside_reduction and (self.loads or self.compute):
            inner = IndentedBuffer()
            for entry in self._reduced:
                inner.writeline(self._index(entry))
            inner.splice(self.loads)
            inner.splice(self.compute)
            self.loop([tree for tree in self.range_trees if tree.is_reduction], inner)
            self._folds.clear()
            results = self.cse.reduction_cache.values()
            self.cse.invalidate(OrderedSet(v for r in results for v in (r if isinstance(r, tuple) else (r,))))
            for node in self.range_tree_nodes.values():
                if node.is_reduction:
                    node.cache_clear()
            self._reduced.clear()
        else:
            self.body.splice(self.loads)
            self.body.splice(self.compute)
        self.after_loop()
        for buffer in (self.loads, self.compute, self.stores):
            buffer.clear()

    def loop(self, trees: list[Any], inner: IndentedBuffer) -> None:
        """Runs `inner`, then the steps of what is reduced, over what is reduced."""
        for tree in trees:
            index, count = tree.name, self._count(tree)
            self.body.writeline(f"for ({self.index_type} {index} = 0; {index} < {count}; ++{index})")
        self.body.writeline("{")
        with self.body.indent():
            self.body.splice(inner)
            for fold in self._folds:
                self.body.writelines(fold.steps)
        self.body.writeline("}")

    def after_loop(self) -> None:
        """Stores once per element."""
        self.body.splice(self.stores)

    def _parameters(self) -> list[tuple[str, str, Any]]:
        """(declaration, argument, type) of each: outputs, inputs, sizes."""
        found: list[tuple[str, str, Any]] = []
        for outer, inner in self.args.output_buffers.items():
            if outer not in self.removed_buffers:
                dtype = V.graph.get_dtype(outer)
                found.append((f"{self.types[dtype]}* {inner}", outer, dtype))
        for outer, inner in self.args.input_buffers.items():
            dtype = V.graph.get_dtype(outer)
            found.append((f"const {self.types[dtype]}* {inner}", outer, dtype))
        for outer, inner in self.args.sizevars.items():
            found.append((f"const {self.index_type} {inner}", str(outer), int))
        for tree in self.range_trees:
            if not isinstance(tree.numel, (int, sympy.Integer)) and (self.inside_reduction or not tree.is_reduction):
                found.append((f"const {self.index_type} {tree.prefix}numel", self.index_to_python(tree.numel), int))
        return found

    @staticmethod
    def index_to_python(expr: sympy.Expr) -> str:
        return V.graph.wrapper_code.codegen_python_sizevar(expr)

    def codegen_kernel(self, name: str = "KERNEL") -> str:
        self.codegen_body()
        trees = [tree for tree in self.range_trees if not tree.is_reduction]
        body = IndentedBuffer()
        rest = "item"
        for tree in trees:
            body.writeline(f"const {self.index_type} {tree.name} = {rest} % {self._count(tree)};")
            rest = f"({rest} / {self._count(tree)})"
        body.splice(self.indexing_code)
        body.splice(self.body)
        items = " * ".join(self._count(tree) for tree in trees) or "1"
        return self.text(name, [declaration for declaration, _, _ in self._parameters()], body, items)

    def call_kernel(self, name: str, node: Any = None, deallocate_ws: bool = True) -> None:
        wrapper = V.graph.wrapper_code
        for size in self.args.sizevars:
            wrapper.ensure_size_computed(size)
        parameters = self._parameters()
        wrapper.generate_kernel_call(
            name,
            [argument for _, argument, _ in parameters],
            device=V.graph.get_current_device_or_throw(),
            triton=False,
            arg_types=[kind for _, _, kind in parameters],
        )


class WorkItemScheduling(SIMDScheduling):
    """Fuses operators into kernels of work items."""

    kernel_type = WorkItemKernel

    def definition(self, name: str, source: str, kernel: WorkItemKernel) -> str:
        """The expression in generated Python that makes the kernel."""
        raise NotImplementedError

    def define_kernel(self, src_code: str, node_schedule: Any, kernel: WorkItemKernel) -> str:
        wrapper = V.graph.wrapper_code
        if src_code in wrapper.src_to_kernel:
            return wrapper.src_to_kernel[src_code]
        name = f"openreg_{get_fused_kernel_name(node_schedule, 'original_aten')}_{wrapper.next_kernel_suffix()}"
        wrapper.src_to_kernel[src_code] = name
        origins, details = get_kernel_metadata(node_schedule, wrapper)
        text = self.definition(name, src_code.replace("KERNEL", name), kernel)
        wrapper.define_kernel(name, text, f"{origins}\n{details}", gpu=False)
        return name
