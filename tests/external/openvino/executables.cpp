// Executables of OpenVINO's CPU plug-in, for backend `mybackend` whose port.cpp is host_port.cpp: device memory is the
// host's, and every stream does its work at once. compiler.py makes what is loaded here.
#include "port_support.h"

#include <memory>
#include <mutex>
#include <openvino/openvino.hpp>
#include <sstream>
#include <string>
#include <vector>

using namespace mybackend::driver;

namespace {

ov::Core& core() {
  static auto& instance = *new ov::Core;  // its threads must not end before the process does
  return instance;
}

// As compiler.py has them: an exported model does not keep them.
const ov::AnyMap kSettings{ov::hint::inference_precision(ov::element::f32), ov::inference_num_threads(2)};

struct Executable {
  ov::CompiledModel model;
  std::mutex mutex;
  std::vector<ov::InferRequest> idle;  // one runs a call at a time

  ov::InferRequest take() {
    const std::lock_guard<std::mutex> lock(mutex);
    if (idle.empty()) return model.create_infer_request();
    ov::InferRequest request = std::move(idle.back());
    idle.pop_back();
    return request;
  }

  void give_back(ov::InferRequest request) {
    const std::lock_guard<std::mutex> lock(mutex);
    idle.push_back(std::move(request));
  }
};

auto& executables = *new HandleTable<Executable, mybackendExecutable_t>;

ov::Tensor tensor_of(const ov::Output<const ov::Node>& port, const mybackendBuffer& buffer) {
  ov::Tensor tensor(port.get_element_type(), port.get_shape(), static_cast<char*>(buffer.memory) + buffer.offset);
  if (tensor.get_byte_size() != buffer.size)
    throw Failure(mybackendErrorInvalidValue, "a buffer of " + std::to_string(buffer.size) + " bytes for a tensor of " +
                                                  std::to_string(tensor.get_byte_size()));
  return tensor;
}

/// What OpenVINO throws is a failure with its text.
template <class Fn>
mybackendError_t with_openvino(Fn&& fn) {
  return call([&] {
    try {
      return fn();
    } catch (const ov::Exception& error) {
      throw Failure(mybackendErrorInvalidValue, error.what());
    }
  });
}

}  // namespace

extern "C" {

mybackendError_t mybackendExecutableBuild(mybackendExecutable_t* executable, const char*, const void* bytes,
                                          size_t size) {
  return with_openvino([&] {
    driver_starts(nullptr);
    std::istringstream stream(std::string(static_cast<const char*>(bytes), size));
    auto made = std::make_shared<Executable>();
    made->model = core().import_model(stream, "CPU", kSettings);
    *executable = executables.add(std::move(made));
    return mybackendSuccess;
  });
}

mybackendError_t mybackendExecutableRun(mybackendStream_t, mybackendExecutable_t handle, const mybackendBuffer* inputs,
                                        size_t input_count, const mybackendBuffer* outputs, size_t output_count) {
  return with_openvino([&] {
    const auto executable = executables.find(handle);
    if (executable == nullptr) return mybackendErrorInvalidHandle;
    if (executable->model.inputs().size() != input_count || executable->model.outputs().size() != output_count)
      throw Failure(mybackendErrorInvalidValue, "the executable has other inputs and outputs");
    ov::InferRequest request = executable->take();
    for (size_t i = 0; i < input_count; ++i)
      request.set_input_tensor(i, tensor_of(executable->model.input(i), inputs[i]));
    for (size_t i = 0; i < output_count; ++i)
      request.set_output_tensor(i, tensor_of(executable->model.output(i), outputs[i]));
    request.infer();
    executable->give_back(std::move(request));
    return mybackendSuccess;
  });
}

mybackendError_t mybackendExecutableRelease(mybackendExecutable_t handle) {
  return release(
      [&] { return executables.remove(handle) == nullptr ? mybackendErrorInvalidHandle : mybackendSuccess; });
}

}  // extern "C"
