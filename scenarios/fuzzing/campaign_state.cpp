#include "scenarios/fuzzing/campaign_state.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/schedules/random.hpp"

namespace lockstep::scenarios {
namespace {

constexpr std::string_view kHead = "lockstep campaign 3\n";
/// Its runs were drawn otherwise, so no campaign of this version goes on from there.
constexpr std::string_view kOlderHeads[] = {"lockstep campaign 1\n", "lockstep campaign 2\n"};

std::uint64_t sum_of(std::string_view text) {
  std::uint64_t sum = 0;
  for (const char c : text) sum = sim::combine64(sum, static_cast<unsigned char>(c));
  return sum;
}

/// "property|algorithm|faults|reason" without the faults.
std::string without_faults(const std::string& cause) {
  const std::size_t begin = cause.find('|', cause.find('|') + 1);
  return cause.substr(0, begin) + cause.substr(cause.find('|', begin + 1));
}

}  // namespace

bool explains(const FuzzFinding& known, const std::string& cause, const std::vector<std::string>& faults) {
  if (known.cause == cause) return true;
  // What breaks if nothing at all goes wrong says nothing of what faults break.
  return !known.faults.empty() && without_faults(known.cause) == without_faults(cause) &&
         std::includes(faults.begin(), faults.end(), known.faults.begin(), known.faults.end());
}

void add(Writing& out, const FuzzStatistics& s) {
  for (const std::uint64_t n :
       {s.batches, s.runs, s.events, s.violating, static_cast<std::uint64_t>(s.virtual_time.count_ns()), s.features}) {
    out.add(n);
  }
  out.add(s.not_judged.size());
  for (const auto& [reason, runs] : s.not_judged) {
    out.add(reason);
    out.add(runs);
  }
  out.end_line();
}

FuzzStatistics read_statistics(Reading& in) {
  FuzzStatistics s;
  s.batches = in.number();
  s.runs = in.number();
  s.events = in.number();
  s.violating = in.number();
  s.virtual_time = sim::Duration::nanoseconds(static_cast<std::int64_t>(in.number()));
  s.features = in.number();
  for (std::uint64_t n = in.count(); n > 0; --n) {
    std::string reason = in.text();
    s.not_judged[std::move(reason)] = in.number();
  }
  return s;
}

void add(Writing& out, const std::map<std::string, FuzzEvidence>& evidence) {
  out.add(evidence.size());
  for (const auto& [property, e] : evidence) {
    out.add(property);
    out.add(e.judged);
    out.add(e.not_judged);
    out.add(e.why);
  }
  out.end_line();
}

std::map<std::string, FuzzEvidence> read_evidence(Reading& in) {
  std::map<std::string, FuzzEvidence> evidence;
  for (std::uint64_t n = in.count(); n > 0; --n) {
    FuzzEvidence& e = evidence[in.text()];
    e.judged = in.number();
    e.not_judged = in.number();
    e.why = in.text();
  }
  return evidence;
}

void add_not_judged(FuzzStatistics& statistics, const std::string& reason, std::uint64_t runs) {
  constexpr std::size_t kReasons = 8;
  const bool is_one_more = !statistics.not_judged.contains(reason) && statistics.not_judged.size() >= kReasons;
  statistics.not_judged[is_one_more ? "other reasons" : reason] += runs;
}

std::uint64_t count_not_judged(const FuzzStatistics& statistics) {
  std::uint64_t all = 0;
  for (const auto& [reason, runs] : statistics.not_judged) all += runs;
  return all;
}

void merge_into(std::map<std::string, FuzzEvidence>& all, const std::map<std::string, FuzzEvidence>& part) {
  for (const auto& [property, e] : part) {
    FuzzEvidence& sum = all[property];
    sum.judged += e.judged;
    sum.not_judged += e.not_judged;
    if (sum.why.empty()) sum.why = e.why;
  }
}

std::vector<std::string> what_is_open(const CampaignState& state) {
  std::vector<std::string> open;
  if (state.statistics.runs == 0) open.emplace_back("no run was played");
  for (const auto& [reason, runs] : state.statistics.not_judged)
    open.push_back(fmt::format("{} of {} runs not judged: {}", runs, state.statistics.runs, reason));
  for (const auto& [property, evidence] : state.evidence) {
    if (evidence.judged == 0 && evidence.not_judged > 0)
      open.push_back(fmt::format("{} was judged in no run: {}", property, evidence.why));
  }
  return open;
}

void add(Writing& out, const FuzzSeed& seed) {
  const RunDraw& draw = seed.draw;
  for (const std::uint64_t n : {std::uint64_t{seed.target}, seed.world, draw.seed, draw.fault_seed.value_or(0),
                                static_cast<std::uint64_t>(draw.strategy), std::uint64_t{draw.depth}, draw.typical,
                                std::uint64_t{draw.asks_whether_it_recovers}, std::uint64_t{draw.reseeds.size()}}) {
    out.add(n);
  }
  for (const Reseed& reseed : draw.reseeds) {
    out.add(reseed.question);
    out.add(reseed.seed);
  }
  out.end_line();
}

FuzzSeed read_seed(Reading& in) {
  FuzzSeed seed;
  seed.target = in.small();
  seed.world = in.number();
  seed.draw.seed = in.number();
  seed.draw.fault_seed = in.number();
  const std::uint64_t strategy = in.number();
  seed.draw.strategy = static_cast<Strategy>(strategy % strategy_names.size());
  seed.draw.depth = in.small();
  seed.draw.typical = in.number();
  seed.draw.asks_whether_it_recovers = in.number() != 0;
  for (std::uint64_t n = in.count(); n > 0 && in.is_good(); --n) {
    Reseed& reseed = seed.draw.reseeds.emplace_back();
    reseed.question = in.small();
    reseed.seed = in.number();
  }
  return seed;
}

namespace {

void add(Writing& out, const FuzzFinding& f) {
  for (const std::string* text : {&f.property, &f.algorithm, &f.name, &f.cause, &f.why, &f.title, &f.text})
    out.add(*text);
  for (const std::uint64_t n :
       {std::uint64_t{f.target}, f.run, f.after_ms, f.times, f.tried, std::uint64_t{f.is_minimal}})
    out.add(n);
  out.add(f.faults.size());
  for (const std::string& fault : f.faults) out.add(fault);
  out.end_line();
}

FuzzFinding finding(Reading& in) {
  FuzzFinding f;
  for (std::string* text : {&f.property, &f.algorithm, &f.name, &f.cause, &f.why, &f.title, &f.text}) *text = in.text();
  f.target = in.small();
  f.run = in.number();
  f.after_ms = in.number();
  f.times = in.number();
  f.tried = in.number();
  f.is_minimal = in.number() != 0;
  for (std::uint64_t n = in.count(); n > 0; --n) f.faults.push_back(in.text());
  return f;
}

}  // namespace

std::string free_name(const FuzzFinding& finding, const std::vector<FuzzFinding>& others) {
  std::string name = fmt::format("{}-{}", finding.algorithm, finding.property);
  for (const std::string& fault : finding.faults) name += "-" + fault;
  const auto is_taken = [&](const std::string& wanted) {
    return std::any_of(others.begin(), others.end(), [&](const FuzzFinding& f) { return f.name == wanted; });
  };
  if (!is_taken(name)) return name;
  for (int number = 2;; ++number) {
    std::string numbered = fmt::format("{}-{}", name, number);
    if (!is_taken(numbered)) return numbered;
  }
}

void merge_into(CampaignState& all, const CampaignState& part) {
  FuzzStatistics& sum = all.statistics;
  sum.batches += part.statistics.batches;
  sum.runs += part.statistics.runs;
  sum.events += part.statistics.events;
  for (const auto& [reason, runs] : part.statistics.not_judged) add_not_judged(sum, reason, runs);
  merge_into(all.evidence, part.evidence);
  sum.violating += part.statistics.violating;
  sum.virtual_time += part.statistics.virtual_time;
  Coverage coverage;
  for (const Feature feature : all.features) coverage.add(feature);
  for (const Feature feature : part.features) {
    if (coverage.add(feature)) all.features.push_back(feature);
  }
  sum.features = coverage.count();
  all.spent_ms = std::max(all.spent_ms, part.spent_ms);
  for (const FuzzFinding& finding : part.findings) {
    const auto known = std::find_if(all.findings.begin(), all.findings.end(),
                                    [&](const FuzzFinding& f) { return f.cause == finding.cause; });
    if (known != all.findings.end()) {
      known->times += finding.times;
      continue;
    }
    FuzzFinding taken = finding;
    taken.name = free_name(taken, all.findings);
    all.findings.push_back(std::move(taken));
  }
  all.mysteries.insert(all.mysteries.end(), part.mysteries.begin(), part.mysteries.end());
}

std::string to_text(const CampaignState& state) {
  Writing out(kHead);
  out.add(state.fingerprint);
  out.add(state.spent_ms);
  out.end_line();
  add(out, state.statistics);
  out.add(state.features.size());
  for (const Feature feature : state.features) out.add(feature);
  out.end_line();
  out.add(state.corpus.size());
  out.end_line();
  for (const FuzzSeed& seed : state.corpus) add(out, seed);
  out.add(state.shrunk.size());
  for (const auto& [key, times] : state.shrunk) {
    for (const std::uint64_t n :
         {std::uint64_t{std::get<0>(key)}, std::uint64_t{std::get<1>(key)}, std::uint64_t{std::get<2>(key)}, times}) {
      out.add(n);
    }
  }
  out.end_line();
  out.add(state.first.size());
  for (const auto& [key, run] : state.first) {
    out.add(key.first);
    out.add(key.second);
    out.add(run);
  }
  out.end_line();
  add(out, state.evidence);
  out.add(state.findings.size());
  for (const FuzzFinding& finding : state.findings) add(out, finding);
  out.add(state.mysteries.size());
  for (const FuzzMystery& mystery : state.mysteries) {
    out.add(mystery.property);
    out.add(mystery.target);
    out.add(mystery.reason);
    out.add(mystery.text);
  }
  out.end_line();
  std::string text = std::move(out).take();
  return text + fmt::format("{:016x}\n", sum_of(text));
}

std::variant<CampaignState, std::string> parse_campaign(std::string_view text) {
  for (const std::string_view older : kOlderHeads) {
    if (text.starts_with(older)) return "it is of an earlier version of lockstep; begin anew, with another --found";
  }
  if (!text.starts_with(kHead)) return "it is no campaign of this version of lockstep";
  constexpr std::size_t sum_size = 17;
  if (text.size() < kHead.size() + sum_size) return "it is cut off";
  const std::string_view content = text.substr(0, text.size() - sum_size);
  if (text.substr(content.size()) != fmt::format("{:016x}\n", sum_of(content))) return "it is cut off, or was changed";
  Reading in(content.substr(kHead.size()));
  CampaignState state;
  state.fingerprint = in.number();
  state.spent_ms = in.number();
  state.statistics = read_statistics(in);
  for (std::uint64_t n = in.count(); n > 0; --n) state.features.push_back(in.small() % Coverage::size);
  for (std::uint64_t n = in.count(); n > 0; --n) state.corpus.push_back(read_seed(in));
  for (std::uint64_t n = in.count(); n > 0; --n) {
    const std::uint32_t target = in.small();
    const std::uint32_t property = in.small();
    const std::uint32_t kinds = in.small();
    state.shrunk[{target, property, kinds}] = in.number();
  }
  for (std::uint64_t n = in.count(); n > 0; --n) {
    const std::uint32_t target = in.small();
    const std::uint32_t property = in.small();
    state.first[{target, property}] = in.number();
  }
  state.evidence = read_evidence(in);
  for (std::uint64_t n = in.count(); n > 0; --n) state.findings.push_back(finding(in));
  for (std::uint64_t n = in.count(); n > 0; --n) {
    FuzzMystery& mystery = state.mysteries.emplace_back();
    mystery.property = in.text();
    mystery.target = in.small();
    mystery.reason = in.text();
    mystery.text = in.text();
  }
  if (!in.is_good() || !in.is_at_end()) return "it cannot be read";
  return state;
}

}  // namespace lockstep::scenarios
