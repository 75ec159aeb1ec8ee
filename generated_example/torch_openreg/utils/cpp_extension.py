# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
"""What a C++ extension needs to use this backend's streams and guards, by torch.utils.cpp_extension:

    from torch_openreg.utils import cpp_extension as backend

    CppExtension(
        "mine",
        ["mine.cpp"],  # #include <runtime/Stream.h>, <runtime/Guard.h>, <openreg.h>
        include_dirs=backend.include_paths(),
        library_dirs=backend.library_paths(),
        libraries=backend.libraries(),
    )

The libraries need no run path: `import torch` loads them before whatever links them. An extension fits the minor release of
PyTorch that it was built with, as this package does.
"""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def include_paths() -> list[str]:
    """Folders of the headers: <runtime/...> of the PyTorch side, <openreg.h> of the device."""
    packed = _PACKAGE / "include"
    if packed.is_dir():  # a wheel's
        return [str(packed)]
    tree = _PACKAGE.parent
    return [str(tree / "csrc"), str(tree / "third_party" / "openreg" / "include")]


def library_paths() -> list[str]:
    """Folders of libraries()."""
    return [str(_PACKAGE / "lib")]


def libraries() -> list[str]:
    """What to link, as the linker's -l takes it."""
    return ["torch_openreg", "openreg"]
