#include "spec/readers.h"
#include "spec/yaml_hint.h"

#include "base/text.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <map>
#include <sstream>

namespace openreg_gen {
namespace {

struct Stop {};  // leaves yaml-cpp's parser; never leaves this file

bool is_integer(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (text.starts_with("0x") || text.starts_with("0o")) return text.size() > 2;
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

bool is_number(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (text == ".inf" || text == ".nan" || text == ".Inf" || text == ".NaN" || text == ".INF") return true;
  const auto exponent = std::min(text.find_first_of("eE"), text.size());
  const auto number = text.substr(0, exponent);
  const auto fits = [](char c) { return is_digit(c) || c == '.'; };
  const bool good = std::ranges::all_of(number, fits) && std::ranges::any_of(number, is_digit) &&
                    std::ranges::count(number, '.') <= 1;
  return good && (exponent == text.size() || is_integer(text.substr(exponent + 1)));
}

/// The core schema of YAML 1.2, so that a YAML and a JSON spec mean the same.
Node::Kind plain_kind(std::string_view text) {
  constexpr std::string_view kNull[] = {"", "~", "null", "Null", "NULL"};
  constexpr std::string_view kBoolean[] = {"true", "True", "TRUE", "false", "False", "FALSE"};
  if (contains(kNull, text)) return Node::Kind::Null;
  if (contains(kBoolean, text)) return Node::Kind::Boolean;
  if (is_integer(text)) return Node::Kind::Integer;
  return is_number(text) ? Node::Kind::Number : Node::Kind::String;
}

class YamlHandler final : public YAML::EventHandler {
 public:
  YamlHandler(const std::string& text, const std::string& file, Diagnostics& diagnostics)
      : text_(text), file_(file), builder_(file, diagnostics), starts_(line_starts(text)) {}

  TreeBuilder& builder() { return builder_; }

  Location at(const YAML::Mark& mark) const {
    const auto line = static_cast<std::size_t>(std::max(mark.line, 0));
    Location result{file_, static_cast<int>(line) + 1, 1};
    if (line >= starts_.size()) return result;
    const std::size_t end = std::min(text_.size(), starts_[line] + static_cast<std::size_t>(std::max(mark.column, 0)));
    // Marks mostly move forward, so counting goes on from the last one: one long line costs no more than many.
    if (line != last_.line || end < last_.offset) last_ = {line, starts_[line], 1};
    for (; last_.offset < end; ++last_.offset) last_.column += !continues(text_[last_.offset]);
    result.column = last_.column;
    return result;
  }

  /// The innermost bracket that is open, if a bracket is.
  std::optional<Location> open() const { return open_.empty() ? std::nullopt : open_.back(); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) fail("E0108", at(mark), "a second document begins here", "a spec is one document");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { value({.at = at(mark)}, anchor); }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto recorded = anchors_.find(anchor);
    if (recorded == anchors_.end()) fail("E0109", at(mark), "an alias is inside the value that it names");
    const std::vector<Event> events = recorded->second;
    expanded_ += events.size();
    if (expanded_ > kMaxNodes) fail("E0109", at(mark), fmt::format("aliases expand to more than {} values", kMaxNodes));
    for (const Event& event : events) send(event);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    refuse_tag(tag, at(mark));
    if (tag == "!" && is_unclosed_quote(text_, offset_of(mark)))
      fail("E0107", at(mark), "YAML: the quote that begins here has no end", "close it with the same quote");
    value({.kind = tag == "?" ? plain_kind(text) : Node::Kind::String, .text = text, .at = at(mark)}, anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    start(Node::Kind::List, mark, tag, anchor, style);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    start(Node::Kind::Map, mark, tag, anchor, style);
  }
  void OnMapEnd() override { end(); }

 private:
  enum class What { Scalar, Open, Close };
  struct Event {
    What what;
    Node node;
  };

  std::size_t offset_of(const YAML::Mark& mark) const {
    const auto line = static_cast<std::size_t>(std::max(mark.line, 0));
    return line < starts_.size() ? starts_[line] + static_cast<std::size_t>(std::max(mark.column, 0)) : text_.size();
  }

  [[noreturn]] void fail(std::string code, Location where, std::string message, std::string hint = {}) {
    builder_.fail(std::move(code), std::move(where), std::move(message), std::move(hint));
    throw Stop{};
  }

  void refuse_tag(const std::string& tag, const Location& where) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    fail("E0111", where, fmt::format("the tag '{}' is not used in specs", tag.substr(0, 60)), "leave it out");
  }

  /// What an anchor names is remembered as events; open anchors record as well.
  void send(Event event) {
    for (auto& [anchor, depth] : recording_) recorded_[anchor].push_back(event);
    kept_ += recording_.size();
    if (kept_ > 4 * kMaxNodes) fail("E0109", event.node.at, "anchors are nested without end");
    const bool went_well = event.what == What::Scalar ? builder_.scalar(std::move(event.node))
                           : event.what == What::Open ? builder_.open(std::move(event.node))
                                                      : builder_.close();
    if (!went_well) throw Stop{};
  }

  void value(Node node, YAML::anchor_t anchor) {
    Event event{What::Scalar, std::move(node)};
    if (anchor) anchors_[anchor] = {event};
    send(std::move(event));
  }

  void start(Node::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
             YAML::EmitterStyle::value style) {
    refuse_tag(tag, at(mark));
    if (style == YAML::EmitterStyle::Flow)
      open_.emplace_back(at(mark));
    else
      open_.emplace_back();
    ++depth_;
    if (anchor) recording_.emplace_back(anchor, depth_);
    send({What::Open, {.kind = kind, .at = at(mark)}});
  }

  void end() {
    open_.pop_back();
    send({What::Close, {}});
    if (!recording_.empty() && recording_.back().second == depth_) {
      const auto anchor = recording_.back().first;
      recording_.pop_back();
      anchors_[anchor] = std::move(recorded_[anchor]);
    }
    --depth_;
  }

  const std::string& text_;
  const std::string& file_;
  TreeBuilder builder_;
  std::vector<std::size_t> starts_;            // offsets of the lines
  std::vector<std::optional<Location>> open_;  // of the maps and lists around this place, the brackets
  struct Position {
    std::size_t line = 0, offset = 0;
    int column = 1;
  };
  mutable Position last_;
  std::map<YAML::anchor_t, std::vector<Event>> anchors_, recorded_;
  std::vector<std::pair<YAML::anchor_t, int>> recording_;  // anchors whose container is open, and its depth
  std::size_t kept_ = 0, expanded_ = 0;                    // events copied for anchors, and by aliases
  int depth_ = 0;
  int documents_ = 0;
};

/// yaml-cpp keeps every open bracket and what follows it, so absurd nesting is reported before it is parsed.
bool absurdly_nested(const std::string& text, const std::string& file, Diagnostics& diagnostics) {
  constexpr int kBrackets = 1000;  // far above kMaxDepth, for brackets in texts and comments
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[' || text[i] == '{') ++depth;
    if ((text[i] == ']' || text[i] == '}') && depth > 0) --depth;
    if (depth <= kBrackets) continue;
    diagnostics.error("E0110", location_at(text, i, file), fmt::format("nested more than {} levels deep", kBrackets));
    return true;
  }
  return false;
}

}  // namespace

std::optional<Node> read_yaml(const std::string& text, const std::string& file, Diagnostics& diagnostics) {
  if (absurdly_nested(text, file, diagnostics)) return std::nullopt;
  YamlHandler handler(text, file, diagnostics);
  try {
    std::istringstream in(text);
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(handler)) {
    }
  } catch (const Stop&) {
    return std::nullopt;
  } catch (const YAML::Exception& e) {
    const Location where = e.mark.is_null() ? Location{file, 0, 0} : handler.at(e.mark);
    return diagnostics.fail("E0107", where, "YAML: " + e.msg, yaml_hint(text, e.msg, where, handler.open()));
  }
  auto& root = handler.builder().root;
  if (!root || root->kind == Node::Kind::Null)
    return diagnostics.fail("E0104", {file, 0, 0}, "the spec is empty",
                            "the smallest spec is `backend: {name: mydevice}`");
  return std::move(root);
}

}  // namespace openreg_gen
