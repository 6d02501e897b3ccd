#include <iostream>

#include "sim/time.hpp"

int main() {
  using namespace lockstep::sim::literals;
  std::cout << "a lease of " << lockstep::sim::to_string(30_s) << "\n";
}
