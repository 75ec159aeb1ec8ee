// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include "graph.h"

#include "stream.h"

#include <algorithm>
#include <atomic>
#include <fstream>

namespace openreg::driver {

Graph::~Graph() {
  for (const auto& [object, release] : retained) release(object);
}

void Graph::run(const Activity* launch) const {
  for (const Node& node : nodes) {
    if (launch == nullptr) {
      node.run();
      continue;
    }
    Activity activity = *launch;
    activity.kind = node.what.kind;
    activity.name = node.what.name;
    activity.copy = node.what.copy;
    activity.pageable = node.what.pageable ? 1 : 0;
    activity.bytes = node.what.bytes;
    activity.replayed = 1;
    activity.start = Activities::now();
    node.run();
    activity.end = Activities::now();
    Activities::finish(activity);
  }
}

namespace {

const char* name_of(orActivityKind kind) {
  switch (kind) {
    case orActivityMemcpy:
      return "memcpy";
    case orActivityMemset:
      return "memset";
    case orActivityKernel:
      break;
  }
  return "kernel";
}

}  // namespace

bool Graph::print(const std::string& path) const {
  std::ofstream out(path);
  out << "digraph graph {\n  rankdir=LR;\n";
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const What& what = nodes[i].what;
    std::string label = what.name != nullptr ? what.name : name_of(what.kind);
    label += "\\nstream " + std::to_string(nodes[i].stream);
    if (what.bytes != 0) label += "\\n" + std::to_string(what.bytes) + " bytes";
    out << "  n" << i << " [shape=box, label=\"" << label << "\"];\n";
    if (i > 0) out << "  n" << i - 1 << " -> n" << i << ";\n";
  }
  out << "}\n";
  return static_cast<bool>(out.flush());
}

namespace {

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(1);
}

void merge(Clock& into, const Clock& from) {
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

Capture::Capture(const Stream& origin, int device, orCaptureMode mode) : id_(next_id()), origin_(&origin), mode_(mode) {
  graph_->device_ = device;
}

bool Capture::forbids_waiting() const {
  if (mode_ == orCaptureModeRelaxed) return false;
  return mode_ == orCaptureModeGlobal || thread_ == std::this_thread::get_id();
}

void Capture::add(const Stream& stream, Task::Touches touches, std::function<void()> run, const What& what) {
  std::lock_guard lock(mutex_);
  const int number = numbers_.try_emplace(&stream, static_cast<int>(numbers_.size())).first->second;
  graph_->nodes.push_back({touches, std::move(run), what, number});
  known_[&stream][&stream] = ++given_[&stream];
}

Clock Capture::record(const Stream& stream) {
  std::lock_guard lock(mutex_);
  return known_[&stream];
}

void Capture::wait(const Stream& stream, const Clock& seen) {
  std::lock_guard lock(mutex_);
  merge(known_[&stream], seen);
}

void Capture::retain(void* object, void (*release)(void*)) {
  std::lock_guard lock(mutex_);
  graph_->retained.emplace_back(object, release);
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
  const Clock& known = known_[origin_];
  for (const auto& [stream, count] : given_) {
    const auto seen = known.find(stream);
    valid_ = valid_ && seen != known.end() && seen->second == count;
  }
  return valid_ ? std::move(graph_) : nullptr;
}

}  // namespace openreg::driver
