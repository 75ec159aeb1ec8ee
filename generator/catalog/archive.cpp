// One list of fields serves both ways.
#include "catalog/build.h"

#include <cstring>

namespace openreg_gen {
namespace {

constexpr std::uint64_t kMagic = 0x0a4743'5247'4f1aU;  // not text, and a newline that a text-mode copy would break

/// A sum over 8-byte words: the file is read on every run, and bytewise hashing would cost as much as all the rest.
std::uint64_t checksum(std::string_view bytes) {
  std::uint64_t sum = bytes.size();
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min<std::size_t>(8, bytes.size() - i));
    sum = (sum ^ word) * 0x9e3779b97f4a7c15U;
    sum ^= sum >> 29;
  }
  return sum;
}

class Writer {
 public:
  std::string bytes;
  void number(const std::uint64_t& n) { bytes.append(reinterpret_cast<const char*>(&n), sizeof n); }
  void count(const std::size_t& n) {
    const auto small = static_cast<std::uint32_t>(n);
    bytes.append(reinterpret_cast<const char*>(&small), sizeof small);
  }
  void field(const std::string& text) {
    count(text.size());
    bytes += text;
  }
  void field(const bool& flag) { bytes += flag ? '\1' : '\0'; }
  template <typename E>
    requires std::is_enum_v<E>
  void field(const E& e) {
    bytes += static_cast<char>(e);
  }
  void field(const std::map<std::string, std::string>& map) {
    count(map.size());
    for (const auto& [key, value] : map) {
      field(key);
      field(value);
    }
  }
  template <typename T>
  void field(const std::vector<T>& list) {
    count(list.size());
    for (const auto& item : list) field(item);
  }
  template <typename T>
    requires std::is_class_v<T>
  void field(const T& record) {
    each_field(*this, record);
  }
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}
  bool good() const { return good_; }
  bool at_end() const { return left_.empty(); }

  void number(std::uint64_t& n) { raw(&n, sizeof n); }
  std::size_t count() {
    std::uint32_t n = 0;
    raw(&n, sizeof n);
    // Whatever is counted takes a byte at least: a wild count must not become a wild allocation.
    if (n > left_.size()) good_ = false;
    return good_ ? n : 0;
  }
  void field(std::string& text) {
    const auto size = count();
    text.assign(left_.data(), size);
    left_.remove_prefix(size);
  }
  void field(bool& flag) {
    char c = 0;
    raw(&c, 1);
    flag = c != 0;
  }
  template <typename E>
    requires std::is_enum_v<E>
  void field(E& e) {
    char c = 0;
    raw(&c, 1);
    e = static_cast<E>(c);
  }
  void field(std::map<std::string, std::string>& map) {
    for (auto n = count(); n > 0; --n) {
      std::string key;
      field(key);
      field(map.emplace_hint(map.end(), std::move(key), "")->second);
    }
  }
  template <typename T>
  void field(std::vector<T>& list) {
    list.resize(count());
    for (auto& item : list) field(item);
  }
  template <typename T>
    requires std::is_class_v<T>
  void field(T& record) {
    each_field(*this, record);
  }

 private:
  void raw(void* to, std::size_t size) {
    if (left_.size() < size) {
      good_ = false;
      return;
    }
    std::memcpy(to, left_.data(), size);
    left_.remove_prefix(size);
  }
  std::string_view left_;
  bool good_ = true;
};

template <typename Archive, typename... Fields>
void fields(Archive& archive, Fields&... each) {
  (archive.field(each), ...);
}

template <typename Archive, typename A>
  requires std::is_same_v<std::remove_const_t<A>, Argument>
void each_field(Archive& archive, A& a) {
  fields(archive, a.type, a.name, a.schema_type, a.default_value, a.kwarg_only, a.is_out);
}

template <typename Archive, typename O>
  requires std::is_same_v<std::remove_const_t<O>, Op>
void each_field(Archive& archive, O& op) {
  fields(archive, op.name, op.base, op.overload, op.schema, op.returns, op.arguments, op.op_class, op.has_default,
         op.has_dispatch, op.structured, op.structured_delegate, op.structured_inherits, op.is_view,
         op.composite_implicit, op.kernels, op.tags, op.variants, op.kind, op.meta_struct, op.precomputed,
         op.schema_returns, op.python_module, op.method, op.device_guard, op.device_check);
}

}  // namespace

std::string to_archive(const Catalog& catalog, std::uint64_t key) {
  Writer body;
  body.field(catalog.version_);
  body.field(catalog.identity_);
  body.field(catalog.dir_.string());
  body.field(catalog.ops);
  Writer head;
  head.number(kMagic);
  head.number(key);
  head.number(checksum(body.bytes));
  return std::move(head.bytes) + body.bytes;
}

std::optional<Catalog> from_archive(std::string_view bytes, std::uint64_t key) {
  constexpr std::size_t head_size = 3 * sizeof(std::uint64_t);
  Reader head(bytes.substr(0, std::min(head_size, bytes.size())));
  std::uint64_t magic = 0, found_key = 0, sum = 0;
  head.number(magic);
  head.number(found_key);
  head.number(sum);
  if (!head.good() || magic != kMagic || found_key != key || sum != checksum(bytes.substr(head_size))) return {};
  Reader body(bytes.substr(head_size));
  Catalog catalog;
  std::string dir;
  body.field(catalog.version_);
  body.field(catalog.identity_);
  body.field(dir);
  body.field(catalog.ops);
  catalog.dir_ = std::move(dir);
  if (!body.good() || !body.at_end()) return {};
  return catalog;
}

}  // namespace openreg_gen
