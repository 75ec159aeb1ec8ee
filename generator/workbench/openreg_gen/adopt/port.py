"""A port that calls the old runtime: its allocator, its guard and its copy, which are PyTorch's own interfaces.

So no driver has to be known. csrc/adopted/OldRuntime.cpp hands them to third_party/NAME/src/port.cpp, which has no PyTorch, as
a table of functions. Whatever they throw becomes an error of the device's C API, with their text.
"""

import pathlib
import re

from .choose import only_raises
from .helpers import Helpers
from .items import Item
from .registrations import Found, Unclear
from .scan import closing, masked

_OPERATIONS = "nothing waits for the device, so its operations have to be synchronous"
_COMPLETE = "an event is complete once its stream has been waited for"
#: The guard's functions for streams and events, and what a port does without each.
GUARD_FUNCTIONS = {
    "getNewStream": "each stream is the device's default stream",
    "queryStream": "a query waits for the stream",
    "synchronizeStream": "waiting for a stream waits for the device",
    "synchronizeDevice": "waiting for the device waits for its current stream",
    "record": _COMPLETE,
    "block": "the calling thread waits for the event",
    "queryEvent": "a query waits for the event",
    "synchronizeEvent": "waiting for an event waits for the device",
    "elapsedTime": "the host's clock is read after waiting for the event",
}
_OF_TORCH = {"DeviceGuardImplInterface", "NoOpDeviceGuardImpl"}
_WAITS = {"synchronizeStream", "synchronizeDevice"}

TEMPLATES = pathlib.Path(__file__).parent / "templates"


def _one(found: list[Item]) -> Item | None:
    return found[0] if len(found) == 1 else None


def runtime_items(found: Found) -> tuple[dict[str, Item], list[Unclear]]:
    """The old runtime's parts, and what is missing of them."""
    parts: dict[str, Item] = {}
    unclear = []
    items = [item for source in found.sources for item in source.items]

    def part(name: str, named: str, kind: str, what: str) -> None:
        last = named.rpartition("::")[2]
        item = _one([each for each in items if each.kind == kind and last in each.names and not each.owner])
        if item is not None:
            parts[name] = item
        else:
            unclear.append(Unclear(what, "not found in the sources", "fill third_party/NAME/src/port.cpp by hand"))

    part(
        "allocator",
        found.allocator[0] if found.allocator else "",
        "variable",
        "REGISTER_ALLOCATOR(PrivateUse1, ...)",
    )
    part("guard", found.guard[0] if found.guard else "", "class", "C10_REGISTER_GUARD_IMPL(PrivateUse1, ...)")
    copies = found.of("aten::_copy_from")
    part("copy", copies[-1].target if copies else "", "function", "a function that is registered for _copy_from")
    return parts, unclear


def lacking(found: Found, guard: Item) -> dict[str, str]:
    """The functions of GUARD_FUNCTIONS that a guard doesn't have, and why: PyTorch's own ones only raise an error."""
    items = [item for source in found.sources for item in source.items]
    whole: list[Item] = []
    todo = [guard]
    while todo:
        whole.append(todo.pop())
        bases = re.findall(r"(\w+)\s*(?:,|$)", re.sub(r"<.*>", "", whole[-1].bases))
        own = [each for each in items if each.kind == "class" and each.name in bases and each not in whole]
        if set(bases) - {each.name for each in own} - _OF_TORCH:
            return {}  # a class that is not in the sources may have them all
        todo += own
    out = {}
    for name in GUARD_FUNCTIONS:
        bodies = [body for item in whole for body in _bodies(item, name, items)]
        if not bodies:
            out[name] = f"your guard doesn't override {name}()"
        elif all(body is not None and only_raises(body) is not None for body in bodies):
            out[name] = f"your guard's {name}() only raises an error"
    return out


def _bodies(guard: Item, name: str, items: list[Item]) -> list[str | None]:
    """The bodies of a class's function, inside of the class and outside; None for one that is only declared."""
    outside = [each for each in items if each.kind == "function" and each.name == name]
    out: list[str | None] = [each.body for each in outside if each.owner.rpartition("::")[2] == guard.name]
    mask = masked(guard.text)
    for each in re.finditer(rf"\b{name}\s*\(", mask):
        end = closing(mask, each.end() - 1)
        after = re.match(r"\s*const\b[\w\s]*([{;])", mask[end + 1 :])
        if after and after[1] == "{":
            first = end + after.end()
            out.append(guard.text[first + 1 : closing(mask, first)])
        elif after and not out:
            out.append(None)
    return out


def missing_of_guard(found: Found, guard: Item) -> list[Unclear]:
    """A warning for each function that the port has to do without."""
    missing = lacking(found, guard)
    effects = dict(GUARD_FUNCTIONS)
    if missing.keys() >= _WAITS:  # nothing to wait with
        effects.update(dict.fromkeys(_WAITS, _OPERATIONS), queryStream="a stream is always idle")
        if missing.keys() >= {"record"}:
            effects.update(record="an event is complete at once", synchronizeEvent="an event is complete at once")
    todo = "replace it in port.cpp when your driver has it"
    return [Unclear(name, f"{why}: {effects[name]}", todo, guard.file, guard.line) for name, why in missing.items()]


def make_port(name: str, parts: dict[str, Item], helpers: Helpers) -> dict[str, str]:
    """The files of a port to these parts, once `helpers` has what they use."""
    missing = lacking(helpers.found, parts["guard"])
    includes = dict.fromkeys(line for item in parts.values() for line in helpers.includes(item.file))
    values = {
        "@INCLUDES@": "\n".join(f"#include {line}" for line in includes),
        "@ALLOCATOR@": f"::{helpers.space_of(parts['allocator'])}::{parts['allocator'].name}",
        "@GUARD@": f"::{helpers.space_of(parts['guard'])}::{parts['guard'].name}",
        "@COPY@": f"::{helpers.space_of(parts['copy'])}::{parts['copy'].name}",
        "@OWN@": "\n".join(
            f"constexpr bool has_{name} = {'false' if name in missing else 'true'};" for name in GUARD_FUNCTIONS
        ),
        "@NAME@": name,
    }

    def filled(template: str) -> str:
        text = (TEMPLATES / f"{template}.in").read_text()
        for key, value in values.items():
            text = text.replace(key, value)
        return text

    return {
        f"third_party/{name}/src/old_runtime.h": filled("old_runtime.h"),
        f"third_party/{name}/src/port.cpp": filled("port.cpp"),
        "csrc/adopted/OldRuntime.cpp": filled("OldRuntime.cpp"),
    }


def asked(name: str) -> list[Unclear]:
    """What PyTorch's interfaces don't say, and the port has to."""
    file = f"third_party/{name}/src/port.cpp"
    return [
        Unclear(
            "the device's memory",
            "no interface of the old backend says how much there is: 1 GiB is assumed",
            "set kMemory",
            file,
        ),
        Unclear("the device's name", "no interface says it", f"set it in {name}GetDeviceProperties", file),
    ]
