# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
"""For those who build on this package: where its CMake package is; C++ extensions in cpp_extension."""

from pathlib import Path

# cmake -DCMAKE_PREFIX_PATH="$(python -c 'import torch_openreg.utils as u; print(u.cmake_prefix_path)')"
cmake_prefix_path = str(Path(__file__).resolve().parents[1] / "share" / "cmake")
