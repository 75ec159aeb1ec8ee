"""torchgen's yaml of a backend: which operators have a kernel, in which class its functions are, and for which key.

`python -m torchgen.gen_backend_stubs` makes registrations of it. Vendors' own forks of it have more keys, and rows that are
maps with a `func`.
"""

import pathlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from .registrations import Place, Unclear

_KNOWN = (
    "backend",
    "class_name",
    "cpp_namespace",
    "extra_headers",
    "supported",
    "autograd",
    "symint",
    "use_out_as_primary",
    "device_guard",
)


@dataclass
class Declared:
    """A yaml. operators: names with their lines; class_name: empty for `<backend>NativeFunctions`."""

    file: str
    namespace: str = ""
    class_name: str = ""
    operators: dict[str, Place] = field(default_factory=dict)
    autograd: dict[str, Place] = field(default_factory=dict)
    unclear: list[Unclear] = field(default_factory=list)


def read_yamls(folders: list[pathlib.Path]) -> list[Declared]:
    paths = [path for folder in folders for ending in ("yaml", "yml") for path in sorted(folder.rglob(f"*.{ending}"))]
    texts = [(path, path.read_text(errors="replace")) for path in paths]
    return [
        _read(str(path), text) for path, text in texts if re.search(r"^backend\s*:\s*PrivateUse1\b", text, re.MULTILINE)
    ]


def _read(file: str, text: str) -> Declared:
    """Line by line: such files are flat, and places matter more than YAML's other forms."""
    declared, section = Declared(file), ""
    for number, line in enumerate(text.splitlines(), 1):
        bare = re.sub(r"(^|\s)#.*$", "", line).rstrip()
        if not bare.strip():
            continue
        place = Place(file, number)
        top = re.match(r"(\w+)\s*:\s*(.*)$", bare)
        if top:
            section, value = top[1], top[2].strip()
            declared.class_name = value if section == "class_name" else declared.class_name
            declared.namespace = value if section == "cpp_namespace" else declared.namespace
            if section not in _KNOWN:
                why = "a key that torchgen's own generator doesn't have"
                declared.unclear.append(
                    Unclear(f"{section}:", why, "look at what your generator makes of it", file, number)
                )
            names: Iterator[str] = iter(re.findall(r"[\w.]+", value)) if value.startswith("[") else iter(())
        else:
            names = _of_row(bare)
        rows = {"supported": declared.operators, "autograd": declared.autograd}.get(section)
        for name in names:
            if rows is not None:
                rows[name] = place
    return declared


def _of_row(line: str) -> Iterator[str]:
    row = re.match(r"\s*-\s*(?:func\s*:\s*)?[\"']?(?:aten::)?([\w.]+)", line)
    if row:
        yield row[1]
