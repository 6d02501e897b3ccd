#include "models/locks/parameters.hpp"

#include <array>
#include <catch2/catch.hpp>

namespace lockstep::parameters_test {

namespace {

using namespace lockstep::models::locks;
using namespace lockstep::sim::literals;
using lockstep::sim::DurationRange;

constexpr std::array<std::string_view, 2> kModes{"strict", "lenient"};

const std::array<ParameterSpec, 5> kSpecs{{{"ttl", 100_ms, "how long the key lives"},
                                           {"retry", DurationRange{1_ms, 5_ms}, "between attempts"},
                                           {"attempts", std::int64_t{1}, "how often", {}, 1},
                                           {"checked", true, "whether it looks"},
                                           {"mode", std::string("strict"), "how", kModes}}};

}  // namespace

TEST_CASE("parameters: what a file does not set has the algorithm's default") {
  Parameters parameters(kSpecs);
  parameters.set("ttl", 3_s);
  parameters.set("mode", std::string("lenient"));
  CHECK(parameters.duration("ttl") == 3_s);
  CHECK(parameters.range("retry") == DurationRange{1_ms, 5_ms});
  CHECK(parameters.number("attempts") == 1);
  CHECK(parameters.flag("checked"));
  CHECK(parameters.choice("mode") == "lenient");
  CHECK(parameters.find("retries") == nullptr);
  CHECK(parameters.find("retry")->meaning == "between attempts");
}

TEST_CASE("parameters: kinds as people read them") {
  CHECK(kind_of(kSpecs[0]) == "duration");
  CHECK(kind_of(kSpecs[1]) == "duration range");
  CHECK(kind_of(kSpecs[2]) == "whole number");
  CHECK(kind_of(kSpecs[3]) == "true or false");
  CHECK(kind_of(kSpecs[4]) == "one of strict, lenient");
}

}  // namespace lockstep::parameters_test
