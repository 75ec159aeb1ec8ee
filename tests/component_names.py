"""Names that only one component of a tree has: what is defined, or called so, in a tree with it and not in one without."""

import re
from collections import Counter

WORD = re.compile(r"[A-Za-z_]\w*")
PATH = re.compile(r"[\w./-]+")
# What defines a name, at the beginning of a line.
CPP = (
    re.compile(r" *(?:class|struct|enum class|enum|union|using|#define) +(?:[A-Z0-9_]+ +|\[\[\w+\]\] +)?(\w+)(?! *;)"),
    re.compile(r" *(?!return|else|if|for|while|switch|case)[A-Za-z_][\w:<>,&*~ ]*[ &*](?:\w+::)?(\w+)\([^;]*\{"),
    re.compile(r".*\b(k[A-Z]\w+) *(?:=|\{)"),
)
HEADER = (re.compile(r" *(?!return|else|throw)[A-Za-z_][\w:<>,&*~ ]*[ &*](\w+)\([^;]*\)[^;(]*;$"),)
PYTHON = (re.compile(r" *(?:async )?(?:def|class) (\w+)"), re.compile(r"([A-Z_]+) = "))
CMAKE = (re.compile(r" *(?:option|set|add_\w+)\((\w+)"),)
# Bindings of _C and variables of the environment are texts.
LITERAL = re.compile(r'"(_\w+|[A-Z]+_[A-Z_]+)"')
# Names that PyTorch or Python have, too, and local variables: code that has them need not mean the component's.
COMMON = """
    _enable_peer_access _foreach_add _index_put_impl_ _softmax_backward_data
    _upsample_bicubic2d_aa _upsample_bilinear2d_aa AcceleratorError ATen/TensorOperators.h begin_allocate_to_pool
    CachingAllocator channels_last check_dtypes CMAKE_CXX_STANDARD csrc/profiler device_free device_index
    DeviceStats elapsed_time empty_strided emptyCache entry_points end_allocate_to_pool exec_module expandable_segments find_spec
    free_before garbage_collection_threshold get_device_capability graphsafe_get_state graphsafe_set_state has_value in_place
    in_use is_created is_pinned is_simple_data_ptr is_small
    kBool kCPU kHalf kNone LD_PRELOAD make_tensor max_split_size memory_fraction memoryProfilingEnabled MempoolId_t
    MYBACKEND_CHECK_DEVICE mybackendLaunchKernel mybackendMemcpyAsync MybackendStreamGuard on_cpu philox_state
    PYTORCH_ALLOC_CONF pool_id pytest_configure raw_deleter release_pool reset_accumulated reset_accumulated_stats reset_peak
    reset_peak_stats sample_inputs setUpClass stream_id stream_is_capturing test_support TORCH_CHECK two_devices type_of use_count
    USE_DISTRIBUTED VIRTUAL_ENV get_raw_stream value_or
"""
# A binding as Python names it: `_C.NAME`, but for PyTorch's own torch._C.
BINDING = re.compile(r"(?<![\w.])(?:torch_\w+\.)?_C\.(\w+)")
# What a component attaches to is always there and names it: interfaces, also those by which PyTorch gets an error that names the
# component, and tests that ask whether it is there. Host code that runs on copies names host_alias, by which it could do without.
SEAMS = """
    host_alias
    ATen/core/CachingHostAllocator.h ATen/core/GraphImplInterface.h c10/core/Event.h Event.h HostAllocator _sparse_compressed_tensor_unsafe
    _record_memory_history ExpandableSegment ExpandableSegments memory_snapshot mybackendMemAddressFree
    mybackendMemAddressReserve mybackendMemCreate mybackendMemGetAllocationGranularity mybackendMemMap mybackendMemRelease
    mybackendMemUnmap PoolAllocator PrivatePools
"""
ELSEWHERE = frozenset((COMMON + SEAMS).split())

# Headers and modules of PyTorch; those of single operators belong to nobody.
PYTORCHS = re.compile(
    r"^#include <((?:ATen(?!/ops/)|c10|torch)/[^>]+)>|^ *(?:from|import) (torch\.[\w.]+)", re.MULTILINE
)


def unbound(texts):
    """Bindings that a tree's Python names and no C++ of its package makes, with their files."""
    package = {path: text for path, text in texts.items() if path.startswith("torch_")}
    made = set()
    for path, text in package.items():
        if path.endswith((".cpp", ".c")):
            made |= set(re.findall(r'"(\w+)"', text))
    used = {(word, path) for path, text in texts.items() if path.endswith(".py") for word in BINDING.findall(text)}
    return sorted((word, path) for word, path in used if word not in made)


def is_distinct(word):
    """Of more than one word: others occur anywhere, as do those that Python or PyTorch calls, `__torch_dispatch__`."""
    return not word.startswith("__") and re.search(r"[A-Za-z]_[A-Za-z]|[a-z][A-Z]", word) is not None


def defined(texts):
    out = set()
    for path, text in texts.items():
        kinds = ()
        if path.endswith((".h", ".cpp", ".c")):
            kinds = CPP + (HEADER if path.endswith(".h") else ())
        elif path.endswith(".py"):
            kinds = PYTHON
        elif path.endswith(("CMakeLists.txt", ".cmake")):
            kinds = CMAKE
        for line in text.splitlines() if kinds else ():
            out.update(found[1] for found in (kind.match(line) for kind in kinds) if found)
            out.update(LITERAL.findall(line))
    return {word for word in out if is_distinct(word)}


def folders(paths):
    return {path[:end] for path in paths for end in range(len(path)) if path[end] == "/"}


def called(own, rest):
    """How other files mention own files: by path, as an include, as a module, by a name that no other file has."""
    kept, own_folders = {path.split("/")[-1] for path in rest}, folders(own) - folders(rest)
    out = set(own) | {path for path in own_folders if "/" in path}
    out.update(name for name in (path.split("/")[-1] for path in own) if name not in kept)
    out.update(path.removeprefix("csrc/") for path in own)
    modules = [path.removesuffix(".py") for path in own if path.endswith(".py")]
    out.update(path.replace("/", ".") for path in [*modules, *(folder for folder in own_folders if "/" in folder)])
    stems = {path.split("/")[-1].split(".")[0] for path in own} - {name.split(".")[0] for name in kept}
    out.update(name for name in stems if is_distinct(name))
    return out


def mentioned(texts):
    """Words, and paths and dotted names with each of their parts."""
    words, out = set(), set()
    for text in texts.values():
        words.update(PATH.findall(text))
        out.update(WORD.findall(text))
    for word in words:
        for separator in "/.":
            parts = word.strip("./-").split(separator)
            out.update(separator.join(parts[i:j]) for i in range(len(parts)) for j in range(i + 1, len(parts) + 1))
    return out


def own_names(full, without):
    """Names that no tree without the component may have, by component. Trees are texts by path."""
    of_full = defined(full)
    return {
        name: (of_full - defined(rest) | called(full.keys() - rest.keys(), rest.keys())) - ELSEWHERE
        for name, rest in without.items()
    }


def left_behind(names, texts):
    """A name that a tree defines itself is its own, whatever else is called so."""
    files = {name for path in texts for name in (path, path.removeprefix("csrc/"), path.split("/")[-1])}
    return sorted((names & mentioned(texts)) - defined(texts) - files)


def left_alone(full, without):
    """Names that a tree without a component defines although nothing in it uses them any more."""
    before, now = (Counter(word for text in texts.values() for word in WORD.findall(text)) for texts in (full, without))
    alone = {word for word in defined(without) if now[word] == 1 and before[word] > 1}
    return sorted(word for word in alone - ELSEWHERE if not word.startswith("test_"))


def pytorchs(texts):
    return {name for text in texts.values() for names in PYTORCHS.findall(text) for name in names if name} - ELSEWHERE
