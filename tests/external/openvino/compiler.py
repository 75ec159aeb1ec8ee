"""The compiler of an example port: OpenVINO's CPU plug-in, in float32."""

import functools
from collections.abc import Callable, Sequence

import openvino as ov
import torch
from openvino.frontend import FrontEndManager
from openvino.frontend.pytorch.fx_decoder import TorchFXPythonDecoder
from openvino.frontend.pytorch.torchdynamo.op_support import OperatorSupport

from ._graph import Refusal, own_decompositions

SETTINGS = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": "2"}
TYPES = {
    torch.float32: ov.Type.f32,
    torch.int64: ov.Type.i64,
    torch.int32: ov.Type.i32,
    torch.bool: ov.Type.boolean,
}
# Distances of far points are infinite; the inverse of erf is rough near 1; a mask of no dimension is an error when it runs.
WRONG = {torch.ops.aten._cdist_forward.default, torch.ops.aten.erfinv.default, torch.ops.aten.masked_scatter.default}
BY_INDEX = {
    torch.ops.aten.gather.default,
    torch.ops.aten.scatter.src,
    torch.ops.aten.scatter.value,
    torch.ops.aten.scatter_add.default,
}


def version() -> str:
    return f"openvino {ov.__version__} {SETTINGS}"


@functools.cache
def _core() -> ov.Core:
    return ov.Core()


def decompositions() -> dict[object, Callable]:
    words = "native_layer_norm native_group_norm addmm addcdiv addcmul"
    more = [getattr(torch.ops.aten, word) for word in words.split()]
    return {
        **torch._decomp.core_aten_decompositions(),
        **torch._decomp.get_decompositions(more),
        **own_decompositions(),
    }


@functools.cache
def _operators() -> OperatorSupport:
    return OperatorSupport({})


def supports(node: torch.fx.Node) -> bool:
    values = torch.utils._pytree.tree_leaves(node.meta["val"])
    known = node.target == torch.ops.aten.scatter_add.default or _operators().is_node_supported({}, node)
    return known and all(value.dtype in TYPES for value in values)


def compile(graph: torch.fx.GraphModule, inputs: Sequence[torch.Tensor]) -> bytes:
    _check_dtypes(graph)
    for node in graph.graph.nodes:
        if node.op == "get_attr":
            raise Refusal("operator", f"a constant tensor, {node.target}")
        if node.target in WRONG:
            raise Refusal("operator", f"{node.target} is wrong for some sizes")
        if node.target in BY_INDEX:
            _check_indices(*node.args[:4])
        if node.target == torch.ops.aten.abs.default and not node.meta["val"].dtype.is_floating_point:
            raise Refusal("dtype", "abs of integers, which leaves constants as they are")
    _spell_out(graph)
    shapes = [ov.PartialShape(list(each.shape)) for each in inputs]
    decoder = TorchFXPythonDecoder(graph, input_shapes=shapes, input_types=[each.dtype for each in inputs])
    frontend = FrontEndManager().load_by_framework("pytorch")
    try:
        model = frontend.convert(frontend.load(decoder))
    except Exception as error:
        raise Refusal("operator", " ".join(str(error).split())[-300:]) from error
    names = [node.name for node in graph.graph.find_nodes(op="placeholder")]
    parameters = {name: each for each in model.get_parameters() for name in each.output(0).get_names()}
    if set(names) - set(parameters):
        raise Refusal("operator", f"inputs that OpenVINO leaves out: {sorted(set(names) - set(parameters))}")
    ordered = [parameters[name] for name in names]
    for parameter, meta in zip(ordered, inputs, strict=True):
        parameter.set_element_type(TYPES[meta.dtype])
        parameter.set_partial_shape(ov.PartialShape(list(meta.shape)))
    model = ov.Model(model.get_results(), ordered, "graph")
    model.validate_nodes_and_infer_types()
    _check_outputs(graph, model)
    exported = _core().compile_model(model, "CPU", SETTINGS).export_model()
    return exported if isinstance(exported, bytes) else exported.getvalue()


def _outputs(graph: torch.fx.GraphModule) -> list[torch.Tensor]:
    return [node.meta["val"] for node in graph.graph.find_nodes(op="output")[0].args[0]]


def _spell_out(graph: torch.fx.GraphModule) -> None:
    """To PyTorch no dimension means all of them, to OpenVINO none; and a variance without `correction` has 1, not 0."""
    for node in graph.graph.nodes:
        if node.target in (torch.ops.aten.var.correction, torch.ops.aten.var_mean.correction):
            given = node.kwargs.get("correction")
            node.kwargs = {**node.kwargs, "correction": 1 if given is None else given}
        if (
            node.op == "call_function"
            and node.target in (torch.ops.aten.mean.dim, torch.ops.aten.sum.dim_IntList)
            and not node.args[1]
        ):
            node.args = (node.args[0], list(range(node.args[0].meta["val"].dim())), *node.args[2:])


def _check_indices(tensor: torch.fx.Node, dim: int, index: torch.fx.Node, source: object = None) -> None:
    """OpenVINO wants indices for all of the other dimensions; PyTorch takes fewer."""
    size, given = tensor.meta["val"].shape, index.meta["val"].shape
    same = len(size) == len(given) > 0 and all(n == given[d] for d, n in enumerate(size) if d != dim % len(size))
    if not same or (isinstance(source, torch.fx.Node) and source.meta["val"].shape != given):
        raise Refusal("shape", f"indices of {list(given)} into {list(size)}")


def _check_dtypes(graph: torch.fx.GraphModule) -> None:
    """The plug-in computes float64 as float32 and int64 as int32: right for indices, wrong for numbers."""
    values = [node.meta["val"] for node in graph.graph.nodes if isinstance(node.meta.get("val"), torch.Tensor)]
    for value in values:
        if value.dtype not in TYPES:
            raise Refusal("dtype", str(value.dtype))
    given = [node.meta["val"].dtype for node in graph.graph.find_nodes(op="placeholder")]
    if given and all(dtype == torch.int64 for dtype in given):
        raise Refusal("dtype", "arithmetic of int64")


def _check_outputs(graph: torch.fx.GraphModule, model: ov.Model) -> None:
    for value, output in zip(_outputs(graph), model.outputs, strict=True):
        if output.partial_shape != ov.PartialShape(list(value.shape)):
            raise Refusal("shape", f"a result of {output.partial_shape}, not {list(value.shape)}")
        if output.element_type != TYPES[value.dtype]:
            raise Refusal("dtype", f"a result of {output.element_type}, not {value.dtype}")
