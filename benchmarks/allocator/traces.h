#pragma once

#include <cstddef>
#include <vector>

// Note [Traces]
// The order in which training allocates and frees, computed from the shapes of a network, so that it is the same in
// every run and anybody can read what it is. Weights, optimizer state and gradients are float32. Forward keeps
// activations; backward frees them in reverse, as it makes gradients. Sequence lengths or batches vary between steps,
// as with real data: that is what fragments memory.

struct Event {
  size_t tensor;  // counted from 0 in the order of allocation
  size_t bytes;   // 0: it is freed
};

struct Trace {
  std::vector<Event> events;
  size_t tensors = 0;
};

/// 6 layers of 384 channels, batches of 8 by up to 256 tokens; Adam.
Trace gpt_trace(int steps);
/// 33 convolutions of 3x3 with normalization, batches of 16 images of 224x224 (now and then 8); SGD with momentum.
Trace resnet_trace(int steps);
