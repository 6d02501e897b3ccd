#pragma once

// Jepsen's text logs, in which each event is a line of four or more columns: process, type, function, value, and then
// an error. What stands before them depends on the version:
//
//   INFO  jepsen.util - 0  :invoke  :write  3                                             log of 2014 to 2016
//   INFO [2019-11-04 16:33:04,523] jepsen worker 1 - jepsen.util 1  :invoke  :read  nil      log of 2016 to 2020
//   2021-02-26 23:39:01,303{GMT}  INFO  [jepsen worker 1] jepsen.util: 1  :ok  :write  [0 2]    log since then
//   0  :invoke  :write  3                                                                history.txt
//
// Columns are divided by tabs, or by blanks. Lines of a log that are no events (its other messages, stack traces) are
// passed over and counted; but what says `jepsen.util` and then a process, or begins with a process, has to be one.
// (Indented it need not: since Jepsen 0.2 a log has the test as a map in it, with a line that begins with ` :nemesis`.)

#include "checker/histories/formats/edn.hpp"

namespace lockstep::checker::history_formats {

class LogEvents : public EventReader {
 public:
  explicit LogEvents(Window& window) : EventReader(window), next_(window.begin()) {}
  Step next(Event& event) override;

 private:
  /// The columns of an event, from its process on.
  bool columns(const char* begin, const char* end, Event& event);
  Step bad(const char* at, std::string message) { return fail({at, std::move(message), {}, {}}); }

  const char* next_;  ///< the next line
  EdnValues values_;
  EventParts parts_;
  Complaint complaint_;
};

/// Where the columns of an event begin in this line; null if it is another message.
const char* event_in_log_line(std::string_view line);

}  // namespace lockstep::checker::history_formats
