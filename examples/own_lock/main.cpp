// A complete Lockstep that knows one algorithm more:
//
//   own_lock list algorithms
//   own_lock run crash_between.toml

#include <iostream>
#include <string>
#include <vector>

#include "cli/run.hpp"
#include "incr_expire.hpp"

int main(int count, char** arguments) {
  auto catalogue = lockstep::models::locks::Catalogue::built_in();
  catalogue.add(own_lock::incr_expire());
  const std::vector<std::string> args(arguments + 1, arguments + count);
  return lockstep::cli::run(args, std::cout, std::cerr, catalogue, {});
}
