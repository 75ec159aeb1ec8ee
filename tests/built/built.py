"""The tree whose tests run: $TREE, else generated_example. It is built, and installed in the Python that runs them."""

import importlib.util
import os
import types
from pathlib import Path

ROOT = Path(os.environ.get("TREE") or Path(__file__).parents[2] / "generated_example").resolve()
(_release,) = ROOT.glob("torch_*/_release.py")
PACKAGE = _release.parent.name
NAME = PACKAGE.removeprefix("torch_")


def module_of(file: Path) -> types.ModuleType:
    """A file of the tree, under another name than the files here have."""
    spec = importlib.util.spec_from_file_location(f"{file.stem}_of_the_tree", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
