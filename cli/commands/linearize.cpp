#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ostream>
#include <system_error>

#include "checker/histories/read.hpp"
#include "checker/histories/recorder.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/history_input.hpp"
#include "cli/commands/output_files.hpp"
#include "reports/linearization/linearization.hpp"
#include "scenarios/story/diagnostic.hpp"
#include "scenarios/story/suggestion.hpp"

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

/// Which model a history says that it is of, as Lockstep's own do.
struct OwnModel {
  std::string name;  ///< empty: it says none
  std::optional<std::int64_t> permits;
};

OwnModel own_model(std::string_view beginning, formats::Format format) {
  OwnModel own;
  formats::read_history(formats::text_source(beginning), format, [&](const formats::Event& event) {
    if (!event.model.is_word() || checker::find_model(event.model.text) == nullptr)
      return std::optional<formats::Complaint>();
    own.name = event.model.text;
    if (event.permits.is(formats::Value::Kind::integer) && event.permits.number > 0) own.permits = event.permits.number;
    return std::optional(formats::Complaint{});
  });
  return own;
}

std::string names_of_models() {
  std::string names;
  for (const checker::Model* model : checker::models())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", model->name());
  return names;
}

/// Histories are read one after the other, and all are of one model: that of the call, or else that of the first.
class Reader {
 public:
  Reader(const Call& call, std::ostream& err) : call_(call), err_(err) {
    if (!call.linearize.model.empty()) model_ = checker::find_model(call.linearize.model);
  }

  const checker::Model* model() const { return model_; }
  std::int64_t permits() const { return call_.linearize.permits.value_or(permits_.value_or(1)); }

  /// Nothing after a message.
  std::optional<JudgedHistory> read(const std::string& name) {
    const auto found = find_history(name);
    if (const auto* none = std::get_if<NoHistory>(&found)) return fail(name, none->message);
    const std::string& file = std::get<std::string>(found);
    const InputFile input(file);
    if (input.descriptor() < 0) return fail(file, input.trouble());
    HistorySource source(formats::file_source(input.descriptor()));
    if (!take_model(file, source)) return std::nullopt;

    JudgedHistory judged{.file = file};
    formats::Recorder recorder(*model_, {.independent = call_.linearize.independent,
                                         .initial = call_.linearize.initial,
                                         .nil_reads_unknown = call_.linearize.nil_reads_unknown});
    judged.reading =
        formats::read_history([&](std::span<char> space) { return source.read(space); }, call_.linearize.format,
                              [&](const formats::Event& event) { return recorder.take(event); }, std::size_t{1} << 20U,
                              formats::format_of_name(file));
    if (!source.trouble().empty()) return fail(file, source.trouble());
    std::optional<formats::Trouble> trouble = judged.reading.trouble;
    if (!trouble) trouble = recorder.trouble();
    if (trouble) {
      err_ << message_of(file, *trouble) << '\n';
      return std::nullopt;
    }
    judged.recorded = recorder.finish();
    const auto& operations = judged.recorded.operations.operations;
    judged.tested_nothing = std::none_of(operations.begin(), operations.end(), [&](const auto& o) {
      return o.is_certain() || (call_.linearize.check_failed && !o.is_unknown());
    });
    return judged;
  }

 private:
  std::nullopt_t fail(const std::string& file, std::string_view message) {
    err_ << fmt::format("{}: {}\n", file == "-" ? "standard input" : scenarios::one_line(file), message);
    return std::nullopt;
  }

  bool take_model(const std::string& file, HistorySource& source) {
    constexpr std::size_t beginning = std::size_t{64} << 10U;
    const OwnModel own = own_model(source.peek(beginning), call_.linearize.format);
    if (call_.linearize.model.empty()) {
      if (!source.trouble().empty() || own.name.empty()) {
        fail(file,
             !source.trouble().empty()
                 ? source.trouble()
                 : fmt::format("does not say of which model it is; --model says it, one of {}", names_of_models()));
        return false;
      }
      const checker::Model* model = checker::find_model(own.name);
      if (model_ != nullptr && model != model_) {
        fail(file,
             fmt::format("is of the model {}, but those before it are of {}; judge them one by one, or say --model",
                         own.name, model_->name()));
        return false;
      }
      model_ = model;
    }
    const std::optional<std::int64_t> permits = own.name == model_->name() ? own.permits : std::nullopt;
    if (is_begun_ && permits != permits_ && !call_.linearize.permits) {
      fail(file, "says another number of permits than those before it; judge them one by one, or say --permits");
      return false;
    }
    is_begun_ = true;
    permits_ = permits;
    return true;
  }

  const Call& call_;
  std::ostream& err_;
  const checker::Model* model_ = nullptr;
  std::optional<std::int64_t> permits_;
  bool is_begun_ = false;
};

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
  const OutputOption outputs[] = {{"--html", call.linearize.html}};
  std::vector<std::string> inputs = call.files;
  for (const std::string& file : call.files) {
    const auto found = find_history(file);
    if (const auto* name = std::get_if<std::string>(&found)) inputs.push_back(*name);
  }
  if (const std::optional<std::string> trouble = refuse_outputs(outputs, inputs)) {
    output.err << "lockstep: " << *trouble << '\n';
    return Exit::bad_input;
  }
  Reader reader(call, output.err);
  std::vector<JudgedHistory> histories;
  bool is_good = true;
  for (const std::string& file : call.files) {
    std::optional<JudgedHistory> judged = reader.read(file);
    is_good = is_good && judged.has_value();
    if (judged) histories.push_back(std::move(*judged));
  }
  if (histories.empty()) return Exit::bad_input;
  const checker::Model& model = *reader.model();

  checker::LinearizabilityOptions options;
  options.permits = reader.permits();
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
