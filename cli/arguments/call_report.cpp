// The options of `lockstep report`.

#include "cli/arguments/typed.hpp"

namespace lockstep::cli {

std::variant<Call, Answer> report_call(const Typed& typed, Call call) {
  call.command = Call::Command::report;
  call.files = typed.files;
  call.report.stories = typed.stories;
  call.report.single = typed.single;
  if (call.report.stories.empty()) call.report.stories = {"scenarios"};
  if (typed.single && typed.single->empty()) return wrong("--single needs the name of a file", "report");
  if (typed.single && !typed.files.empty())
    return wrong("--single FILE makes one page, and no folder; leave the folder out", "report");
  if (typed.files.size() > 1)
    return wrong("report fills one folder; name stories with --stories, as in lockstep report out --stories scenarios",
                 "report");
  if (call.files.empty()) call.files = {"report"};
  return call;
}

void declare_report(CLI::App& report, Typed& typed) {
  report.set_help_flag();
  report.add_option("folder", typed.files);
  report.add_option("--stories", typed.stories);
  report.add_option("--single", typed.single)->take_last();
}

}  // namespace lockstep::cli
