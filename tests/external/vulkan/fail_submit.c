// Preloaded by vulkan_tests.py: vkQueueSubmit answers "out of memory" while the environment's FAIL_SUBMIT is 1.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

VkResult vkQueueSubmit(VkQueue queue, uint32_t count, const VkSubmitInfo* submits, VkFence fence) {
  const char* fail = getenv("FAIL_SUBMIT");
  if (fail != NULL && strcmp(fail, "1") == 0) return VK_ERROR_OUT_OF_HOST_MEMORY;
  return ((PFN_vkQueueSubmit)dlsym(RTLD_NEXT, "vkQueueSubmit"))(queue, count, submits, fence);
}
