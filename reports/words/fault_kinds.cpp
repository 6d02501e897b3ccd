#include "reports/words/fault_kinds.hpp"

#include <array>

namespace lockstep::reports {
namespace {

constexpr std::array<FaultKind, 7> kKinds{{
    {"pause", "fault, may",
     "A process freezes, with its timers and all that it is about to send; what arrives meanwhile waits."},
    {"crash", "fault, may", "A process dies and loses what is not durable; it may come back later."},
    {"jump", "fault, may", "A process's wall clock moves, forward or back; its monotonic clock does not."},
    {"lose", "fault, may", "One request or one reply never arrives: its sender does not know what became of it."},
    {"delay", "fault, may", "One request or one reply takes longer than the network by itself would make it."},
    {"partition", "fault, may", "For a while no message passes between two groups of processes."},
    {"skew", "may", "A process's wall clock is off from the beginning."},
}};

}  // namespace

std::span<const FaultKind> fault_kinds() { return kKinds; }

}  // namespace lockstep::reports
