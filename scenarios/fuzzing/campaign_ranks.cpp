// What the processes of one campaign tell each other: what each has played, and what it has made small.

#include <cassert>

#include "scenarios/fuzzing/campaign.hpp"

namespace lockstep::scenarios {

void Campaign::exchange(std::vector<Unit>& units) const {
  const auto write = [&](Writing& out, std::size_t i) {
    const Unit& unit = units[i];
    add(out, unit.statistics);
    add(out, unit.evidence);
    out.add(unit.features.size());
    for (const Feature feature : unit.features) out.add(feature);
    out.add(unit.seeds.size());
    for (const FuzzSeed& seed : unit.seeds) add(out, seed);
    out.add(unit.candidates.size());
    for (const Candidate& candidate : unit.candidates) {
      add(out, candidate.seed);
      for (const std::uint64_t n :
           {std::uint64_t{candidate.property}, std::uint64_t{candidate.kinds}, candidate.run, candidate.events}) {
        out.add(n);
      }
    }
  };
  const auto read = [&](Reading& in, std::size_t i) {
    Unit& unit = units[i];
    unit.statistics = read_statistics(in);
    unit.evidence = read_evidence(in);
    for (std::uint64_t n = in.count(); n > 0; --n) unit.features.push_back(in.small());
    for (std::uint64_t n = in.count(); n > 0; --n) unit.seeds.push_back(read_seed(in));
    for (std::uint64_t n = in.count(); n > 0; --n) {
      Candidate& candidate = unit.candidates.emplace_back();
      candidate.seed = read_seed(in);
      candidate.property = in.small();
      candidate.kinds = in.small();
      candidate.run = in.number();
      candidate.events = in.number();
      if (candidate.seed.target < targets_.size())
        candidate.seed.draw.properties = targets_[candidate.seed.target].properties;
    }
  };
  [[maybe_unused]] const bool is_read = share(options_.ranks, units.size(), write, read);
  assert(is_read && "all ranks run the same program");
}

void Campaign::exchange(std::vector<Small>& smalls) const {
  const auto write = [&](Writing& out, std::size_t i) {
    const Small& small = smalls[i];
    for (const std::string* text : {&small.cause, &small.why, &small.title, &small.text}) out.add(*text);
    out.add(small.tried);
    out.add(std::uint64_t{small.is_minimal});
    out.add(small.faults.size());
    for (const std::string& fault : small.faults) out.add(fault);
  };
  const auto read = [&](Reading& in, std::size_t i) {
    Small& small = smalls[i];
    for (std::string* text : {&small.cause, &small.why, &small.title, &small.text}) *text = in.text();
    small.tried = in.number();
    small.is_minimal = in.number() != 0;
    for (std::uint64_t n = in.count(); n > 0; --n) small.faults.push_back(in.text());
  };
  [[maybe_unused]] const bool is_read = share(options_.ranks, smalls.size(), write, read);
  assert(is_read && "all ranks run the same program");
}

}  // namespace lockstep::scenarios
