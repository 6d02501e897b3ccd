#pragma once

// A run as a space-time diagram: lanes, rows, messages, bars. What there is to draw; where it goes is `axis.hpp`'s
// business. Start here.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/run/events.hpp"
#include "reports/run/verdicts.hpp"

namespace lockstep::reports::picture {

struct DiagramLane {
  sim::ProcessId process;
  scenarios::Lane::Role role = scenarios::Lane::Role::client;
  std::string name;
  bool has_own_time = false;  ///< its clock differs from true time somewhere
};

/// A moment of the run: rows are ordered by time, and within one time by step.
struct Place {
  sim::Instant at;
  sim::Step step = 0;
};

struct DiagramRow {
  Event event;
  std::string text_zh;
  bool is_evidence = false;          ///< of a property that broke
  std::vector<std::string> overlap;  ///< who believes to hold at once
  std::optional<std::size_t> arrow;  ///< of `messages`: what it is about
};

struct DiagramMessage {
  sim::ProcessId from, to;
  Place sent, handled;  ///< lost: `handled` is when it would have come
  bool is_reply = false;
  bool is_lost = false;
  std::string name;  ///< "SETNX"
  std::string text;  ///< all of it
  std::size_t row = 0;
};

struct DiagramBar {
  enum class Kind : std::uint8_t {
    belief,   ///< a client believes that it holds the lock
    lease,    ///< a server has the lock's key
    overdue,  ///< the same beyond its end: no command has come upon it yet
    paused,
    dead
  };
  Kind kind = Kind::belief;
  sim::ProcessId process;
  std::size_t column = 0;  ///< bars of one lane beside each other, from 0
  Place from;
  std::optional<Place> to;  ///< nothing: until the end of the diagram
  std::string label;        ///< lease: whose key it is; else empty
  std::string what;         ///< for people, in English
  std::string what_zh;
};

/// More hold the lock at once than may.
struct DiagramOverlap {
  Place from;
  std::optional<Place> to;
  std::vector<std::string> who;
};

struct Diagram {
  std::vector<DiagramLane> lanes;  ///< clients, then the probe, servers, sentinels, the resource
  std::vector<DiagramRow> rows;
  std::vector<DiagramMessage> messages;
  std::vector<DiagramBar> bars;
  std::vector<DiagramOverlap> overlaps;
  sim::Instant end;               ///< of the last row
  std::size_t folded = 0;         ///< rows that stand for others that are like them
  std::size_t rows_left_out = 0;  ///< of a story that is too long

  std::optional<std::size_t> lane_of(sim::ProcessId process) const;
};

struct DiagramOptions {
  std::size_t rows_max = 2000;
};

/// Requires: the outcome has a trace and key states.
Diagram diagram_of(const Story& story, const DiagramOptions& options = {});

}  // namespace lockstep::reports::picture
