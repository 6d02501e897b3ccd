#include "cli/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "reports/text/text.hpp"

namespace lockstep::cli {
namespace {

constexpr double kSecondsBetween = 0.2;
constexpr std::string_view kClear = "\r\x1b[K";

}  // namespace

std::string progress_text(const scenarios::ExplorationProgress& progress, reports::Language language) {
  const bool zh = language == reports::Language::zh;
  const auto traces = static_cast<double>(progress.counts.traces);
  std::string text = fmt::format(fmt::runtime(zh ? "{} 条轨迹" : "{} traces"), progress.counts.traces);
  if (progress.seconds > 0)
    text += fmt::format(fmt::runtime(zh ? "，{:.0f} 条/秒" : ", {:.0f}/s"), traces / progress.seconds);
  if (progress.estimated_traces && *progress.estimated_traces > 0) {
    const double part = std::min(traces / *progress.estimated_traces, 1.0) * 100;
    text += part < 1 ? (zh ? "，不到 1%" : ", less than 1%")
                     : fmt::format(fmt::runtime(zh ? "，约 {:.0f}%" : ", about {:.0f}%"), part);
  }
  return text;
}

ProgressLine::ProgressLine(std::ostream* out, std::function<double()> stopwatch, Settings settings)
    : out_(out), stopwatch_(std::move(stopwatch)), settings_(settings), shown_at_(stopwatch_()) {}

ProgressLine::~ProgressLine() {
  if (out_ != nullptr && is_dirty_) *out_ << kClear << std::flush;
}

void ProgressLine::show(std::string_view id, const scenarios::ExplorationProgress& progress) {
  if (out_ == nullptr) return;
  const std::lock_guard lock(mutex_);
  const double now = stopwatch_();
  if (now - shown_at_ < kSecondsBetween) return;
  shown_at_ = now;
  const bool zh = settings_.language == reports::Language::zh;
  std::string text = settings_.stories > 1 ? fmt::format(fmt::runtime(zh ? "{}/{} 完成 · " : "{} of {} done · "), done_,
                                                         settings_.stories)
                                           : "";
  text += fmt::format("{}: {}", reports::printable(id), progress_text(progress, settings_.language));
  *out_ << kClear << reports::clip(text, settings_.width - 1) << std::flush;
  is_dirty_ = true;
}

void ProgressLine::one_done() {
  const std::lock_guard lock(mutex_);
  ++done_;
}

}  // namespace lockstep::cli
