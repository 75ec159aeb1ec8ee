"""A port that calls the old runtime: its allocator, its guard and its copy, which are PyTorch's own interfaces.

So no driver has to be known. csrc/adopted/OldRuntime.cpp hands them to third_party/NAME/src/port.cpp, which has no PyTorch, as
a table of functions. Whatever they throw becomes an error of the device's C API, with their text.
"""

import pathlib

from .helpers import Helpers
from .items import Item
from .registrations import Found, Unclear

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


def make_port(name: str, parts: dict[str, Item], helpers: Helpers) -> dict[str, str]:
    """The files of a port to these parts, once `helpers` has what they use."""
    includes = dict.fromkeys(line for item in parts.values() for line in helpers.includes(item.file))
    values = {
        "@INCLUDES@": "\n".join(f"#include {line}" for line in includes),
        "@ALLOCATOR@": f"::{helpers.space_of(parts['allocator'])}::{parts['allocator'].name}",
        "@GUARD@": f"::{helpers.space_of(parts['guard'])}::{parts['guard'].name}",
        "@COPY@": f"::{helpers.space_of(parts['copy'])}::{parts['copy'].name}",
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
