# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `torch` in the spec changes it, then `openreg-gen generate`.
#
# PyTorch, as it lies in the active Python's packages: PyTorch::c10, PyTorch::torch_cpu, PyTorch::torch_python.
#
# Not by find_package(Torch): where PyTorch was built for CUDA, as `pip install torch` gives it on Linux, that stops unless
# a CUDA toolkit is installed, of which nothing here has a use. Files are read, and nothing is imported: `import torch`
# would load this very backend. Needs find_package(Python COMPONENTS Interpreter).

execute_process(
  COMMAND "${Python_EXECUTABLE}" -c "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '', end='')"
  WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}"
  OUTPUT_VARIABLE PyTorch_FOLDER
)
if(NOT EXISTS "${PyTorch_FOLDER}/version.py")
  message(FATAL_ERROR
    "There is no PyTorch in ${Python_EXECUTABLE}.\n"
    "Install it (pip install 'torch>=2.13,<2.16'), or name another Python: cmake -DPython_EXECUTABLE=/path/to/python")
endif()

# Another PyTorch in its place, and CMake looks again.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PyTorch_FOLDER}/version.py")
file(STRINGS "${PyTorch_FOLDER}/version.py" PyTorch_VERSION REGEX "^__version__")
string(REGEX REPLACE "^[^'\"]*['\"]([^'\"]*)['\"].*$" "\\1" PyTorch_VERSION "${PyTorch_VERSION}")

# A backend is built against C++ headers that change from one release to the next.
string(REGEX MATCH "^[0-9]+\\.[0-9]+" PyTorch_SERIES "${PyTorch_VERSION}")
option(OPENREG_ANY_PYTORCH "Try a PyTorch that is not >=2.13,<2.16" OFF)
if(NOT OPENREG_ANY_PYTORCH AND (PyTorch_SERIES VERSION_LESS "2.13" OR PyTorch_SERIES VERSION_GREATER "2.15"))
  message(FATAL_ERROR
    "PyTorch ${PyTorch_VERSION} in ${PyTorch_FOLDER} is not >=2.13,<2.16.\n"
    "Install one that is, or widen `torch:` in openreg.yaml and run `openreg-gen generate`.")
endif()
message(STATUS "PyTorch ${PyTorch_VERSION} in ${PyTorch_FOLDER}")

foreach(file IN ITEMS include/c10/core/Device.h include/torch/csrc/api/include/torch/all.h lib/libc10.so lib/libtorch_cpu.so
                      lib/libtorch_python.so)
  if(NOT EXISTS "${PyTorch_FOLDER}/${file}")
    message(FATAL_ERROR
      "PyTorch ${PyTorch_VERSION} in ${PyTorch_FOLDER} lacks ${file}, which C++ is built against.\n"
      "Install it again: pip install --force-reinstall 'torch>=2.13,<2.16'")
  endif()
endforeach()

# What its own CMake package would define: some of its headers declare more with USE_DISTRIBUTED and its like.
set(definitions "")
if(EXISTS "${PyTorch_FOLDER}/share/cmake/Caffe2/Caffe2Targets.cmake")
  file(READ "${PyTorch_FOLDER}/share/cmake/Caffe2/Caffe2Targets.cmake" targets)
  string(REGEX MATCH "set_target_properties\\(torch_cpu PROPERTIES[^)]*INTERFACE_COMPILE_DEFINITIONS \"[^\"]*" targets "${targets}")
  string(REGEX MATCHALL "USE_[A-Z0-9_]+" definitions "${targets}")
endif()
set(PyTorch_DISTRIBUTED OFF)
if("USE_DISTRIBUTED" IN_LIST definitions)
  set(PyTorch_DISTRIBUTED ON)
endif()
# Names of functions that take a std::string hold "cxx11" where it is libstdc++'s present one, which compilers take by themselves.
file(STRINGS "${PyTorch_FOLDER}/lib/libc10.so" present REGEX "cxx11" LIMIT_COUNT 1)
set(PyTorch_CXX11_ABI 1)
if(present STREQUAL "")
  set(PyTorch_CXX11_ABI 0)
  list(APPEND definitions _GLIBCXX_USE_CXX11_ABI=0)
endif()

# Headers of PyTorch that this backend includes, include nlohmann/json.hpp, which its wheels lack. Nothing here calls what is in it.
find_path(NLOHMANN_JSON nlohmann/json.hpp)
set(json "${NLOHMANN_JSON}")
if(NOT json)
  set(json "${CMAKE_BINARY_DIR}/stand_in")
  file(CONFIGURE OUTPUT "${json}/nlohmann/json.hpp" CONTENT [[#pragma once
#include <string>
namespace nlohmann {
struct json {
  json();
  template <typename T> json(const T&);
  template <typename T> T get() const;
  std::string dump() const;
  static json parse(const std::string&);
};
}  // namespace nlohmann
]])
endif()

foreach(library IN ITEMS c10 torch_cpu torch_python)
  add_library(PyTorch::${library} SHARED IMPORTED)
  set_target_properties(PyTorch::${library} PROPERTIES
    IMPORTED_LOCATION "${PyTorch_FOLDER}/lib/lib${library}.so"
    INTERFACE_INCLUDE_DIRECTORIES "${PyTorch_FOLDER}/include;${PyTorch_FOLDER}/include/torch/csrc/api/include;${json}"
    INTERFACE_COMPILE_DEFINITIONS "${definitions}"
    # What these libraries need in turn, CUDA's among it, they find themselves when they are loaded.
    INTERFACE_LINK_OPTIONS "LINKER:--allow-shlib-undefined")
endforeach()
target_link_libraries(PyTorch::torch_cpu INTERFACE PyTorch::c10)
target_link_libraries(PyTorch::torch_python INTERFACE PyTorch::torch_cpu)

# at::parallel_for is a template: compiled without OpenMP it runs on one thread. The runtime has to be the one that PyTorch's own
# code uses, which wheels bring along; g++'s code runs on it, while clang's wants another one.
add_library(PyTorch::openmp INTERFACE IMPORTED)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  file(GLOB runtime "${PyTorch_FOLDER}/lib/libgomp*.so*" "${PyTorch_FOLDER}/../torch.libs/libgomp*.so*")
  set_target_properties(PyTorch::openmp PROPERTIES INTERFACE_COMPILE_OPTIONS "$<$<COMPILE_LANGUAGE:CXX>:-fopenmp>")
  if(runtime)
    list(GET runtime 0 runtime)
    target_link_libraries(PyTorch::openmp INTERFACE "${runtime}")
  else()
    target_link_options(PyTorch::openmp INTERFACE -fopenmp)
  endif()
endif()
