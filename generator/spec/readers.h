// The two readers behind read_document(). Both get checked UTF-8 without a byte order mark.
#pragma once

#include "spec/document.h"

namespace openreg_gen {

std::optional<Node> read_yaml(const std::string& text, const std::string& file, Diagnostics& diagnostics);
std::optional<Node> read_json(const std::string& text, const std::string& file, Diagnostics& diagnostics);

/// Location of a byte: columns count characters, not bytes.
Location location_at(std::string_view text, std::size_t offset, const std::string& file);

/// Builds a tree from a reader's events and keeps to the limits. Stops (returns false) once one is passed.
class TreeBuilder {
 public:
  TreeBuilder(std::string file, Diagnostics& diagnostics) : file_(std::move(file)), diagnostics_(diagnostics) {}

  bool scalar(Node node) { return add(std::move(node)); }
  bool open(Node container);
  bool close();
  bool stopped() const { return stopped_; }
  /// False.
  bool fail(std::string code, Location at, std::string message, std::string hint = {});
  /// The container that was opened last and is complete, or the last scalar: what an anchor names.
  std::optional<Node> root;

 private:
  struct OpenContainer {
    Node node;
    std::optional<Node> key;
  };
  bool add(Node node);
  bool count(const Node& node);  // against the limit

  std::string file_;
  Diagnostics& diagnostics_;
  std::vector<OpenContainer> open_;
  std::size_t count_ = 0;
  bool stopped_ = false;
};

}  // namespace openreg_gen
