#include "reports/json/json.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

namespace lockstep::reports {
namespace {

/// Most texts need no escapes, and the library takes ten times as long to find that out.
std::string json_string(std::string_view text) {
  const bool is_plain =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7f && c != '"' && c != '\\'; });
  if (is_plain) return std::string("\"").append(text) + '"';
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

Json::Json(std::string_view text) : text_(json_string(text)) {}

Json::Json(double number) : text_(nlohmann::json(number).dump()) {}

Json::Json(std::initializer_list<Member> members) : kind_(Kind::object) {
  for (const Member& member : members) (*this)[member.name] = std::move(member.value);
}

Json Json::object() { return Json(std::initializer_list<Member>()); }

Json Json::array(std::initializer_list<Json> values) { return Json(std::vector<Json>(values)); }

bool Json::contains(std::string_view name) const {
  return std::find(names_.begin(), names_.end(), name) != names_.end();
}

Json& Json::operator[](std::string_view name) {
  const auto found = static_cast<std::size_t>(std::find(names_.begin(), names_.end(), name) - names_.begin());
  if (found < names_.size()) return values_[found];
  kind_ = Kind::object;
  names_.emplace_back(name);
  return values_.emplace_back();
}

void Json::update(const Json& object) {
  for (std::size_t i = 0; i < object.size(); ++i) (*this)[object.names_[i]] = object.values_[i];
}

void Json::erase(std::string_view name) {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) return;
  values_.erase(values_.begin() + (found - names_.begin()));
  names_.erase(found);
}

void Json::push_back(Json value) {
  kind_ = Kind::array;
  values_.push_back(std::move(value));
}

std::string Json::dump(std::size_t indent) const {
  std::string out;
  write(out, indent, 0);
  return out;
}

void Json::write(std::string& out, std::size_t indent, std::size_t depth) const {
  if (kind_ == Kind::scalar) {
    out += text_;
    return;
  }
  const bool is_object = kind_ == Kind::object;
  const auto break_line = [&](std::size_t to_depth) {
    if (indent > 0) out.append(1, '\n').append(to_depth * indent, ' ');
  };
  out += is_object ? '{' : '[';
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (i > 0) out += ',';
    break_line(depth + 1);
    if (is_object) out.append(json_string(names_[i])).append(indent > 0 ? ": " : ":");
    values_[i].write(out, indent, depth + 1);
  }
  if (!values_.empty()) break_line(depth);
  out += is_object ? '}' : ']';
}

}  // namespace lockstep::reports
