// A mock of a graph compiler's run time, for tests of backend `mybackend` whose port.cpp is host_port.cpp. An
// executable is a text: the dtypes of inputs and output, then a line for each step of tensors of one size: "add 2 0 1"
// puts the sum of the tensors 0 and 1 into tensor 2. It knows memory by handles, as many drivers do: see address_of().
// In the environment: MOCK_LOSE=N, the device loses an executable before each of its first N runs; MOCK_BUILD=memory or
// =other: the device has no memory for an executable, or it is not one of its own.
#include "port_support.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

using namespace mybackend::driver;

namespace {

struct Step {
  std::string word;
  size_t to, left, right;
};

struct Executable {
  std::string takes, gives;
  std::vector<Step> steps;
};

auto& executables = *new HandleTable<Executable, mybackendExecutable_t>;

std::string setting(const char* name) { return std::getenv(name) == nullptr ? "" : std::getenv(name); }

// Whether this run loses its executable: the first N since MOCK_LOSE got its value.
bool is_lost() {
  static auto& mutex = *new std::mutex;
  static auto& counted = *new std::string;
  static int left = 0;
  const std::lock_guard<std::mutex> lock(mutex);
  if (const std::string now = setting("MOCK_LOSE"); now != counted) left = std::atoi((counted = now).c_str());
  return left-- > 0;
}

double value_of(const std::string& word, double left, double right) {
  if (word == "add") return left + right;
  if (word == "sub") return left - right;
  return word == "div" ? left / right : left * right;
}

// A buffer's first byte, from the handle of its allocation and an offset.
char* address_of(const mybackendBuffer& buffer) {
  const char* const begin = static_cast<char*>(buffer.memory) + buffer.offset;
  mybackendPointerAttributes block;
  mybackendPointerGetAttributes(&block, buffer.memory);
  if (block.type != mybackendMemoryTypeDevice)
    throw Failure(mybackendErrorInvalidValue, "memory that no Malloc has made");
  auto* const handle = static_cast<char*>(block.base);
  const auto offset = static_cast<size_t>(begin - handle);
  if (offset > block.size || buffer.size > block.size - offset)
    throw Failure(mybackendErrorInvalidValue, "a buffer that is not in one allocation");
  return handle + offset;
}

size_t size_of(const std::string& dtype) { return dtype == "torch.float32" ? 4 : 8; }

double load(const std::string& dtype, const char* from) {
  int64_t integer;
  float number;
  std::memcpy(dtype == "torch.int64" ? static_cast<void*>(&integer) : &number, from, size_of(dtype));
  return dtype == "torch.int64" ? static_cast<double>(integer) : static_cast<double>(number);
}

void store(const std::string& dtype, char* to, double value) {
  const auto number = static_cast<float>(value);
  std::memcpy(to, dtype == "torch.float32" ? static_cast<const void*>(&number) : &value, size_of(dtype));
}

}  // namespace

extern "C" {

mybackendError_t mybackendExecutableBuild(mybackendExecutable_t* executable, const char* name, const void* bytes,
                                          size_t size) {
  return call([&] {
    const std::string fault = setting("MOCK_BUILD");
    if (fault == "memory") throw Failure(mybackendErrorMemoryAllocation, "no memory for an executable");
    std::istringstream text(std::string(static_cast<const char*>(bytes), size));
    auto made = std::make_shared<Executable>();
    text >> made->takes >> made->gives;
    for (Step step; text >> step.word >> step.to >> step.left >> step.right;) made->steps.push_back(step);
    if (made->steps.empty() || fault == "other") throw Failure(mybackendErrorInvalidValue, "not an executable");
    *executable = executables.add(std::move(made));
    return mybackendSuccess;
  });
}

mybackendError_t mybackendExecutableRun(mybackendStream_t, mybackendExecutable_t handle, const mybackendBuffer* inputs,
                                        size_t input_count, const mybackendBuffer* outputs, size_t output_count) {
  return call([&]() -> mybackendError_t {
    if (is_lost()) executables.remove(handle);
    const auto executable = executables.find(handle);
    if (executable == nullptr) return mybackendErrorInvalidHandle;
    if (output_count != 1) throw Failure(mybackendErrorInvalidValue, "one output, please");
    const std::string &takes = executable->takes, &gives = executable->gives;
    const size_t count = outputs[0].size / size_of(gives);
    std::vector<std::vector<double>> values;
    for (size_t i = 0; i < input_count; ++i) {
      values.emplace_back(count);
      const char* const from = address_of(inputs[i]);
      const size_t given = inputs[i].size / size_of(takes);  // one number stands for all
      for (size_t j = 0; j < count; ++j) values.back()[j] = load(takes, from + (given == 1 ? 0 : j) * size_of(takes));
    }
    for (const Step& step : executable->steps) {
      values.resize(std::max(values.size(), step.to + 1), std::vector<double>(count));
      for (size_t j = 0; j < count; ++j) {
        const double value = value_of(step.word, values.at(step.left)[j], values.at(step.right)[j]);
        values[step.to][j] = gives == "torch.float32" ? static_cast<float>(value) : value;
      }
    }
    char* const to = address_of(outputs[0]);
    for (size_t j = 0; j < count; ++j) store(gives, to + j * size_of(gives), values.back()[j]);
    return mybackendSuccess;
  });
}

mybackendError_t mybackendExecutableRelease(mybackendExecutable_t handle) {
  return release(
      [&] { return executables.remove(handle) == nullptr ? mybackendErrorInvalidHandle : mybackendSuccess; });
}

}  // extern "C"
