// Rules for the names in a spec: torch.device() must accept them, and nobody else may use them.
#include "base/text.h"
#include "spec/rules.h"

#include <fmt/format.h>

namespace openreg_gen {
namespace {

// PyTorch renames PrivateUse1 to any other device type of its own (vulkan, opencl, fpga, ...), and then parses the name
// as this backend's. tests/test_device_names.py asks PyTorch.
struct DeviceTypes {
  std::string_view names, why;
};
constexpr DeviceTypes kDeviceTypes[] = {
    {"cpu cuda hip mps mtia xpu", "one of PyTorch's own device types, to which it refuses to rename PrivateUse1"},
    {"ipu lazy maia meta xla", "a device type whose tensors PyTorch copies, saves or prints in a way of its own"},
    {"hpu", "a device type for which storages in PyTorch have their own methods"},
    {"mkldnn", "a layout, for which Tensor.is_mkldnn asks"},
    {"privateuseone", "PyTorch's placeholder for a backend without a name"},
};
constexpr std::string_view kCppWords =
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class "
    "co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype "
    "default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int "
    "long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register "
    "reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch template "
    "this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t "
    "while xor xor_eq linux unix errno assert";
constexpr std::string_view kNamespaces =
    "at aten caffe detail fmt gtest gmock impl native pybind py std testing torch functorch c10 caffe2 pybind11 "
    "nlohmann posix internal ops meta";
// lib<name>.so, and targets of CMake and of PyTorch's own CMake package (torch_<name>, <name>).
constexpr std::string_view kBuildNames =
    "all bindings c clean dl edit_cache experimental global_deps help install library list_install_components m "
    "nightly package package_source protobuf python rebuild_cache rt shm stdc test util";
constexpr std::string_view kDistributedBackends = "fake gloo mpi nccl threaded ucc undefined xccl";
constexpr std::string_view kFolders =
    "build csrc dist docs tests third_party torch torchgen functorch torchvision torchaudio numpy setuptools pip "
    "pytest cmake wheel";

constexpr std::string_view kPattern =
    "lower-case letters, with single underscores between them: such as 'mydevice' or 'my_device'";

/// Why torch.device() or a file system would refuse the name; empty if they accept it.
std::string malformed(std::string_view name) {
  if (name.empty()) return "is empty";
  if (contains(name, '/') || includes(name, "..")) return "is a path, not a name";
  if (std::ranges::any_of(name, is_upper)) return "has upper-case letters, which torch.device() doesn't parse";
  if (std::ranges::any_of(name, is_digit)) return "has digits, which torch.device() doesn't parse in a device type";
  for (const char c : name)
    if (!is_lower(c) && c != '_') return "has characters that torch.device() doesn't parse";
  if (!is_lower(name.front())) return "must begin with a letter";
  if (name.back() == '_' || includes(name, "__")) return "has underscores that C++ reserves or that end it";
  return {};
}

struct NameConflict {
  std::string_view code;
  std::string by;
};

std::optional<NameConflict> taken(std::string_view name) {
  for (const auto& [names, why] : kDeviceTypes)
    if (has_word(names, name)) return NameConflict{"E0122", std::string(why)};
  if (name.starts_with("cpu") || name.starts_with("cuda"))
    return NameConflict{"E0125",
                        "not usable: torch.load() takes every name that begins with 'cpu' or 'cuda' for those devices"};
  if (has_word(kCppWords, name)) return NameConflict{"E0124", "a keyword of C++"};
  if (has_word(kPythonKeywords, name)) return NameConflict{"E0124", "a keyword of Python"};
  if (has_word(kNamespaces, name)) return NameConflict{"E0126", "a namespace of C++ or PyTorch"};
  if (has_word(kTorchNames, name)) return NameConflict{"E0123", "already an attribute of torch, Tensor or Module"};
  // is_vulkan asks for a device type without kernels, so a tree replaces it.
  if (name != "vulkan" && has_word(kTorchNames, fmt::format("is_{}", name)))
    return NameConflict{"E0123", fmt::format("not usable: Tensor has an is_{} of its own", name)};
  if (has_word(kBuildNames, name)) return NameConflict{"E0127", "already a library or a build target"};
  if (name.starts_with("torch_") || name.ends_with("_bindings"))
    return NameConflict{"E0127", "not usable: the names of other backends' libraries contain 'torch_' and '_bindings'"};
  if (has_word(kHeaderNames, name))
    return NameConflict{"E0127", fmt::format("already a header: it would hide <{}.h>", name)};
  if (has_word(kCNames, name))
    return NameConflict{"E0126", "a function of the C library, so no C++ namespace can have it"};
  return std::nullopt;
}

/// True if `text` is a C++ identifier that nobody reserved; else reports.
bool identifier(const Node& node, RuleContext& context, std::string_view example) {
  const std::string_view text = node.text;
  const auto key = last_part(context.path);
  const bool good = is_identifier(text) && text[0] != '_' && text.size() <= 60;
  if (!good) {
    context.error("E0129", node, fmt::format("{} '{}' is not a C++ identifier", key, shown(text)),
                  fmt::format("letters, digits and underscores, a letter first: such as '{}'", example));
    return false;
  }
  if (is_cpp_keyword(text)) {
    context.error("E0130", node, fmt::format("{} '{}' is a keyword of C++", key, text));
    return false;
  }
  if (includes(text, "__")) {
    context.error("E0130", node, fmt::format("{} '{}' has two underscores in a row, which C++ reserves", key, text));
    return false;
  }
  return true;
}

}  // namespace

bool is_cpp_keyword(std::string_view word) { return has_word(kCppWords, word); }

namespace rules {

void backend_name(const Node& node, RuleContext& context) {
  const std::string_view name = node.text;
  if (const auto why = malformed(name); !why.empty())
    return context.error("E0120", node, fmt::format("name '{}' {}", shown(name), why), std::string(kPattern));
  if (name.size() > 30)
    return context.error("E0121", node, fmt::format("name '{}' is {} letters long", shown(name), name.size()),
                         "at most 30");
  if (const auto by = taken(name))
    context.error(std::string(by->code), node, fmt::format("name '{}' is {}", name, by->by), "choose another name");
}

void package(const Node& node, RuleContext& context) {
  const std::string_view text = node.text;
  const bool good = !text.empty() && text.size() <= 60 && (is_lower(text[0]) || text[0] == '_') &&
                    std::ranges::all_of(text, [](char c) { return is_lower(c) || is_digit(c) || c == '_'; });
  if (!good) {
    const bool climbs = contains(text, '/') || includes(text, "..");
    return context.error(
        "E0128", node,
        fmt::format("package '{}' {}", shown(text), climbs ? "would leave the tree" : "is not a Python identifier"),
        "lower-case letters, digits and underscores: such as 'torch_mydevice'");
  }
  if (has_word(kPythonKeywords, text) || has_word(kStdlibModules, text) || has_word(kFolders, text)) {
    context.error("E0128", node, fmt::format("package '{}' is already a module or a folder", text),
                  "such as 'torch_mydevice'");
  }
}

void cpp_namespace(const Node& node, RuleContext& context) {
  if (!identifier(node, context, "mydevice")) return;
  if (has_word(kNamespaces, node.text) || has_word(kCNames, node.text))
    context.error("E0130", node, fmt::format("namespace '{}' is used by C, C++ or PyTorch", node.text));
}

void class_prefix(const Node& node, RuleContext& context) { identifier(node, context, "MyDevice"); }

void api_prefix(const Node& node, RuleContext& context) {
  const std::string_view text = node.text;
  // A prefix alone is never emitted, so a keyword such as 'or' will do.
  if (!text.empty() && is_cpp_keyword(text)) return;
  if (!identifier(node, context, "mydev")) return;
  if (!is_lower(text[0])) {
    context.error("E0129", node, fmt::format("api_prefix '{}' must begin with a lower-case letter", text),
                  fmt::format("such as '{}'", lower_camel_case(text)));
  }
}

void distributed_backend(const Node& node, RuleContext& context) {
  if (!identifier(node, context, "mydeviceccl")) return;
  const std::string_view text = node.text;
  if (std::ranges::any_of(text, is_upper)) {
    context.error("E0129", node, fmt::format("distributed.backend '{}' has upper-case letters", text),
                  "torch.distributed compares names in lower case");
  } else if (has_word(kDistributedBackends, text)) {
    context.error("E0130", node,
                  fmt::format("distributed.backend '{}' is one of torch.distributed's own backends", text));
  }
}

}  // namespace rules
}  // namespace openreg_gen
