// A struct's one list of fields, as JSON: `void print(Fields out) const { PRINT_FIELDS(out, name, count)("sum", a + b);
// }`.
#pragma once

#include <nlohmann/json.hpp>

#include <string_view>

/// Fields under the names that they have in the struct.
#define PRINT_FIELDS(out, ...) out.named(#__VA_ARGS__, __VA_ARGS__)

namespace openreg_gen {

class Fields;
template <typename T>
concept Printable = requires(const T& value, Fields& out) { value.print(out); };
template <typename T>
concept PointsToPrintable = requires(const T& value, Fields& out) { value->print(out); };
template <typename T>
concept ListsPrintable = Printable<typename T::value_type> || PointsToPrintable<typename T::value_type>;

class Fields {
 public:
  explicit Fields(nlohmann::json& into) : into_(into) {}

  template <typename T>
  Fields& operator()(const char* name, const T& value) {
    into_[name] = json_of(value);
    return *this;
  }

  /// `names`: of each value, with ", " between them.
  template <typename... T>
  Fields& named(std::string_view names, const T&... values) {
    const auto next = [&](const auto& value) {
      into_[std::string(names.substr(0, names.find(',')))] = json_of(value);
      names.remove_prefix(std::min(names.find(' '), names.size() - 1) + 1);
    };
    (next(values), ...);
    return *this;
  }

  /// For a struct, a pointer to one, a list of either, or a type of JSON.
  template <typename T>
  static nlohmann::json json_of(const T& value) {
    if constexpr (Printable<T>) {
      auto out = nlohmann::json::object();
      value.print(Fields(out));
      return out;
    } else if constexpr (PointsToPrintable<T>) {
      return json_of(*value);
    } else if constexpr (ListsPrintable<T>) {
      auto out = nlohmann::json::array();
      for (const auto& each : value) out.push_back(json_of(each));
      return out;
    } else {
      return value;
    }
  }

 private:
  nlohmann::json& into_;
};

}  // namespace openreg_gen
