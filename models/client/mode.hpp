#pragma once

#include <cstdint>

namespace lockstep::models {

/// How a client takes a lock that can be shared.
enum class Mode : std::uint8_t { exclusive, shared };

}  // namespace lockstep::models
