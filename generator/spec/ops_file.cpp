#include "spec/ops_file.h"

#include "base/text.h"
#include "spec/readers.h"
#include "spec/rules.h"

#include <fmt/format.h>

#include <charconv>

namespace openreg_gen {
namespace {

constexpr std::string_view kFormat = "openreg-gen ops";
constexpr std::string_view kNumbers[] = {"calls", "fallback", "bytes", "seconds"};
constexpr const char* kForms = "a list of names, one name per line, or what `openreg-gen record` writes";

class Reader {
 public:
  Reader(const fs::path& path, Diagnostics& diagnostics) : file_(path.string()), diagnostics_(diagnostics) {}

  OpsFile read(std::string_view text) {
    text = without_byte_order_mark(text);
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first != std::string_view::npos && (text[first] == '{' || text[first] == '[')) {
      if (const auto root = read_json(std::string(text), file_, diagnostics_)) json(*root);
    } else {
      lines(text);
    }
    add_up();
    return std::move(result_);
  }

 private:
  void json(const Node& root) {
    const Node* ops = &root;
    if (root.kind == Node::Kind::Map) ops = document(root);
    if (ops == nullptr) return;
    for (const Node& item : ops->items) {
      if (item.kind == Node::Kind::String) {
        add(item, {});
      } else if (item.kind == Node::Kind::Map) {
        record(item);
      } else {
        diagnostics_.error("E0171", item.at,
                           fmt::format("an operator is text or a map with 'op', not {}", describe(item.kind)));
      }
    }
  }

  /// The recorder's object: its `ops`, or null after an error.
  const Node* document(const Node& root) {
    const Node* format = root.find("format");
    if (format == nullptr || format->text != kFormat) {
      diagnostics_.error("E0171", format == nullptr ? root.at : format->at, "this is not a list of operators",
                         fmt::format("expected: {}; such an object begins with {{\"format\": \"{}\"", kForms, kFormat));
      return nullptr;
    }
    const Node* version = root.find("version");
    if (version == nullptr || version->text != "1") {
      diagnostics_.error(
          "E0172", version == nullptr ? root.at : version->at,
          fmt::format("unknown version {} of the list of operators", version == nullptr ? "(none)" : version->text),
          "this openreg-gen reads version 1");
      return nullptr;
    }
    if (const Node* torch = root.find("torch"); torch != nullptr) result_.torch = torch->text;
    const Node* ops = root.find("ops");
    if (ops != nullptr && ops->kind == Node::Kind::List) return ops;
    diagnostics_.error("E0171", ops == nullptr ? root.at : ops->at, "'ops' must be a list");
    return nullptr;
  }

  void record(const Node& item) {
    const Node* name = item.find("op");
    if (name == nullptr || name->kind != Node::Kind::String) {
      diagnostics_.error("E0171", name == nullptr ? item.at : name->at, "an operator of the list has no 'op'",
                         R"(such as {"op": "add.Tensor", "calls": 12})");
      return;
    }
    RecordedOp op;
    for (const auto key : kNumbers) {
      const Node* node = item.find(key);
      if (node == nullptr) continue;
      double value = 0;
      const auto [end, error] = std::from_chars(node->text.data(), node->text.data() + node->text.size(), value);
      if (error != std::errc() || end != node->text.data() + node->text.size() || !(value >= 0 && value < 1e18)) {
        diagnostics_.error("E0171", node->at, fmt::format("'{}' must be a number of at least 0", key));
        continue;
      }
      if (key == "fallback") op.costs = true;
      if (key == "seconds") op.seconds = value;
      auto& whole = key == "calls" ? op.calls : key == "fallback" ? op.fallback : op.bytes;
      if (key != "seconds") whole = static_cast<std::uint64_t>(value);
    }
    add(*name, std::move(op));
  }

  void lines(std::string_view text) {
    int line = 0;
    for (std::size_t start = 0; start < text.size();) {
      auto end = std::min(text.find_first_of("\r\n", start), text.size());
      auto content = text.substr(start, end - start);
      ++line;
      start = end + (text.substr(end).starts_with("\r\n") ? 2 : 1);
      content = content.substr(0, content.find('#'));
      const auto from = content.find_first_not_of(" \t");
      if (from == std::string_view::npos) continue;
      Node node;
      node.kind = Node::Kind::String;
      node.text = content.substr(from, content.find_last_not_of(" \t") - from + 1);
      node.at = {file_, line, static_cast<int>(from) + 1};
      add(node, {});
    }
  }

  void add(const Node& node, RecordedOp op) {
    Node plain = node;
    if (plain.text.starts_with("aten::")) plain.text.erase(0, 6);
    if (plain.text.starts_with("aten.")) plain.text.erase(0, 5);
    if (plain.text.ends_with(".default")) plain.text.resize(plain.text.size() - 8);
    if (includes(plain.text, "::")) {
      diagnostics_.warning("E0173", node.at, fmt::format("'{}' is not one of PyTorch's own operators", node.text),
                           "it is left out");
      return;
    }
    const auto before = diagnostics_.all().size();
    RuleContext context{"ops", diagnostics_};
    rules::operator_name(plain, context);
    if (diagnostics_.all().size() != before) return;
    op.name = {std::move(plain.text), node.at};
    result_.ops.push_back(std::move(op));
  }

  void add_up() {
    auto& ops = result_.ops;
    std::ranges::stable_sort(ops, {}, [](const RecordedOp& op) -> const std::string& { return *op.name; });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      if (kept > 0 && *ops[kept - 1].name == *ops[i].name) {
        auto& sum = ops[kept - 1];
        sum.calls += ops[i].calls;
        sum.fallback += ops[i].fallback;
        sum.bytes += ops[i].bytes;
        sum.seconds += ops[i].seconds;
        sum.costs = sum.costs || ops[i].costs;
      } else {
        if (kept != i) ops[kept] = std::move(ops[i]);
        ++kept;
      }
    }
    ops.resize(kept);
  }

  std::string file_;
  Diagnostics& diagnostics_;
  OpsFile result_;
};

}  // namespace

std::optional<OpsFile> parse_ops_file(std::string_view text, const fs::path& path, Diagnostics& diagnostics) {
  Diagnostics own;
  OpsFile result = Reader(path, own).read(text);
  own.finish(without_byte_order_mark(text));
  for (const auto& diagnostic : own.all()) diagnostics.add(diagnostic);
  if (own.has_errors()) return std::nullopt;
  return result;
}

std::optional<OpsFile> read_ops_file(const fs::path& path, Diagnostics& diagnostics) {
  const auto text = read_spec_file(path, diagnostics);
  if (!text) return std::nullopt;
  if (text->find('\0') != std::string::npos)
    return diagnostics.fail("E0106", {path.string(), 0, 0}, "the file holds NUL bytes",
                            "a list of operators is plain text");
  return parse_ops_file(*text, path, diagnostics);
}

}  // namespace openreg_gen
