// A mock of a graph compiler's run time, for tests of backend `mybackend` whose port.cpp is host_port.cpp. An
// executable is a text, a line for each step of float32 tensors of one size: "add 2 0 1" puts the sum of the tensors 0
// and 1 into tensor 2. MOCK_LOSE=N in the environment: the device loses an executable before each of its first N runs.
#include "port_support.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

using namespace mybackend::driver;

namespace {

struct Step {
  std::string word;
  size_t to, left, right;
};

using Executable = std::vector<Step>;

auto& executables = *new HandleTable<Executable, mybackendExecutable_t>;

std::atomic<int>& losses() {
  static std::atomic<int> left = std::getenv("MOCK_LOSE") == nullptr ? 0 : std::atoi(std::getenv("MOCK_LOSE"));
  return left;
}

float value_of(const std::string& word, float left, float right) {
  if (word == "add") return left + right;
  if (word == "sub") return left - right;
  return left * right;
}

}  // namespace

extern "C" {

mybackendError_t mybackendExecutableBuild(mybackendExecutable_t* executable, const char* name, const void* bytes,
                                          size_t size) {
  return call([&] {
    std::istringstream text(std::string(static_cast<const char*>(bytes), size));
    auto made = std::make_shared<Executable>();
    for (Step step; text >> step.word >> step.to >> step.left >> step.right;) {
      if (step.word != "add" && step.word != "sub" && step.word != "mul")
        throw Failure(mybackendErrorInvalidValue, std::string(name) + ": no instruction " + step.word);
      made->push_back(step);
    }
    if (made->empty()) throw Failure(mybackendErrorInvalidValue, std::string(name) + ": not an executable");
    *executable = executables.add(std::move(made));
    return mybackendSuccess;
  });
}

mybackendError_t mybackendExecutableRun(mybackendStream_t, mybackendExecutable_t handle, const mybackendBuffer* inputs,
                                        size_t input_count, const mybackendBuffer* outputs, size_t output_count) {
  return call([&]() -> mybackendError_t {
    if (losses().fetch_sub(1) > 0) executables.remove(handle);
    const auto executable = executables.find(handle);
    if (executable == nullptr) return mybackendErrorInvalidHandle;
    if (output_count != 1) throw Failure(mybackendErrorInvalidValue, "one output, please");
    const size_t count = outputs[0].size / sizeof(float);
    std::vector<std::vector<float>> values;
    const auto base = [](const mybackendBuffer& buffer) { return static_cast<char*>(buffer.memory) + buffer.offset; };
    for (size_t i = 0; i < input_count; ++i) {
      values.emplace_back(count);
      const size_t given = inputs[i].size / sizeof(float);  // one number stands for all
      for (size_t j = 0; j < count; ++j)
        std::memcpy(&values.back()[j], base(inputs[i]) + (given == 1 ? 0 : j) * sizeof(float), sizeof(float));
    }
    for (const Step& step : *executable) {
      values.resize(std::max(values.size(), step.to + 1), std::vector<float>(count));
      for (size_t j = 0; j < count; ++j)
        values[step.to][j] = value_of(step.word, values.at(step.left)[j], values.at(step.right)[j]);
    }
    std::memcpy(base(outputs[0]), values.back().data(), outputs[0].size);
    return mybackendSuccess;
  });
}

mybackendError_t mybackendExecutableRelease(mybackendExecutable_t handle) {
  return release(
      [&] { return executables.remove(handle) == nullptr ? mybackendErrorInvalidHandle : mybackendSuccess; });
}

}  // extern "C"
