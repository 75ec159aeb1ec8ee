# OpenVINO of PyPI, as the Python that builds has it.
execute_process(COMMAND "${Python_EXECUTABLE}" -c "import openvino, pathlib; print(pathlib.Path(openvino.__file__).parent)"
  OUTPUT_VARIABLE openvino OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
file(GLOB openvino_library "${openvino}/libs/libopenvino.so*")
target_include_directories(mybackend SYSTEM PRIVATE "${openvino}/include")
target_link_libraries(mybackend PRIVATE "${openvino_library}")
target_link_options(mybackend PRIVATE "-Wl,-rpath,${openvino}/libs")
