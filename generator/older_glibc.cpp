// Functions of glibc 2.35 for the statically linked libgcc, by means of older versions, so that a wheel built here also
// runs there. CMakeLists.txt makes the linker replace f by __wrap_f.
#include <dlfcn.h>

#ifdef DLFO_STRUCT_HAS_EH_DBASE
#include <link.h>

#include <cstdint>

namespace {

using Part = ElfW(Phdr);

struct Search {
  std::uintptr_t address;
  dl_find_object* found;
};

/// Called for each loaded object; 1 ends the search.
int holds_address(dl_phdr_info* object, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  const Part* unwinding = nullptr;
  const Part* code = nullptr;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const Part& part = object->dlpi_phdr[i];
    const std::uintptr_t start = object->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_GNU_EH_FRAME) unwinding = &part;
    if (part.p_type == PT_LOAD && search.address - start < part.p_memsz) code = &part;
  }
  if (code == nullptr) return 0;
  *search.found = {};
  search.found->dlfo_map_start = reinterpret_cast<void*>(object->dlpi_addr + code->p_vaddr);
  search.found->dlfo_map_end = reinterpret_cast<void*>(object->dlpi_addr + code->p_vaddr + code->p_memsz);
  if (unwinding != nullptr)
    search.found->dlfo_eh_frame = reinterpret_cast<void*>(object->dlpi_addr + unwinding->p_vaddr);
  return 1;
}

}  // namespace

/// How an exception finds the tables of the function that it passes through.
extern "C" int __wrap__dl_find_object(void* address, dl_find_object* result) {
  Search search{reinterpret_cast<std::uintptr_t>(address), result};
  return dl_iterate_phdr(holds_address, &search) == 1 && result->dlfo_eh_frame != nullptr ? 0 : -1;
}
#endif
