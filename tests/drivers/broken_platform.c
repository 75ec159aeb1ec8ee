// A second OpenCL driver on the machine: it counts a device, and fails when it is asked for it. The loader finds it by a file
// NAME.icd with this library's path in the folder $OCL_ICD_VENDORS.
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>
#include <string.h>

struct _cl_platform_id {
  cl_icd_dispatch* dispatch;
};
static cl_icd_dispatch functions;
static struct _cl_platform_id platform = {&functions};

static cl_int give(const char* text, size_t size, void* value, size_t* needed) {
  if (needed != NULL) *needed = strlen(text) + 1;
  if (value != NULL && size > strlen(text)) strcpy(value, text);
  return CL_SUCCESS;
}

static cl_int CL_API_CALL platform_info(cl_platform_id of, cl_platform_info key, size_t size, void* value, size_t* needed) {
  (void)of;
  if (key == CL_PLATFORM_ICD_SUFFIX_KHR) return give("BROKEN", size, value, needed);
  if (key == CL_PLATFORM_EXTENSIONS) return give("cl_khr_icd", size, value, needed);
  if (key == CL_PLATFORM_VERSION) return give("OpenCL 3.0 broken", size, value, needed);
  return give("A broken platform", size, value, needed);
}

static cl_int CL_API_CALL device_ids(cl_platform_id of, cl_device_type type, cl_uint entries, cl_device_id* devices, cl_uint* count) {
  (void)of, (void)type, (void)devices;
  if (entries > 0) return CL_OUT_OF_HOST_MEMORY;
  *count = 1;
  return CL_SUCCESS;
}

static cl_int CL_API_CALL platforms(cl_uint entries, cl_platform_id* ids, cl_uint* count) {
  functions.clGetPlatformInfo = platform_info;
  functions.clGetDeviceIDs = device_ids;
  if (entries > 0 && ids != NULL) *ids = &platform;
  if (count != NULL) *count = 1;
  return CL_SUCCESS;
}

// What the loader looks up.
CL_API_ENTRY cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint entries, cl_platform_id* ids, cl_uint* count) { return platforms(entries, ids, count); }

CL_API_ENTRY void* CL_API_CALL clGetExtensionFunctionAddress(const char* name) {
  return strcmp(name, "clIcdGetPlatformIDsKHR") == 0 ? (void*)platforms : NULL;
}

CL_API_ENTRY cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id of, cl_platform_info key, size_t size, void* value, size_t* needed) {
  return platform_info(of, key, size, value, needed);
}
