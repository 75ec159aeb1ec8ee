"""Writes the declarations of PyTorch that tests use, as facts from its native_functions.yaml: names, schemas, keys.

scripts/declarations.py             tests/torch-VERSION/: the operators that tests of audit, edit and model name, from the installed
                                    PyTorch of VIRTUAL_ENV; those tests need no installation
scripts/declarations.py FOLDER ...  tests/other_releases.tar.xz: all operators of other releases. FOLDER: torch-VERSION with
                                    a wheel's torchgen/packaged; the rest of the wheel is not needed
"""

import io
import os
import pathlib
import re
import sys
import tarfile

import yaml

ROOT = pathlib.Path(__file__).parent.parent
WHERE = "torchgen/packaged/ATen/native"
KEYS = (
    "func",
    "structured",
    "structured_delegate",
    "structured_inherits",
    "precomputed",
    "variants",
    "dispatch",
    "tags",
)
KEYS += ("device_check", "device_guard", "python_module", "autogen")


def read(folder):
    return yaml.safe_load((folder / WHERE / "native_functions.yaml").read_text())


def texts(functions):
    """The two files of a folder of declarations, by name."""
    facts = [{key: function[key] for key in KEYS if key in function} for function in functions]
    tags = {"pt2_compliant_tag", "out", "inplace", "generated"}
    for function in facts:
        tags |= {function["tags"]} if isinstance(function.get("tags"), str) else set(function.get("tags", []))
    head = "# Facts of PyTorch's declarations, written by scripts/declarations.py.\n"
    return {
        "native_functions.yaml": head + yaml.safe_dump(facts, sort_keys=False, width=1000),
        "tags.yaml": "".join(f"- tag: {tag}\n  desc: x\n" for tag in sorted(tags)),
    }


def named_in_tests():
    """Words of the tests that may name an operator, without overload."""
    quoted = re.findall(r'"([^"]*)"', (ROOT / "generator/spec/minimal_ops.cpp").read_text())
    words = {word.split(".")[0] for text in quoted for word in text.split()}
    for folder in ("audit", "edit", "model"):
        for path in (ROOT / "tests" / folder).glob("*_test.cpp"):
            text = path.read_text()
            if "support.h" in text:
                words |= set(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", " ".join(re.findall(r'"[^"\n]*"', text))))
    return {word.removesuffix("_") for word in words}


def write_small():
    prefix = pathlib.Path(os.environ.get("VIRTUAL_ENV", sys.prefix))
    site = next(path for path in prefix.glob("lib/python3*/site-packages") if (path / WHERE).is_dir())
    version = re.search(r"__version__ = '([\d.]+)", (site / "torch/version.py").read_text())[1]
    wanted = named_in_tests()
    kept = [each for each in read(site) if re.match(r"\w+", each["func"])[0].removesuffix("_") in wanted]
    folder = ROOT / f"tests/torch-{version}" / WHERE
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts(kept).items():
        (folder / name).write_text(text)
    print(f"{folder}: {len(kept)} functions")


def write_releases(folders):
    with tarfile.open(ROOT / "tests/other_releases.tar.xz", "w:xz") as archive:
        for folder in map(pathlib.Path, folders):
            for name, text in texts(read(folder)).items():
                member = tarfile.TarInfo(f"{folder.name}/{WHERE}/{name}")
                member.size = len(text.encode())
                archive.addfile(member, io.BytesIO(text.encode()))


write_releases(sys.argv[1:]) if len(sys.argv) > 1 else write_small()
