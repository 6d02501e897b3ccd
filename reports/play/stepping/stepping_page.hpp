#pragma once

// "Event by event": what the page shows of a place of an execution that is chosen there, and what can be next.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "models/locks/catalogue.hpp"
#include "reports/run/verdicts.hpp"
#include "reports/site/frame/page.hpp"
#include "scenarios/stepping/stepping.hpp"
#include "scenarios/story/diagnostic.hpp"

namespace lockstep::reports::play {

/// Places that pages know by number: the last ones, each of one text.
class KeptPlaces {
 public:
  static constexpr std::size_t kMost = 4096;

  /// From 1.
  std::size_t keep(std::string_view text, scenarios::StepPlace place);
  /// 0: the beginning. Nothing: it is not kept any more, or is one of another text.
  std::optional<scenarios::StepPlace> find(std::string_view text, std::size_t number) const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<std::shared_ptr<const std::string>, scenarios::StepPlace>> places_;
  std::size_t gone_ = 0;
};

struct SteppingPage {
  struct Option {
    scenarios::StepPlace place;
    scenarios::Text what;
    scenarios::Text when;
  };
  std::vector<Option> options;
  bool is_all = true;
  bool is_over = false;
  std::size_t events = 0;            ///< chosen so far
  std::string at;                    ///< when the last of them happens
  std::vector<std::string> holders;  ///< who believes to hold the lock then
  bool is_overlap = false;           ///< they are more than may
  std::size_t rows = 0;              ///< of the diagram, up to then
  bool leaves_out = false;  ///< the story has `[[fault]]`, an order or a schedule, which count for nothing here
  std::string text;         ///< the run as a story
  site::Page page;          ///< of that story
};

std::variant<SteppingPage, scenarios::Diagnostic> stepping_page(std::string_view text,
                                                                const std::filesystem::path& file,
                                                                const models::locks::Catalogue& catalogue,
                                                                const scenarios::StepPlace& place,
                                                                std::uint64_t events_max);

}  // namespace lockstep::reports::play
