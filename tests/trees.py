"""Shared by the tests of the command: paths, and helpers for trees."""

import json
import os
import pathlib
import tarfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMAND = pathlib.Path(os.environ.get("OPENREG_GEN", ROOT / "build/openreg-gen")).resolve()
MANIFEST = ".openreg-gen/manifest.json"
GENERATED = "csrc/runtime/Guard.cpp"
SHARED = "README.md"


def files(root):
    """Without what undo keeps, which no two runs have alike."""
    paths = {path.relative_to(root).as_posix(): path for path in sorted(root.rglob("*")) if path.is_file()}
    return {name: path for name, path in paths.items() if not name.startswith(".openreg-gen/undo/")}


def state(root):
    """Each file's bytes and time of change."""
    return {name: (path.read_bytes(), path.stat().st_mtime_ns) for name, path in files(root).items()}


def owned(root):
    listed = json.loads((root / MANIFEST).read_text())["files"]
    return next(path for path, file in listed.items() if file["class"] == "owned" and path.startswith("csrc"))


def unpack(archive, folder):
    """Python 3.11.2, Debian's, knows no filters of archives."""
    with tarfile.open(archive) as opened:
        opened.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
