"""Finds the DispatchStubs that PyTorch's kernels call, in the machine code of its library, for scripts/facts.py.

A kernel that the CPU and CUDA share reaches a device through stubs: objects of at::native whose addresses its code takes.
All of at::native that the kernel's code leads to is read: helpers, other operators' kernels that it calls as functions,
and what the compiler cut out of one (.cold, .part, .constprop). Calls of operators, at::_ops, end there: the dispatcher
takes them to what the backend has for that operator.

The library must be for x86-64 and have its table of symbols, as those in PyTorch's wheels do.
"""

import bisect
import mmap
import pathlib
import re
import struct
import sys

import capstone
import yaml
from elftools.elf.elffile import ELFFile

ROOT = pathlib.Path(__file__).resolve().parents[1]
OBJECT, FUNCTION = 1, 2  # types of symbols
GLOBAL_DATA, JUMP_SLOT, RELATIVE = 6, 7, 8  # relocations of x86-64 that make an address

# Operators that share a kernel and are left out nevertheless.
LEFT_OUT = {
    "_nested_.*": "nested tensors",
    "_to_sparse.*": "sparse tensors",
    ".*quantize.*": "quantized tensors, and what imitates them",
    "_?linalg_(?!_powsum|cross|vector_norm).*": "linear algebra: its stubs stand for a library such as LAPACK",
    "(cholesky|geqrf|lu_unpack|ormqr|triangular_solve|_compute_linear_combination).*": "linear algebra by other names",
    "flip": "its iterator has strides below 0, so that it can't be built again on tensors of the host",
    "_?segment_reduce.*": "its stubs return tensors, and first versions of stubs return nothing",
    # These call no stub, but an operator with a kernel for each kind of device: one detour for all of it is shorter.
    "_ctc_loss.*": "takes lengths to the host, and calls the overload that wants them there",
    "_embedding_bag_backward": "calls the dense or the sparse one",
    "_transformer_encoder_layer_fwd": "calls attention",
}
# scatter_impl() is given a stub that writes and one that reduces, and an argument says which of them it calls: read as code
# it has both, whoever calls it.
NOT_CALLED = {
    "scatter.reduce_out": "scatter_stub",
    "scatter.src_out": "scatter_reduce_stub",
    "scatter.value_out": "scatter_scalar_reduce_stub",
    "scatter.value_reduce_out": "scatter_fill_stub",
}


class Library:
    """A shared library: its symbols, and where its code leads to."""

    def __init__(self, path):
        with path.open("rb") as file:
            self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        elf = ELFFile(self.data)
        table = elf.get_section_by_name(".symtab")
        if elf.get_machine_arch() != "x64" or table is None:
            sys.exit(f"{path}: a library must be for x86-64, and not stripped, for its machine code to be read")
        self.segments = [
            (each["p_vaddr"], each["p_vaddr"] + each["p_filesz"], each["p_offset"])
            for each in elf.iter_segments("PT_LOAD")
        ]
        self.functions = []  # (first address, size, name), by address
        self.objects = {}  # address -> name
        for name, kind, address, size in self.symbols(elf, table):
            if kind == FUNCTION:
                self.functions.append((address, size, name))
            elif kind == OBJECT:
                self.objects[address] = name
        self.functions.sort()
        self.slots = self.read_slots(elf)
        self.plt = [
            range(each["sh_addr"], each["sh_addr"] + each["sh_size"])
            for each in elf.iter_sections()
            if each.name.startswith(".plt")
        ]
        self.machine = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
        self.machine.skipdata = True  # continues after bytes that are not instructions
        self.read = {}  # function -> where its code leads to

    def section(self, header):
        begin = header["sh_offset"]
        return self.data[begin : begin + header["sh_size"]]

    def symbols(self, elf, table):
        """(name, type, address, size) of what the library defines."""
        names = self.section(elf.get_section(table["sh_link"]))
        for name, info, _, section, address, size in struct.iter_unpack("<IBBHQQ", self.section(table)):
            if section:
                yield names[name : names.index(0, name)].decode(), info & 15, address, size

    def read_slots(self, elf):
        """Where the loader writes addresses (the GOT) -> the address, of what the library defines."""
        symbols = list(struct.iter_unpack("<IBBHQQ", self.section(elf.get_section_by_name(".dynsym"))))
        found = {}
        for name in (".rela.dyn", ".rela.plt"):
            section = elf.get_section_by_name(name)
            for slot, info, addend in struct.iter_unpack("<QQq", self.section(section) if section else b""):
                if info & 0xFFFFFFFF in (GLOBAL_DATA, JUMP_SLOT):
                    found[slot] = symbols[info >> 32][4]
                elif info & 0xFFFFFFFF == RELATIVE:
                    found[slot] = addend
        return found

    def function_at(self, address):
        """The function that has an address, not only at its beginning; None if none has."""
        at = bisect.bisect_right(self.functions, (address, float("inf"))) - 1
        begin, size, _ = self.functions[at] if at >= 0 else (0, 0, "")
        return self.functions[at] if begin <= address < begin + size else None

    def leads_to(self, begin, size):
        """Addresses that code calls, jumps to or takes, through the GOT as well."""
        low, offset = next((low, offset) for low, high, offset in self.segments if low <= begin < high)
        code = self.data[begin - low + offset : begin - low + offset + size]
        for address, length, operation, operands in self.machine.disasm_lite(code, begin):
            if relative := re.search(r"\[rip(?: ([+-]) (\w+))?\]", operands):
                target = address + length + int((relative[1] or "") + (relative[2] or "0"), 0)
                yield self.slots.get(target, target)
            elif operands.startswith("0x") and (operation == "call" or operation.startswith("j")):
                yield int(operands, 16)

    def references(self, function):
        """Addresses that a function's code leads to, through the PLT as well: each entry is a jump through the GOT."""
        if function not in self.read:
            found = set(self.leads_to(*function[:2]))
            for entry in [each for each in found if any(each in plt for plt in self.plt)]:
                found.update(self.leads_to(entry, 16))
            self.read[function] = found
        return self.read[function]

    def called(self, function):
        """The functions that a function's code leads to."""
        return {found for address in self.references(function) if (found := self.function_at(address))}


def reached(library, function, stubs):
    """Names of the stubs (address -> name) that a function's code takes, and at::native's that it leads to."""
    found, seen, todo = set(), {function}, [function]
    while todo:
        function = todo.pop()
        found |= {stubs[address] for address in library.references(function) if address in stubs}
        more = {each for each in library.called(function) if re.match(r"_ZZ*NK?2at6native", each[2])} - seen
        seen |= more
        todo += more
    return found


def minimal_operators():
    """Those for which each tree has kernels of its own."""
    text = (ROOT / "generator/spec/minimal_ops.cpp").read_text()
    return set("".join(re.findall(r'"([^"]+)"', re.search(r"kMinimal =(.*?);", text, re.S)[1])).split())


def shared_kernels(declarations):
    """Of native_functions.yaml: (operator, kernel, what registers it), where the CPU and CUDA have the same kernel."""
    minimal = minimal_operators()
    for declared in declarations:
        op = declared["func"].partition("(")[0]
        kernels = {key: name for keys, name in declared.get("dispatch", {}).items() for key in re.split(", *", keys)}
        arguments, _, returned = declared["func"].rpartition(" -> ")
        # Views, and what draws random numbers: generator/strategy/in_tree.cpp refuses those.
        refused = re.search(r"\(\w\)", returned) or "Generator?" in arguments
        left_out = refused or op in minimal or any(re.fullmatch(pattern, op) for pattern in LEFT_OUT)
        if "CPU" not in kernels or kernels["CPU"] != kernels.get("CUDA") or left_out:
            continue
        base, _, overload = op.partition(".")
        out = "_out" if re.search(r"\*,.*\(\w!\)", arguments) else ""
        if declared.get("structured"):
            yield op, "structured_" + kernels["CPU"], None
        else:
            yield op, kernels["CPU"], f"wrapper_CPU_{overload}_{base}{out}"


def kernel_functions(library):
    """Functions by name, a list of overloads each: at::native::NAME, at::native::NAME::impl; and wrapper -> function."""
    kernels, wrappers = {}, {}
    for function in library.functions:
        name = function[2]
        if "." in name:
            continue  # a part of one
        if at := re.match(r"_ZN2at6native(\d+)", name):
            end = at.end() + int(at[1])
            if name[end:].startswith(("E", "4implE")):
                kernels.setdefault(name[at.end() : end], []).append(function)
        elif at := re.match(r"_ZN3c104impl28wrap_kernel_functor_unboxed_.*12_GLOBAL__N_1(\d+)(?=wrapper_CPU_)", name):
            wrappers[name[at.end() :][: int(at[1])]] = function
    return kernels, wrappers


def stub_calls(package, names):
    """Operator -> the stubs that its kernel calls, sorted, of those that are named; of a folder with PyTorch's packages."""
    path = package / "torch/lib/libtorch_cpu.so"
    library = Library(path)
    stubs = {}
    for address, name in library.objects.items():
        at = re.fullmatch(r"_ZN2at6native\d+(\w+)E", name)
        if at and at[1] in names:
            stubs[address] = at[1]
    kernels, wrappers = kernel_functions(library)
    text = (package / "torchgen/packaged/ATen/native/native_functions.yaml").read_text()
    found = {}
    for op, kernel, wrapper in shared_kernels(yaml.load(text, yaml.CSafeLoader)):
        functions = kernels.get(kernel, [])
        if wrapper is not None:  # it does nothing but call the kernel, and tells the overloads of that apart
            called = library.called(wrappers[wrapper]) if wrapper in wrappers else ()
            functions = [function for function in functions if function in called]
        if len(functions) != 1:
            sys.exit(f"{path}: {kernel} of {op} is not found, or is more than one function")
        calls = reached(library, functions[0], stubs)
        if op in NOT_CALLED and NOT_CALLED[op] not in calls:
            sys.exit(f"{op} does not reach {NOT_CALLED[op]} any more: see NOT_CALLED")
        found[op] = sorted(calls - {NOT_CALLED.get(op)})
    return found
