"""Made the trees beside it, each once: such as older versions of openreg-gen would have left them.

    python tests/frozen/make.py build/openreg-gen old_tree

    old_tree           of a version with other templates
    version_in_header  of the last version that named itself in each file; its command made it
    flat_folders       of the last version that had no folders of components; its command made it

They are kept so that each later version is tested with trees that it has not made itself. Made again only if the format of
.openreg-gen changes so that old trees are no longer supported.
"""

import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SPEC = "backend: {name: olddevice}\nops:\n  abs.out: stub  # mine\n  relu: native\n"
PRODUCTS = "  mm.out: matmul\n  nonzero: native\n"
GONE = "csrc/runtime/Legacy.h"  # an output that later versions have no more
NEW = "csrc/runtime/Serialization.cpp"  # one that the older version had not
FEW = ("csrc/amp/", "csrc/aten/", "docs/", "torch_olddevice/share/", "torch_olddevice/utils/")


def old_tree(tree: pathlib.Path, manifest: dict) -> None:
    files = manifest["files"]
    manifest["tool"] = "0.0.9"
    (tree / NEW).unlink()
    del files[NEW]
    (tree / GONE).write_text("// Written by openreg-gen 0.0.9 from olddevice.yaml.\n")
    files[GONE] = {"class": "generated", "sha256": "", "template": "csrc/runtime/Legacy.h.j2", "key": "device"}
    for name, file in files.items():
        path = tree / name
        text = path.read_text()
        text = re.sub(r"openreg-gen \d+\.\d+\.\d+ from", "openreg-gen 0.0.9 from", text)
        if file["class"] == "generated" and name.startswith("csrc/runtime/") and name != GONE:
            text += "// a line of older templates\n"
        path.write_text(text)
        file["sha256"] = hashlib.sha256(text.encode()).hexdigest()
        if (tree / ".openreg-gen/pristine" / name).exists():
            (tree / ".openreg-gen/pristine" / name).write_text(text)


def version_in_header(tree: pathlib.Path, manifest: dict) -> None:
    """As the version wrote it, without most of what is generated: later versions render those files as new ones."""
    for name, file in list(manifest["files"].items()):
        if file["class"] == "generated" and "/" in name and not name.startswith(FEW):
            (tree / name).unlink()
            del manifest["files"][name]


def flat_folders(tree: pathlib.Path, manifest: dict) -> None:
    """As the version wrote it: the folders in which files have moved since."""
    for name in list(manifest["files"]):
        if "/" in name and not name.startswith(("csrc/aten/", "csrc/runtime/")):
            (tree / name).unlink()
            (tree / ".openreg-gen/pristine" / name).unlink(missing_ok=True)
            del manifest["files"][name]


def main() -> None:
    make = {each.__name__: each for each in (old_tree, version_in_header, flat_folders)}[sys.argv[2]]
    with tempfile.TemporaryDirectory() as scratch:
        root = pathlib.Path(scratch)
        (root / "spec.yaml").write_text(SPEC + PRODUCTS * (make is flat_folders))
        tree = root / "old"
        command = [sys.argv[1], "new", "olddevice", "--spec", root / "spec.yaml", "--out", tree]
        subprocess.run(command, check=True)
        manifest = json.loads((tree / ".openreg-gen/manifest.json").read_text())
        manifest["inputs"] = "0" * 64  # a development version may have the same, and take the tree for fresh
        make(tree, manifest)
        (tree / ".openreg-gen/manifest.json").write_text(json.dumps(manifest, indent=1))

        def plain(info: tarfile.TarInfo) -> tarfile.TarInfo:
            info.uid = info.gid = info.mtime = 0
            info.uname = info.gname = ""
            return info

        with tarfile.open(HERE / f"{make.__name__}.tar.xz", "w:xz", preset=9) as archive:
            archive.add(tree, "old", filter=plain)


if __name__ == "__main__":
    main()
