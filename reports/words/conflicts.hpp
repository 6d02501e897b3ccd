#pragma once

// Why no order explains what the clients of a lock were told, in plain words. The checker says of which operations it
// is so; here stands what that means.

#include <optional>
#include <string>
#include <string_view>

#include "reports/run/verdicts.hpp"

namespace lockstep::reports {

/// "A's acquire (0ms to 11ms) and B's acquire (91ms to 102ms): both were told that they got the lock, and A had not
/// released it", of the reason that `linearizable` gives. Nothing: it is another reason.
std::optional<std::string> conflict_in(Language language, std::string_view reason);

}  // namespace lockstep::reports
