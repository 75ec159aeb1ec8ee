#include "spec/readers.h"

#include <fmt/format.h>

namespace openreg_gen {
void TreeBuilder::fail(std::string code, Location at, std::string message, std::string hint) {
  if (!stopped_) diagnostics_.error(std::move(code), std::move(at), std::move(message), std::move(hint));
  stopped_ = true;
}

bool TreeBuilder::open(Node container) {
  if (stopped_) return false;
  if (static_cast<int>(open_.size()) >= kMaxDepth) {
    fail("E0110", container.at, fmt::format("nested more than {} levels deep", kMaxDepth));
    return false;
  }
  if (++count_ > kMaxNodes) {
    fail("E0109", container.at, fmt::format("the spec holds more than {} values", kMaxNodes));
    return false;
  }
  open_.push_back({std::move(container), std::nullopt});
  return true;
}

bool TreeBuilder::close() {
  if (stopped_ || open_.empty()) return false;
  Node done = std::move(open_.back().node);
  open_.pop_back();
  --count_;  // add() counts it again
  return add(std::move(done));
}

bool TreeBuilder::add(Node node) {
  if (stopped_) return false;
  if (++count_ > kMaxNodes) {
    fail("E0109", node.at, fmt::format("the spec holds more than {} values", kMaxNodes));
    return false;
  }
  if (open_.empty()) {
    root = std::move(node);
    return true;
  }
  auto& [parent, key] = open_.back();
  if (parent.kind == Node::Kind::List) {
    parent.items.push_back(std::move(node));
  } else if (!key) {
    if (!node.is_scalar()) {
      fail("E0107", node.at, fmt::format("a key must be a word, not {}", describe(node.kind)));
      return false;
    }
    key = std::move(node);
  } else {
    if (node.at.line == 0 || node.kind == Node::Kind::Null) node.at = key->at;
    parent.entries.emplace_back(std::move(*key), std::move(node));
    key.reset();
  }
  return true;
}

}  // namespace openreg_gen
