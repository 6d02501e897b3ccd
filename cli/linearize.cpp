#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ostream>
#include <system_error>

#include "checker/history_formats/read.hpp"
#include "checker/history_formats/recorder.hpp"
#include "cli/commands.hpp"
#include "cli/output_files.hpp"
#include "reports/linearization.hpp"
#include "scenarios/diagnostic.hpp"
#include "scenarios/suggestion.hpp"

namespace lockstep::cli {
namespace {

namespace formats = checker::history_formats;
using reports::JudgedHistory;
using Clock = std::chrono::steady_clock;  // tidy: progress only

/// A file that is open as long as this is. A pipe into which nobody writes is not waited for: it is empty.
class InputFile {
 public:
  explicit InputFile(const std::string& name)
      : file_(name == "-" ? STDIN_FILENO : ::open(name.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)), error_(errno) {
    struct stat status{};
    if (file_ >= 0 && ::fstat(file_, &status) == 0 && S_ISDIR(status.st_mode)) {
      close();
      error_ = EISDIR;
    }
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile() { close(); }
  int descriptor() const { return file_; }
  std::string trouble() const { return std::generic_category().message(error_); }

 private:
  void close() {
    if (file_ > STDIN_FILENO) ::close(file_);
    file_ = -1;
  }
  int file_;
  int error_;
};

std::string message_of(const std::string& file, const formats::Trouble& trouble) {
  std::string message = trouble.message;
  if (!trouble.given.empty()) {
    const std::vector<std::string_view> valid(trouble.valid.begin(), trouble.valid.end());
    message += "; " + scenarios::suggestion(trouble.given, valid);
  }
  return scenarios::Diagnostic{.file = file == "-" ? "standard input" : file,
                               .at = {trouble.at.line, trouble.at.column},
                               .message = scenarios::one_line(message)}
      .to_string();
}

/// Nothing after a message.
std::optional<JudgedHistory> read(const std::string& file, const Call& call, const checker::Model& model,
                                  std::ostream& err) {
  const InputFile input(file);
  if (input.descriptor() < 0) {
    err << fmt::format("{}: {}\n", scenarios::one_line(file), input.trouble());
    return std::nullopt;
  }
  JudgedHistory judged{.file = file};
  formats::Recorder recorder(model, {.independent = call.linearize.independent, .initial = call.linearize.initial});
  judged.reading = formats::read_history(formats::file_source(input.descriptor()), call.linearize.format,
                                         [&](const formats::Event& event) { return recorder.take(event); });
  std::optional<formats::Trouble> trouble = judged.reading.trouble;
  if (!trouble) trouble = recorder.trouble();
  if (trouble) {
    err << message_of(file, *trouble) << '\n';
    return std::nullopt;
  }
  judged.recorded = recorder.finish();
  return judged;
}

void show(const std::vector<JudgedHistory>& histories, const checker::Model& model,
          const checker::LinearizabilityOptions& options, Output& output) {
  bool is_first = true;
  for (const JudgedHistory& judged : histories) {
    const reports::Lines lines = reports::linearization(judged, model, options, output.width);
    if (!is_first && lines.size() > 2) output.out << '\n';
    output.out << reports::to_string(lines, output.colour);
    is_first = false;
  }
  if (histories.size() < 2) return;
  const auto count = [&](checker::Verdict verdict) {
    return std::count_if(histories.begin(), histories.end(),
                         [&](const JudgedHistory& judged) { return judged.result.verdict == verdict; });
  };
  output.out << fmt::format("\n{} histories: {} linearizable, {} not, {} unknown\n", histories.size(),
                            count(checker::Verdict::holds), count(checker::Verdict::violated),
                            count(checker::Verdict::unknown));
}

}  // namespace

Exit linearize(const Call& call, Output& output) {
  const checker::Model& model = *checker::find_model(call.linearize.model);
  const OutputOption outputs[] = {{"--html", call.linearize.html}};
  if (const std::optional<std::string> trouble = refuse_outputs(outputs, call.files)) {
    output.err << "lockstep: " << *trouble << '\n';
    return Exit::bad_input;
  }
  std::vector<JudgedHistory> histories;
  bool is_good = true;
  for (const std::string& file : call.files) {
    std::optional<JudgedHistory> judged = read(file, call, model, output.err);
    is_good = is_good && judged.has_value();
    if (judged) histories.push_back(std::move(*judged));
  }
  if (histories.empty()) return Exit::bad_input;

  checker::LinearizabilityOptions options;
  options.permits = call.linearize.permits;
  options.check_failed = call.linearize.check_failed;
  if (call.linearize.max_memory) options.max_memory = *call.linearize.max_memory;
  const Clock::time_point begin = Clock::now();
  if (call.linearize.max_seconds) {
    options.is_out_of_time = [&] {
      return std::chrono::duration<double>(Clock::now() - begin).count() >= *call.linearize.max_seconds;
    };
  }
  for (JudgedHistory& judged : histories) {
    options.initial = judged.recorded.initial.value_or(checker::nil);
    const Clock::time_point began = Clock::now();
    judged.result = checker::check_linearizable(judged.recorded.operations, model, options);
    judged.milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began).count();
  }

  if (call.json)
    output.out << reports::linearize_json(histories, model);
  else
    show(histories, model, options, output);
  if (call.linearize.html) {
    const std::string page = reports::linearize_html(histories, model, options, call.language);
    if (!write_file(*call.linearize.html, page, output.err)) return Exit::bad_input;
  }
  if (!is_good) return Exit::bad_input;
  const auto any = [&](checker::Verdict verdict) {
    return std::any_of(histories.begin(), histories.end(),
                       [&](const JudgedHistory& judged) { return judged.result.verdict == verdict; });
  };
  if (any(checker::Verdict::violated)) return Exit::not_as_expected;
  return any(checker::Verdict::unknown) ? Exit::incomplete : Exit::as_expected;
}

}  // namespace lockstep::cli
