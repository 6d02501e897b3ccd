#pragma once

// For tests: the program called as from a shell, and what it wrote.

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/run.hpp"

namespace lockstep::cli {

struct Called {
  int exit = 0;
  std::string out, err;
};

inline Called called(const std::vector<std::string>& args, Terminal terminal = {}) {
  std::ostringstream out;
  std::ostringstream err;
  const int exit = run(args, out, err, models::locks::Catalogue::built_in(), terminal);
  return {exit, out.str(), err.str()};
}

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace lockstep::cli
