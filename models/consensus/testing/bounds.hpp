#pragma once

// The bounds within which tests and the hunt explore.

#include <string_view>
#include <vector>

#include "models/consensus/testing/exploration.hpp"

namespace lockstep::models::consensus::testing {

struct NamedBounds {
  std::string_view name;
  Bounds bounds;
};

/// Of a few seconds each.
inline std::vector<NamedBounds> small_bounds() {
  std::vector<NamedBounds> all;
  const auto add = [&](std::string_view name, auto set) { set(all.emplace_back(NamedBounds{name, {}}).bounds); };
  add("1 term, 1 proposal, any number of messages", [](Bounds& b) {
    b.term_max = 1;
    b.proposals = 1;
  });
  add("2 terms, 3 messages", [](Bounds& b) { b.under_way_max = 3; });
  add("2 terms, 2 messages, any crashes", [](Bounds& b) {
    b.under_way_max = 2;
    b.crashes = kAny;
  });
  add("2 terms, 2 messages, 1 proposal, 1 crash", [](Bounds& b) {
    b.under_way_max = 2;
    b.proposals = 1;
    b.crashes = 1;
  });
  add("2 terms, 2 messages, any duplicates, commits announced", [](Bounds& b) {
    b.under_way_max = 2;
    b.duplicates = kAny;
    b.replica.announces_commit = true;
  });
  add("2 terms, 2 messages, 1 read, 1 quorum check", [](Bounds& b) {
    b.under_way_max = 2;
    b.reads = 1;
    b.quorum_checks = 1;
  });
  add("2 terms, 2 messages, 1 crash, what is committed saved, one entry a message", [](Bounds& b) {
    b.under_way_max = 2;
    b.crashes = 1;
    b.heartbeats = 1;
    b.replica.saves_commit = true;
    b.replica.entries_per_message_max = 1;
  });
  add("2 terms, 2 messages, pre-vote", [](Bounds& b) {
    b.under_way_max = 2;
    b.replica.pre_vote = true;
  });
  add("5 nodes, 1 term, 2 messages", [](Bounds& b) {
    b.replica.nodes = 5;
    b.term_max = 1;
    b.under_way_max = 2;
  });
  return all;
}

/// Of minutes, and gigabytes.
inline std::vector<NamedBounds> large_bounds() {
  std::vector<NamedBounds> all;
  const auto add = [&](std::string_view name, auto set) { set(all.emplace_back(NamedBounds{name, {}}).bounds); };
  add("2 terms, any number of messages", [](Bounds&) {});
  add("3 terms, 2 messages", [](Bounds& b) {
    b.term_max = 3;
    b.under_way_max = 2;
  });
  add("2 terms, 2 messages, 1 proposal, any duplicates, commits announced", [](Bounds& b) {
    b.under_way_max = 2;
    b.proposals = 1;
    b.duplicates = kAny;
    b.replica.announces_commit = true;
  });
  add("2 terms, 2 messages, 1 proposal, 1 crash, 1 duplicate", [](Bounds& b) {
    b.under_way_max = 2;
    b.proposals = 1;
    b.crashes = 1;
    b.duplicates = 1;
  });
  add("2 terms, 2 messages, 1 proposal, 1 read, 1 crash", [](Bounds& b) {
    b.under_way_max = 2;
    b.proposals = 1;
    b.reads = 1;
    b.crashes = 1;
  });
  add("2 terms, 3 messages, 1 proposal", [](Bounds& b) {
    b.under_way_max = 3;
    b.proposals = 1;
  });
  add("4 terms, 2 messages, one entry a message", [](Bounds& b) {
    b.term_max = 4;
    b.under_way_max = 2;
    b.replica.entries_per_message_max = 1;
  });
  return all;
}

}  // namespace lockstep::models::consensus::testing
