// Tensors that hold a Python object: sizes and strides, but no storage. Functions for Python: wrap(), unwrap().

#include <Python.h>

#include <ATen/OpaqueTensorImpl.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/csrc/Dtype.h>
#include <torch/csrc/autograd/python_variable.h>

#include <memory>
#include <vector>

namespace {

constexpr auto kDevice = c10::DeviceType::PrivateUse1;

// Autograd's engine uses events, which PyTorch's guard for devices without any refuses. Everything here has happened when it returns.
struct ArrayGuard final : c10::impl::NoOpDeviceGuardImpl<kDevice> {
  c10::Device exchangeDevice(c10::Device) const override {
    return {kDevice, 0};
  }
  c10::Device getDevice() const override {
    return {kDevice, 0};
  }
  c10::Stream getStream(c10::Device) const noexcept override {
    return c10::Stream(c10::Stream::DEFAULT, getDevice());
  }
  c10::Stream exchangeStream(c10::Stream) const noexcept override {
    return c10::Stream(c10::Stream::DEFAULT, getDevice());
  }
  void record(void**, const c10::Stream&, c10::DeviceIndex, c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override {
    return true;
  }
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, ArrayGuard);

using Object = std::shared_ptr<PyObject>;

Object held(PyObject* object) {
  Py_INCREF(object);
  return {object, [](PyObject* last) {
            if (!Py_IsInitialized()) return;
            const auto state = PyGILState_Ensure();
            Py_DECREF(last);
            PyGILState_Release(state);
          }};
}

// Strides are there to be read, in elements; nobody can reach memory with them.
struct ArrayImpl final : at::OpaqueTensorImpl<Object> {
  ArrayImpl(caffe2::TypeMeta dtype, Object array, c10::IntArrayRef sizes, c10::IntArrayRef strides, int64_t offset)
      : at::OpaqueTensorImpl<Object>(
            c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
            dtype,
            c10::Device(kDevice, 0),
            std::move(array),
            sizes) {
    set_custom_sizes_strides(SizesStridesPolicy::Default);
    sizes_and_strides_.set_sizes(sizes);
    sizes_and_strides_.set_strides(strides);
    storage_offset_ = offset;
    refresh_numel();
    refresh_contiguous();
  }
};

bool numbers(PyObject* list, std::vector<int64_t>& found) {
  for (Py_ssize_t i = 0; i < PySequence_Size(list); ++i) {
    PyObject* item = PySequence_GetItem(list, i);
    found.push_back(item ? PyLong_AsLongLong(item) : -1);
    Py_XDECREF(item);
  }
  return !PyErr_Occurred();
}

// wrap(array, dtype, sizes, strides, offset) -> a tensor that holds the array
PyObject* wrap(PyObject*, PyObject* arguments) {
  PyObject *array, *dtype, *sizes, *strides;
  long long offset = 0;
  if (!PyArg_ParseTuple(arguments, "OOOOL", &array, &dtype, &sizes, &strides, &offset)) return nullptr;
  std::vector<int64_t> size, stride;
  if (!numbers(sizes, size) || !numbers(strides, stride)) return nullptr;
  const auto type = c10::scalarTypeToTypeMeta(reinterpret_cast<THPDtype*>(dtype)->scalar_type);
  auto impl = c10::make_intrusive<ArrayImpl>(type, held(array), size, stride, offset);
  return THPVariable_Wrap(at::Tensor(std::move(impl)));
}

// unwrap(tensor) -> the array
PyObject* unwrap(PyObject*, PyObject* tensor) {
  if (!THPVariable_Check(tensor)) return PyErr_Format(PyExc_TypeError, "not a tensor");
  const auto* impl = dynamic_cast<const at::OpaqueTensorImpl<Object>*>(THPVariable_Unpack(tensor).unsafeGetTensorImpl());
  if (impl == nullptr) return PyErr_Format(PyExc_TypeError, "not a tensor of this device");
  PyObject* array = impl->opaque_handle().get();
  Py_INCREF(array);
  return array;
}

PyMethodDef functions[] = {
    {"wrap", wrap, METH_VARARGS, nullptr},
    {"unwrap", unwrap, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr}};
PyModuleDef module_ = {PyModuleDef_HEAD_INIT, "py_kernels_C", nullptr, -1, functions};

}  // namespace

PyMODINIT_FUNC PyInit_py_kernels_C() {
  return PyModule_Create(&module_);
}
