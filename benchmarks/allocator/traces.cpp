#include "traces.h"

#include <utility>

namespace {

class Recorder {
 public:
  size_t allocate(size_t floats) {
    trace_.events.push_back({trace_.tensors, floats * sizeof(float)});
    return trace_.tensors++;
  }
  void free(size_t tensor) { trace_.events.push_back({tensor, 0}); }
  void free_all(std::vector<size_t>& tensors) {
    for (const size_t tensor : tensors) {
      free(tensor);
    }
    tensors.clear();
  }
  /// Takes the place of `tensor`, which is freed afterwards: a gradient that flows through an operator.
  void replace(size_t& tensor, size_t floats) {
    const size_t next = allocate(floats);
    free(tensor);
    tensor = next;
  }
  void free_last(std::vector<size_t>& tensors) {
    free(tensors.back());
    tensors.pop_back();
  }
  Trace take() { return std::move(trace_); }

 private:
  Trace trace_;
};

}  // namespace

Trace gpt_trace(int steps) {
  constexpr size_t kLayers = 6, kBatch = 8, kTokens = 256, kChannels = 384, kHeads = 8, kVocabulary = 8192;
  constexpr size_t c = kChannels;
  const std::vector<size_t> weights = {3 * c * c, 3 * c, c * c, c, 4 * c * c, 4 * c, 4 * c * c, c, c, c};
  Recorder memory;
  for (size_t layer = 0; layer < kLayers; ++layer) {
    for (const size_t floats : weights) {
      for (int copy = 0; copy < 3; ++copy) {  // the weight and Adam's two moments
        memory.allocate(floats);
      }
    }
  }
  for (int copy = 0; copy < 3; ++copy) {
    memory.allocate(kVocabulary * c);
  }
  for (int step = 0; step < steps; ++step) {
    const size_t t = kTokens - static_cast<size_t>(step % 4) * kTokens / 8;
    const size_t rows = kBatch * t;
    const size_t scores = kBatch * kHeads * t * t;
    const std::vector<size_t> activations = {rows * c, rows,     rows * 3 * c, scores,       scores,
                                             rows * c, rows * c, rows * 4 * c, rows * 4 * c, rows * c};
    std::vector<size_t> kept;
    std::vector<size_t> gradients;
    for (size_t layer = 0; layer < kLayers; ++layer) {
      for (const size_t floats : activations) {
        const size_t temporary = memory.allocate(floats);
        kept.push_back(memory.allocate(floats));
        memory.free(temporary);
      }
    }
    const size_t logits = memory.allocate(rows * kVocabulary);
    const size_t probabilities = memory.allocate(rows * kVocabulary);
    size_t gradient = memory.allocate(rows * kVocabulary);
    memory.free(probabilities);
    memory.free(logits);
    gradients.push_back(memory.allocate(kVocabulary * c));
    memory.replace(gradient, rows * c);
    for (size_t layer = 0; layer < kLayers; ++layer) {
      for (const size_t floats : weights) {
        gradients.push_back(memory.allocate(floats));
      }
      for (size_t i = 0; i < activations.size(); ++i) {
        memory.replace(gradient, rows * c);
        memory.free_last(kept);
      }
    }
    memory.free(gradient);
    memory.free_all(gradients);
  }
  return memory.take();
}

Trace resnet_trace(int steps) {
  struct Layer {
    size_t activation;  // of one image
    size_t weight;
  };
  constexpr size_t kBatch = 16;
  std::vector<Layer> network = {{64 * 56 * 56, 64 * 147}};
  for (size_t stage = 0; stage < 4; ++stage) {
    const size_t channels = size_t{64} << stage;
    const size_t width = size_t{56} >> stage;
    network.insert(network.end(), 8, {channels * width * width, channels * channels * 9});
  }
  Recorder memory;
  for (const Layer& layer : network) {
    memory.allocate(layer.weight);
    memory.allocate(layer.weight);  // its momentum
  }
  for (int step = 0; step < steps; ++step) {
    const size_t batch = step % 5 == 4 ? kBatch / 2 : kBatch;
    std::vector<size_t> kept;
    std::vector<size_t> gradients;
    for (const Layer& layer : network) {
      kept.push_back(memory.allocate(batch * layer.activation));
      kept.push_back(memory.allocate(512));  // means and deviations
      kept.push_back(memory.allocate(batch * layer.activation));
      memory.free(memory.allocate(layer.weight));  // the convolution's workspace
    }
    size_t gradient = memory.allocate(batch * network.back().activation);
    for (auto layer = network.rbegin(); layer != network.rend(); ++layer) {
      gradients.push_back(memory.allocate(layer->weight));
      for (int i = 0; i < 3; ++i) {
        memory.replace(gradient, batch * layer->activation);
        memory.free_last(kept);
      }
    }
    memory.free(gradient);
    memory.free_all(gradients);
  }
  return memory.take();
}
