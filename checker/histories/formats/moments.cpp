#include "checker/histories/formats/moments.hpp"

#include <array>
#include <chrono>
#include <limits>

#include "checker/histories/formats/characters.hpp"

namespace lockstep::checker::history_formats {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// Takes the parts of a moment off a text, from its front.
class Front {
 public:
  explicit Front(std::string_view text) : text_(text) {}

  std::size_t place() const { return place_; }
  bool take(char c) {
    if (place_ == text_.size() || text_[place_] != c) return false;
    ++place_;
    return true;
  }
  bool take(std::string_view word) {
    if (!text_.substr(place_).starts_with(word)) return false;
    place_ += word.size();
    return true;
  }
  bool is_at_letter() const {
    const char c = place_ < text_.size() ? lower(text_[place_]) : ' ';
    return c >= 'a' && c <= 'z';
  }
  bool is_at_digit() const { return place_ < text_.size() && is_digit(text_[place_]); }
  /// So many digits, from `min` to `max`.
  std::optional<int> digits(int count, int min, int max) {
    int n = 0;
    for (int i = 0; i < count; ++i, ++place_) {
      if (!is_at_digit()) return std::nullopt;
      n = n * 10 + (text_[place_] - '0');
    }
    return n < min || n > max ? std::nullopt : std::optional(n);
  }
  /// Digits behind a point, in billionths; those beyond say nothing here.
  std::int64_t fraction() {
    std::int64_t billionths = 0;
    for (std::int64_t unit = kSecond / 10; is_at_digit(); unit /= 10, ++place_)
      billionths += unit * (text_[place_] - '0');
    return billionths;
  }
  /// All digits; nothing: there are none, or too many.
  std::optional<std::int64_t> whole() {
    const std::size_t begin = place_;
    std::int64_t n = 0;
    for (; is_at_digit(); ++place_) {
      const int digit = text_[place_] - '0';
      if (n > (std::numeric_limits<std::int64_t>::max() - digit) / 10) return std::nullopt;
      n = n * 10 + digit;
    }
    return place_ == begin ? std::nullopt : std::optional(n);
  }

 private:
  std::string_view text_;
  std::size_t place_ = 0;
};

/// 12:00:05, 12:00:05.250, 12:00:05,250: ns of the day.
std::optional<std::int64_t> time_of_day(Front& front) {
  const auto hour = front.digits(2, 0, 23);
  if (!hour || !front.take(':')) return std::nullopt;
  const auto minute = front.digits(2, 0, 59);
  if (!minute || !front.take(':')) return std::nullopt;
  const auto second = front.digits(2, 0, 60);
  if (!second || front.is_at_digit()) return std::nullopt;
  std::int64_t time = (std::int64_t{*hour} * 3600 + *minute * 60 + *second) * kSecond;
  Front ahead = front;
  if ((ahead.take('.') || ahead.take(',')) && ahead.is_at_digit()) {
    time += ahead.fraction();
    front = ahead;
  }
  return time;
}

/// Z, +02:00, +0200: by how much a clock there is ahead; nothing is said: not at all.
std::int64_t zone(Front& front) {
  if (front.take('Z')) return 0;
  Front ahead = front;
  const bool is_behind = ahead.take('-');
  if (!is_behind && !ahead.take('+')) return 0;
  const auto hours = ahead.digits(2, 0, 23);
  ahead.take(':');
  const auto minutes = ahead.digits(2, 0, 59);
  if (!hours || !minutes || ahead.is_at_digit()) return 0;
  front = ahead;
  return (is_behind ? -1 : 1) * (std::int64_t{*hours} * 3600 + *minutes * 60) * kSecond;
}

std::optional<Moment> dated(Front front) {
  const auto year = front.digits(4, 1970, 2261);
  const char between = front.take('/') ? '/' : '-';
  if (!year || (between == '-' && !front.take('-'))) return std::nullopt;
  const auto month = front.digits(2, 1, 12);
  if (!month || !front.take(between)) return std::nullopt;
  const auto day = front.digits(2, 1, 31);
  if (!day || (!front.take('T') && !front.take(' '))) return std::nullopt;
  const auto time = time_of_day(front);
  const std::chrono::year_month_day date(std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  if (!time || !date.ok()) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const std::int64_t ahead = zone(front);
  return Moment{Clock::date, days * 86'400 * kSecond + *time - ahead, front.place()};
}

/// 12, 12ms, 1.5s, 12.25.
std::optional<Moment> counted(Front front) {
  const auto whole = front.whole();
  if (!whole) return std::nullopt;
  std::int64_t billionths = 0;
  Front ahead = front;
  const bool has_fraction = ahead.take('.') && ahead.is_at_digit();
  if (has_fraction) {
    billionths = ahead.fraction();
    front = ahead;
  }
  struct Unit {
    std::string_view name;
    std::int64_t ns;
  };
  constexpr std::array<Unit, 5> units{{{"ns", 1}, {"us", 1'000}, {"µs", 1'000}, {"ms", 1'000'000}, {"s", kSecond}}};
  std::int64_t ns = has_fraction ? kSecond : 0;
  for (const Unit& unit : units) {
    Front behind = front;
    if (!behind.take(unit.name) || behind.is_at_letter()) continue;
    ns = unit.ns;
    front = behind;
    break;
  }
  if (ns == 0) return Moment{Clock::plain, *whole, front.place()};
  if (*whole > std::numeric_limits<std::int64_t>::max() / ns - 1) return std::nullopt;
  return Moment{Clock::elapsed, *whole * ns + billionths / (kSecond / ns), front.place()};
}

}  // namespace

std::optional<Moment> moment_at(std::string_view text) {
  if (const auto moment = dated(Front(text))) return moment;
  Front front(text);
  if (const auto time = time_of_day(front)) return Moment{Clock::day, *time, front.place()};
  return counted(Front(text));
}

}  // namespace lockstep::checker::history_formats
