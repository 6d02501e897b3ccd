#include "scenarios/exploring/checkpoint.hpp"

#include <fmt/format.h>

#include "scenarios/format/writer.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::scenarios {
namespace {

std::uint64_t digest_of(std::string_view text) {
  std::uint64_t digest = text.size();
  for (const char c : text) digest = sim::combine64(digest, static_cast<unsigned char>(c));
  return digest;
}

}  // namespace

std::string end_of_checkpoint(std::string_view body) { return fmt::format("end {}\n", digest_of(body)); }

bool is_whole_checkpoint(std::string_view text) {
  const std::size_t last = text.rfind("\nend ");
  if (last == std::string_view::npos) return false;
  return text.substr(last + 1) == end_of_checkpoint(text.substr(0, last + 1));
}

std::uint64_t identity_of_checkpoint(const Scenario& scenario, std::string_view how) {
  Scenario explored = without_positions(scenario);
  explored.expect_run.clear();
  explored.expect_check.clear();
  explored.expect_traces.reset();
  return digest_of(identity_of(explored).append(how));
}

std::optional<Diagnostic> read_begin(std::istream& in, const std::string& name, std::uint64_t identity,
                                     const std::string& story) {
  std::string first;
  std::getline(in, first);
  std::uint64_t known = 0;
  if (first != kCheckpointBegin) {
    return Diagnostic{
        name, {1, 1}, "this is no checkpoint of this version of lockstep; leave out --resume to begin anew"};
  }
  in >> known;
  if (in && known == identity) return std::nullopt;
  return Diagnostic{name,
                    {2, 1},
                    fmt::format("this checkpoint belongs to another story than {}, or to another way of exploring it; "
                                "leave out --resume to begin anew",
                                story)};
}

}  // namespace lockstep::scenarios
