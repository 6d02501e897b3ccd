#pragma once

// `lockstep play` without its socket: requests in, answers out. Start here.
//
// A page that this answers with holds a story's text and what comes of it, and asks again after each change. What it
// can ask is in `kQuestions` (bench.cpp); the story is the page's, and is sent with each question: nothing but the last
// check, the last histories and the last places of executions that are chosen event by event is kept here.

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "models/locks/catalogue.hpp"
#include "reports/play/background_check.hpp"
#include "reports/play/request.hpp"
#include "reports/play/stepping/stepping_page.hpp"

namespace lockstep::reports::play {

struct BenchSetup {
  Door door;
  std::filesystem::path file;    ///< as messages and commands name the story
  std::filesystem::path folder;  ///< where stories are saved
  std::string text;              ///< to begin with
  unsigned jobs = 1;             ///< threads of a check
};

class Bench {
 public:
  /// What a story may do in one run, so that none hangs the page.
  static constexpr std::uint64_t kEventsMax = 200'000;
  static constexpr double kHistorySecondsMax = 20;
  static constexpr double kSecondsMax = 10;  ///< of every other question
  static constexpr std::size_t kHistoriesKept = 8;

  /// `stopwatch`: seconds since some moment; asked from any thread. Requires: `catalogue` outlives it.
  Bench(BenchSetup setup, const models::locks::Catalogue& catalogue, std::function<double()> stopwatch);

  /// From any thread.
  Response answer(const Request& request);
  /// Whatever is being answered ends at once, and so does all that is asked later.
  void end() { is_ended_ = true; }

 private:
  struct Question;
  static const Question kQuestions[];

  Response bounded(const std::function<Response()>& answer) const;
  Response run(std::string_view body);
  Response faults(std::string_view body);
  Response edit(std::string_view body);
  Response step(std::string_view body);
  Response start_check(std::string_view body);
  Response check_state(std::string_view body);
  Response cancel_check(std::string_view body);
  Response witness(std::string_view body);
  Response save(std::string_view body);
  Response judge(std::string_view body);
  Response page() const;
  Response history_page(const std::string& number) const;

  BenchSetup setup_;
  const models::locks::Catalogue& catalogue_;
  std::function<double()> stopwatch_;
  BackgroundCheck check_;
  KeptPlaces places_;
  std::atomic<bool> is_ended_ = false;
  mutable std::mutex mutex_;
  std::vector<std::string> histories_;  ///< judged, as pages; the last ones
  std::size_t histories_gone_ = 0;
};

}  // namespace lockstep::reports::play
