# Appended to third_party/mybackend/CMakeLists.txt.
find_package(Vulkan REQUIRED)  # Debian: libvulkan-dev
target_link_libraries(mybackend PRIVATE Vulkan::Vulkan)
target_compile_options(mybackend PRIVATE -Wall -Wextra $<$<BOOL:${MYBACKEND_WERROR}>:-Werror>)
