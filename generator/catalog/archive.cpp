// One list of fields serves reading and writing. It isn't JSON, since parsing that would take longer than the whole
// run.
#include "catalog/build.h"

#include <cstring>

namespace openreg_gen {
namespace {

struct Writer {
  std::string bytes;
  void raw(const void* from, std::size_t size) { bytes.append(static_cast<const char*>(from), size); }
  std::size_t count(std::size_t n) {
    const auto small = static_cast<std::uint32_t>(n);
    raw(&small, sizeof small);
    return n;
  }
};

struct Reader {
  std::string_view left;
  bool good = true;
  void raw(void* to, std::size_t size) {
    good = good && size <= left.size();
    if (!good) return;
    std::memcpy(to, left.data(), size);
    left.remove_prefix(size);
  }
  std::size_t count(std::size_t) {
    std::uint32_t n = 0;
    raw(&n, sizeof n);
    // Whatever is counted takes a byte at least: a wild count must not become a wild allocation.
    good = good && n <= left.size();
    return good ? n : 0;
  }
};

void each(auto& archive, auto&... fields) { (value(archive, fields), ...); }

template <typename T>
  requires std::is_enum_v<T> || std::is_same_v<T, bool>
void value(auto& archive, T& x) {
  auto byte = static_cast<char>(x);
  archive.raw(&byte, 1);
  x = static_cast<T>(byte);
}
void value(auto& archive, std::string& x) {
  x.resize(archive.count(x.size()));
  archive.raw(x.data(), x.size());
}
template <typename T>
void value(auto& archive, std::vector<T>& list) {
  list.resize(archive.count(list.size()));
  for (auto& item : list) value(archive, item);
}
void value(auto& archive, std::map<std::string, std::string>& map) {
  std::vector<std::string> keys, values;
  for (const auto& [key, text] : map) keys.push_back(key), values.push_back(text);
  each(archive, keys, values);
  values.resize(keys.size());  // of harmed bytes
  for (std::size_t i = 0; i < keys.size(); ++i) map[keys[i]] = values[i];
}
void value(auto& archive, Argument& a) {
  each(archive, a.type, a.name, a.schema_type, a.default_value, a.kwarg_only, a.is_out);
}
void value(auto& archive, AutocastRule& rule) { each(archive, rule.policy, rule.op, rule.arguments); }
void value(auto& archive, Op& op) {
  each(archive, op.name, op.base, op.overload, op.schema, op.returns, op.arguments, op.op_class, op.has_default,
       op.has_dispatch, op.structured, op.structured_delegate, op.structured_inherits, op.is_view,
       op.composite_implicit, op.kernels, op.tags, op.variants, op.kind, op.meta_struct, op.precomputed,
       op.schema_returns, op.python_module, op.method, op.device_guard, op.device_check);
}
void value(auto& archive, Catalog& catalog) {
  std::string dir = catalog.dir_.string();
  each(archive, catalog.version_, catalog.identity_, dir, catalog.ops, catalog.autocast);
  catalog.dir_ = std::move(dir);
}

}  // namespace

std::string to_archive(Catalog catalog) {
  Writer writer;
  value(writer, catalog);
  return std::move(writer.bytes);
}

std::optional<Catalog> from_archive(std::string_view bytes) {
  Reader reader{bytes};
  Catalog catalog;
  value(reader, catalog);
  if (!reader.good || !reader.left.empty()) return {};
  return catalog;
}

}  // namespace openreg_gen
