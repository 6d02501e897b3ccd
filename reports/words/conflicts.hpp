#pragma once

// Why no order explains what the clients of a lock were told, in plain words. The checker says of which operations it
// is so; here stands what that means.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "reports/run/verdicts.hpp"

namespace lockstep::reports {

/// An operation of a lock, of those that no order explains together.
struct ConflictingOperation {
  std::string who;
  std::string what;     ///< "acquire", "release", "reenter"
  bool is_told = true;  ///< its client knows what became of it
};

/// "both were told that they got the lock, and A had not released it". Of a semaphore with so many `places`; of a lock,
/// if there are none said. Nothing: no few words tell it.
std::optional<std::string> conflict_meaning(Language language, std::span<const ConflictingOperation> operations,
                                            std::string_view places = {});

/// "A's acquire (0ms to 11ms) and B's acquire (91ms to 102ms): both were told that they got the lock, and A had not
/// released it", of the reason that `linearizable` gives. Nothing: it is another reason.
std::optional<std::string> conflict_in(Language language, std::string_view reason);

}  // namespace lockstep::reports
