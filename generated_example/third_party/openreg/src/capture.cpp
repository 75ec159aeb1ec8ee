// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include "capture.h"

#include "stream.h"

#include <algorithm>
#include <atomic>
#include <stdexcept>

namespace openreg::driver {
namespace {

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(1);
}

void merge(Waited& into, const Waited& from) {
  for (const auto& [stream, count] : from) into[stream] = std::max(into[stream], count);
}

// Captures that have begun and not ended, which is mostly none.
struct Begun {
  std::mutex mutex;
  std::vector<std::shared_ptr<Capture>> captures;
  std::atomic<std::size_t> count{0};
};

Begun& begun() {
  static auto& instance = *new Begun;
  return instance;
}

}  // namespace

bool refuse_to_wait() {
  if (begun().count.load(std::memory_order_relaxed) == 0) return false;
  std::lock_guard lock(begun().mutex);
  bool refused = false;
  for (const auto& capture : begun().captures) {
    if (!capture->forbids_waiting()) continue;
    capture->invalidate();
    refused = true;
  }
  return refused;
}

bool refuse_to_wait(const std::shared_ptr<Capture>& capture) {
  if (capture == nullptr) return false;
  capture->invalidate();
  return true;
}

bool Capture::join(std::shared_ptr<Stream> stream) {
  if (stream->capture() == shared_from_this()) return true;
  if (!stream->join(shared_from_this())) return false;
  {
    std::lock_guard lock(mutex_);
    streams_.push_back(std::move(stream));
    if (streams_.size() > 1) return true;
  }
  std::lock_guard lock(begun().mutex);
  begun().captures.push_back(shared_from_this());
  begun().count.store(begun().captures.size());
  return true;
}

void Capture::leave() {
  std::vector<std::shared_ptr<Stream>> streams;
  {
    std::lock_guard lock(mutex_);
    streams.swap(streams_);
  }
  for (const auto& stream : streams) stream->join(nullptr);
  std::lock_guard lock(begun().mutex);
  std::erase(begun().captures, shared_from_this());
  begun().count.store(begun().captures.size());
}

Capture::Capture(const Stream& origin, int device, orCaptureMode mode)
    : id_(next_id()), origin_(&origin), mode_(mode), graph_(std::make_shared<Graph>(device)) {}

bool Capture::forbids_waiting() const {
  if (mode_ == orCaptureModeRelaxed) return false;
  return mode_ == orCaptureModeGlobal || thread_ == std::this_thread::get_id();
}

void Capture::add(const Stream& stream, Graph::Node node) {
  std::lock_guard lock(mutex_);
  check_open();
  node.stream = numbers_.try_emplace(&stream, static_cast<int>(numbers_.size())).first->second;
  graph_->nodes_.push_back(std::move(node));
  known_[&stream][&stream] = ++given_[&stream];
}

Waited Capture::record(const Stream& stream) {
  std::lock_guard lock(mutex_);
  return known_[&stream];
}

void Capture::wait(const Stream& stream, const Waited& seen) {
  std::lock_guard lock(mutex_);
  merge(known_[&stream], seen);
}

void Capture::retain(void* object, void (*release)(void*)) {
  std::lock_guard lock(mutex_);
  check_open();
  graph_->retained_.emplace_back(object, release);
}

void Capture::check_open() const {
  if (ended_) throw std::runtime_error("the capture of this stream ends just now");  // on another thread
}

void Capture::invalidate() {
  std::lock_guard lock(mutex_);
  valid_ = false;
}

bool Capture::valid() const {
  std::lock_guard lock(mutex_);
  return valid_;
}

bool Capture::ended() const {
  std::lock_guard lock(mutex_);
  return ended_;
}

std::shared_ptr<Graph> Capture::finish() {
  std::lock_guard lock(mutex_);
  ended_ = true;
  const Waited& known = known_[origin_];
  for (const auto& [stream, count] : given_) {
    const auto seen = known.find(stream);
    valid_ = valid_ && seen != known.end() && seen->second == count;
  }
  return valid_ ? std::move(graph_) : nullptr;
}

}  // namespace openreg::driver
