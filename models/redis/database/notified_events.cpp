#include "models/redis/database/notified_events.hpp"

#include <algorithm>
#include <array>

namespace lockstep::models::redis {
namespace {

struct Letter {
  char letter;
  EventClass which;
};

/// In the order in which CONFIG GET prints them; the first nine are A.
constexpr std::size_t kAll = 10;
constexpr std::array kLetters = std::to_array<Letter>({{'g', EventClass::generic},
                                                       {'$', EventClass::string},
                                                       {'l', EventClass::list},
                                                       {'s', EventClass::set},
                                                       {'h', EventClass::hash},
                                                       {'z', EventClass::sorted_set},
                                                       {'x', EventClass::expired},
                                                       {'e', EventClass::evicted},
                                                       {'t', EventClass::stream},
                                                       {'d', EventClass::module},
                                                       {'n', EventClass::created},
                                                       {'K', EventClass::by_key},
                                                       {'E', EventClass::by_event},
                                                       {'m', EventClass::missed}});

}  // namespace

std::optional<NotifiedEvents> NotifiedEvents::read(std::string_view letters) {
  NotifiedEvents events;
  for (const char letter : letters) {
    if (letter == 'A') {
      for (std::size_t i = 0; i < kAll; ++i) events.bits_ |= static_cast<std::uint16_t>(kLetters[i].which);
      continue;
    }
    const auto found =
        std::find_if(kLetters.begin(), kLetters.end(), [&](const Letter& l) { return l.letter == letter; });
    if (found == kLetters.end()) return std::nullopt;
    events.bits_ |= static_cast<std::uint16_t>(found->which);
  }
  return events;
}

/// As a real server, which forgets to say `n` beside `A`.
std::string NotifiedEvents::letters() const {
  const bool is_all =
      std::all_of(kLetters.begin(), kLetters.begin() + kAll, [&](const Letter& l) { return has(l.which); });
  std::string text = is_all ? "A" : "";
  for (const auto& [letter, which] : kLetters) {
    const bool is_said = is_all && (which < EventClass::missed);
    if (has(which) && !is_said) text += letter;
  }
  return text;
}

}  // namespace lockstep::models::redis
