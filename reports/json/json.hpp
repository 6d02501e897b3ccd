#pragma once

// JSON that is written; what others wrote is read with nlohmann's library. That one instantiates templates for the
// length of every key and the type of every value, which took a sixth of the time in which this folder compiles.

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::reports {

/// Members stay in the order in which they were added.
class Json {
 public:
  struct Member;

  Json() = default;  ///< null
  Json(std::string_view text);
  Json(const std::string& text) : Json(std::string_view(text)) {}
  Json(const char* text) : Json(std::string_view(text)) {}
  Json(bool is_so) : text_(is_so ? "true" : "false") {}
  Json(double number);
  Json(std::integral auto number) : text_(std::to_string(number)) {}
  template <class T>
  Json(const std::optional<T>& value) : Json(value ? Json(*value) : Json()) {}
  template <class T>
  Json(const std::vector<T>& values) : kind_(Kind::array) {
    for (const T& value : values) push_back(value);
  }
  /// An object.
  Json(std::initializer_list<Member> members);
  static Json object();
  static Json array(std::initializer_list<Json> values = {});
  /// Null if it is empty.
  static Json if_any(std::string_view text) { return text.empty() ? Json() : Json(text); }

  bool is_null() const { return kind_ == Kind::scalar && text_ == "null"; }
  bool contains(std::string_view name) const;
  std::size_t size() const { return values_.size(); }  ///< of an array or an object
  const std::vector<std::string>& names() const { return names_; }

  /// The member of an object, added if there is none. Null becomes an object, and with `push_back` an array.
  Json& operator[](std::string_view name);
  void update(const Json& object);
  void erase(std::string_view name);
  void push_back(Json value);
  Json& back() { return values_.back(); }

  /// On one line; with an indent, on one for each value. Bytes that are no UTF-8 (Redis keeps any) become U+FFFD: a
  /// document is always valid.
  std::string dump(std::size_t indent = 0) const;

 private:
  enum class Kind : char { scalar, array, object };

  void write(std::string& out, std::size_t indent, std::size_t depth) const;

  Kind kind_ = Kind::scalar;
  std::string text_ = "null";       ///< of a scalar, as it is written
  std::vector<std::string> names_;  ///< of an object's `values_`
  std::vector<Json> values_;
};

struct Json::Member {
  std::string_view name;
  mutable Json value;  ///< moved into its object: the members of a list are const
};

}  // namespace lockstep::reports
