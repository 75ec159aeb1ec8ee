#include "base/text.h"
#include "spec/readers.h"

#include <nlohmann/json.hpp>

namespace openreg_gen {
namespace {

using nlohmann::json;

/// nlohmann's SAX events say no position, so a cursor follows them through the text, token by token. The text was
/// parsed by then as far as the event, so the cursor needs to know no more than where a token ends.
class JsonHandler final : public nlohmann::json_sax<json> {
 public:
  JsonHandler(const std::string& text, const std::string& file, Diagnostics& diagnostics)
      : text_(text), file_(file), diagnostics_(diagnostics), builder_(file, diagnostics) {}

  TreeBuilder& builder() { return builder_; }

  bool null() override { return scalar(Node::Kind::Null, {}); }
  bool boolean(bool value) override { return scalar(Node::Kind::Boolean, value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return scalar(Node::Kind::Integer, std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return scalar(Node::Kind::Integer, std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { return scalar(Node::Kind::Number, text); }
  bool string(string_t& value) override { return scalar(Node::Kind::String, value); }
  bool binary(binary_t&) override { return false; }
  bool key(string_t& value) override { return scalar(Node::Kind::String, value); }
  bool start_object(std::size_t) override { return open(Node::Kind::Map); }
  bool start_array(std::size_t) override { return open(Node::Kind::List); }
  bool end_object() override { return builder_.close(); }
  bool end_array() override { return builder_.close(); }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& e) override {
    std::string message = e.what();
    if (const auto at = message.rfind("; last read:"); at != std::string::npos) message.resize(at);
    if (const auto at = message.find("syntax error"); at != std::string::npos) message.erase(0, at);
    diagnostics_.error("E0107", location_at(text_, position > 0 ? position - 1 : 0, file_), "JSON: " + message,
                       hint(position > 0 ? position - 1 : 0));
    return false;
  }

 private:
  /// What to type where the parser stopped.
  std::string hint(std::size_t offset) const {
    const std::string_view before = trimmed(std::string_view(text_).substr(0, offset));
    const char at = offset < text_.size() ? text_[offset] : '\0';
    if (trimmed(std::string_view(text_).substr(std::min(offset, text_.size()))).empty())
      return "a bracket or a quote is not closed";
    if ((at == '}' || at == ']') && before.ends_with(',')) return "no comma comes before a closing bracket";
    if (at == '\'') return "JSON's quotes are double ones";
    if (at == '/' || at == '#') return "JSON has no comments; YAML has";
    return {};
  }

  Location token() {
    const auto skipped = [](char c) { return is_space(c) || c == ',' || c == ':' || c == ']' || c == '}'; };
    while (cursor_ < text_.size() && skipped(text_[cursor_])) step();
    const Location at{file_, line_, column_};
    if (cursor_ >= text_.size()) return at;
    if (text_[cursor_] == '"') {
      for (step(); cursor_ < text_.size() && text_[cursor_] != '"'; step())
        if (text_[cursor_] == '\\') step();
      step();
    } else if (text_[cursor_] == '{' || text_[cursor_] == '[') {
      step();
    } else {
      while (cursor_ < text_.size() && !skipped(text_[cursor_])) step();
    }
    return at;
  }

  void step() {
    if (cursor_ >= text_.size()) return;
    const char c = text_[cursor_++];
    if (c == '\n' || (c == '\r' && !(cursor_ < text_.size() && text_[cursor_] == '\n'))) {
      ++line_;
      column_ = 1;
    } else if (cursor_ >= text_.size() || !continues(text_[cursor_])) {
      ++column_;
    }
  }

  bool scalar(Node::Kind kind, std::string text) {
    return builder_.scalar({.kind = kind, .text = std::move(text), .at = token()});
  }
  bool open(Node::Kind kind) { return builder_.open({.kind = kind, .at = token()}); }

  const std::string& text_;
  const std::string& file_;
  Diagnostics& diagnostics_;
  TreeBuilder builder_;
  std::size_t cursor_ = 0;
  int line_ = 1, column_ = 1;
};

}  // namespace

std::optional<Node> read_json(const std::string& text, const std::string& file, Diagnostics& diagnostics) {
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    return diagnostics.fail("E0104", {file, 0, 0}, "the spec is empty",
                            R"(the smallest spec is {"backend": {"name": "mydevice"}})");
  JsonHandler handler(text, file, diagnostics);
  if (!json::sax_parse(text, &handler) || handler.builder().stopped()) return std::nullopt;
  return std::move(handler.builder().root);
}

}  // namespace openreg_gen
