# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `compile` in the spec changes it, then `openreg-gen generate`.
"""The C++ text of a kernel: an entry with packed arguments, and errors that leave loops on several threads."""

# How arguments are packed: one character each, and 8 bytes.
POINTER, INTEGER, FLOAT = "pif"

_SUPPORT = r"""
#include <atomic>
#include <cstring>
#include <exception>
namespace openreg {
// What iterations of a parallel loop throw can't leave it. The first is kept, and thrown once the loop is over.
struct FirstError {
    std::atomic<bool> taken{false};
    std::exception_ptr error;
    void keep() { if (!taken.exchange(true)) error = std::current_exception(); }
    void rethrow() { if (error) std::rethrow_exception(error); }
};
template <typename T> T argument(const char* packed, int index) {
    T value;
    std::memcpy(&value, packed + 8 * index, sizeof(T));
    return value;
}
}
"""


def codes(types: list[str]) -> str:
    """The packing of arguments of these C++ types."""
    return "".join(POINTER if "*" in t else FLOAT if t.endswith("float") else INTEGER for t in types)


def launchable(source: str, name: str, types: list[str]) -> str:
    """`source`, whose function is `name`, with an entry `launch` that takes the arguments as the device API passes them."""
    head, start, function = source.partition('extern "C"')
    plain = [t if "*" in t else t.removeprefix("const ") for t in types]
    taken = [f"argument<{cpp_type}>(packed, {index})" for index, cpp_type in enumerate(plain)]
    call = f"{name}({', '.join(taken)});"
    lines = [
        'extern "C" void launch(const char* packed)',
        "{",
        "    using namespace openreg;",
        f"    {call}",
        "}",
        "",
    ]
    entry = "\n".join(lines)
    return head + _SUPPORT + start + _keep_errors(function) + entry


def _keep_errors(function: str) -> str:
    """Catches in each iteration of a parallel loop, as OpenMP wants it, what a check of an index throws there."""
    if "#pragma omp for" not in function or "TORCH_CHECK" not in function:
        return function
    lines = function.split("\n")
    before: dict[int, str] = {}  # what is inserted before a line
    for number, line in enumerate(lines):
        if not line.lstrip().startswith("#pragma omp for"):
            continue
        opening = next(n for n in range(number + 1, len(lines)) if lines[n].strip() == "{")
        indent = lines[opening].removesuffix("{")
        closing = lines.index(indent + "}", opening)
        before[opening + 1] = indent + "    try {"
        before[closing] = indent + "    } catch (...) { errors.keep(); }"
    body = lines.index("{")
    before[body + 1] = "    openreg::FirstError errors;"
    before[lines.index("}", body)] = "    errors.rethrow();"
    return "\n".join(f"{before[n]}\n{line}" if n in before else line for n, line in enumerate(lines))
