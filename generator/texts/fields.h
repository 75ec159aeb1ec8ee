// A struct's one list of fields, as JSON: `void print(Fields out) const { out("name", name)("count", count); }`.
#pragma once

#include <nlohmann/json.hpp>

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

  /// Of a struct, a pointer to one, a list of either, or what JSON has itself.
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
