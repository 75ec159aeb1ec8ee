// An OpenCL driver for CPUs made as strict as NVIDIA's: it refuses a null pointer as a `global` or `constant` argument of a kernel, in
// whatever way it is set. NVIDIA's says so when the kernel is queued (CL_INVALID_KERNEL_ARGS); this one says it when the argument is set.
// Preloaded by scripts/test.sh opencl: cc -shared -fPIC -o refuse_null.so refuse_null.c -lOpenCL; LD_PRELOAD=.../refuse_null.so python ...
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static cl_int refuse(const char* function, cl_uint index) {
  fprintf(stderr, "refuse_null: %s got null for argument %u\n", function, index);
  return CL_INVALID_ARG_VALUE;
}

CL_API_ENTRY cl_int CL_API_CALL clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint index, const void* value) {
  if (value == NULL) return refuse("clSetKernelArgSVMPointer", index);
  return NEXT(clSetKernelArgSVMPointer)(kernel, index, value);
}

CL_API_ENTRY cl_int CL_API_CALL clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void* value) {
  static const char null[sizeof(void*)];
  cl_kernel_arg_address_qualifier space = CL_KERNEL_ARG_ADDRESS_PRIVATE;
  const int empty = size == sizeof(void*) && (value == NULL || memcmp(value, null, size) == 0);
  if (empty && clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof(space), &space, NULL) == CL_SUCCESS &&
      (space == CL_KERNEL_ARG_ADDRESS_GLOBAL || space == CL_KERNEL_ARG_ADDRESS_CONSTANT)) {
    return refuse("clSetKernelArg", index);
  }
  return NEXT(clSetKernelArg)(kernel, index, size, value);
}

// Address spaces of arguments are known only of programs that were built with this option.
CL_API_ENTRY cl_int CL_API_CALL clBuildProgram(cl_program program, cl_uint count, const cl_device_id* devices, const char* options,
    void(CL_CALLBACK* done)(cl_program, void*), void* data) {
  char all[4096];
  snprintf(all, sizeof(all), "%s -cl-kernel-arg-info", options == NULL ? "" : options);
  return NEXT(clBuildProgram)(program, count, devices, all, done, data);
}

CL_API_ENTRY cl_int CL_API_CALL clSetKernelExecInfo(cl_kernel kernel, cl_kernel_exec_info info, size_t size, const void* value) {
  if (info == CL_KERNEL_EXEC_INFO_SVM_PTRS) {
    for (size_t i = 0; i < size / sizeof(void*); ++i) {
      if (((void* const*)value)[i] == NULL) return refuse("clSetKernelExecInfo", (cl_uint)i);
    }
  }
  return NEXT(clSetKernelExecInfo)(kernel, info, size, value);
}

static clSetKernelArgMemPointerINTEL_fn set_pointer;
static cl_int CL_API_CALL set_kernel_arg_mem_pointer(cl_kernel kernel, cl_uint index, const void* value) {
  if (value == NULL) return refuse("clSetKernelArgMemPointerINTEL", index);
  return set_pointer(kernel, index, value);
}

CL_API_ENTRY void* CL_API_CALL clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char* name) {
  void* const found = NEXT(clGetExtensionFunctionAddressForPlatform)(platform, name);
  if (found == NULL || strcmp(name, "clSetKernelArgMemPointerINTEL") != 0) return found;
  set_pointer = (clSetKernelArgMemPointerINTEL_fn)found;
  return (void*)set_kernel_arg_mem_pointer;
}
