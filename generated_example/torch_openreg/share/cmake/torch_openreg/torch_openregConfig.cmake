# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
#
# The CMake package of this backend, for C++ that uses its streams and guards:
#
#   find_package(torch_openreg REQUIRED)       # CMAKE_PREFIX_PATH: torch_openreg.utils.cmake_prefix_path
#   target_link_libraries(mine PRIVATE torch_openreg::torch_openreg)
#
# torch_openreg::torch_openreg brings PyTorch's C++ libraries and the device, torch_openreg::openreg; a module for Python also links
# PyTorch::torch_python. PyTorch is that of the active Python; -DPython_EXECUTABLE names another.
include(CMakeFindDependencyMacro)
find_dependency(Python 3.10 COMPONENTS Interpreter)

get_filename_component(package "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(EXISTS "${package}/include")
  set(pytorch "${CMAKE_CURRENT_LIST_DIR}/PyTorch.cmake")
  set(includes "${package}/include")
  set(device_includes "${package}/include")
else()  # not a wheel's: a tree that was installed with -e
  set(pytorch "${package}/../cmake/PyTorch.cmake")
  set(includes "${package}/../csrc")
  set(device_includes "${package}/../third_party/openreg/include")
endif()
if(NOT TARGET PyTorch::c10)
  include("${pytorch}")
endif()

# C++ that was built with one minor release does not fit another.
if(NOT EXISTS "${package}/lib/build.json")
  set(torch_openreg_FOUND FALSE)
  set(torch_openreg_NOT_FOUND_MESSAGE "${package} was not built")
  return()
endif()
file(READ "${package}/lib/build.json" build)
string(JSON built GET "${build}" torch)
string(REGEX MATCH "^[0-9]+\\.[0-9]+" built_series "${built}")
if(NOT built_series VERSION_EQUAL PyTorch_SERIES)
  set(torch_openreg_FOUND FALSE)
  set(torch_openreg_NOT_FOUND_MESSAGE "${package} was built with PyTorch ${built}, and ${Python_EXECUTABLE} has ${PyTorch_VERSION}")
  return()
endif()

if(NOT TARGET torch_openreg::torch_openreg)
  add_library(torch_openreg::openreg SHARED IMPORTED)
  set_target_properties(torch_openreg::openreg PROPERTIES
    IMPORTED_LOCATION "${package}/lib/libopenreg.so"
    INTERFACE_INCLUDE_DIRECTORIES "${device_includes}")
  add_library(torch_openreg::torch_openreg SHARED IMPORTED)
  set_target_properties(torch_openreg::torch_openreg PROPERTIES
    IMPORTED_LOCATION "${package}/lib/libtorch_openreg.so"
    INTERFACE_INCLUDE_DIRECTORIES "${includes}"
    INTERFACE_COMPILE_FEATURES cxx_std_20
    INTERFACE_LINK_LIBRARIES "PyTorch::torch_cpu;torch_openreg::openreg")
endif()
