#include "checker/properties/verdict.hpp"

namespace lockstep::checker {

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds: return "holds";
    case Verdict::violated: return "violated";
    case Verdict::unknown: return "unknown";
    case Verdict::not_judged: return "not judged";
  }
  return "unknown";
}

std::string_view to_string(View view) {
  switch (view) {
    case View::belief: return "belief";
    case View::server: return "server";
    case View::damage: return "damage";
  }
  return "belief";
}

}  // namespace lockstep::checker
