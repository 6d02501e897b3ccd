#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <ostream>
#include <system_error>

#include "checker/histories/read.hpp"
#include "checker/histories/recorder.hpp"
#include "cli/commands/history_input.hpp"
#include "cli/commands/output_files.hpp"
#include "cli/formats/format.hpp"
#include "reports/linearization/linearization.hpp"
#include "scenarios/story/diagnostic.hpp"
#include "scenarios/story/suggestion.hpp"

namespace lockstep::cli {
namespace {

namespace histories = checker::history_formats;
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

std::string message_of(const std::string& file, const histories::Trouble& trouble) {
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

const std::vector<std::string_view> kOrders{"lines", "times"};

/// What the beginning of a history says of its model.
struct Beginning {
  histories::SaidModel said;                  ///< null: it names none
  std::vector<std::string> functions;         ///< each once, if no model is named
  std::optional<histories::Trouble> trouble;  ///< what keeps it from being a history at all
};

std::vector<std::string_view> names_of_models() {
  std::vector<std::string_view> names;
  for (const checker::Model* model : checker::models()) names.push_back(model->name());
  return names;
}

/// How histories are read.
struct Reading {
  const checker::Model* model = nullptr;  ///< null: the one that the file names
  histories::Format format = histories::Format::automatic;
  std::vector<histories::Pattern> patterns;
  std::optional<std::int64_t> permits;  ///< nothing: as many as the file says, or one
  histories::RecorderOptions recorder;
  bool check_failed = false;
};

/// Histories are read one after the other, and all are of one model: that of the call, or else that of the first.
class Reader {
 public:
  Reader(const Reading& how, std::ostream& err) : how_(how), err_(err), model_(how.model) {}

  const checker::Model* model() const { return model_; }
  std::int64_t permits() const { return how_.permits.value_or(permits_.value_or(1)); }

  /// Nothing after a message.
  std::optional<JudgedHistory> read(const std::string& name) {
    const auto found = find_history(name);
    if (const auto* none = std::get_if<NoHistory>(&found)) return fail(name, none->message);
    const std::string& file = std::get<std::string>(found);
    const InputFile input(file);
    if (input.descriptor() < 0) return fail(file, input.trouble());
    HistorySource source(histories::file_source(input.descriptor()));
    if (!take_model(file, source)) return std::nullopt;

    JudgedHistory judged{.file = file};
    histories::Recorder recorder(*model_, how_.recorder);
    judged.reading = read(
        file, [&](std::span<char> space) { return source.read(space); },
        [&](const histories::Event& event) { return recorder.take(event); });
    if (!source.trouble().empty()) return fail(file, source.trouble());
    std::optional<histories::Trouble> trouble = judged.reading.trouble;
    if (!trouble) trouble = recorder.trouble();
    if (trouble) {
      err_ << message_of(file, *trouble) << '\n';
      return std::nullopt;
    }
    if (const auto& skipped = judged.reading.first_skipped) {
      const std::size_t lines = judged.reading.lines_skipped;
      say(file, fmt::format("{} other {} passed over; the first is line {}, where --pattern has {} at column {}", lines,
                            lines == 1 ? "line is" : "lines are", skipped->at.line,
                            scenarios::one_line(skipped->message), skipped->at.column));
    }
    judged.recorded = recorder.finish();
    const auto& operations = judged.recorded.operations.operations;
    judged.tested_nothing = std::none_of(operations.begin(), operations.end(), [&](const auto& o) {
      return o.is_certain() || (how_.check_failed && !o.is_unknown());
    });
    return judged;
  }

 private:
  void say(const std::string& file, std::string_view message) {
    err_ << fmt::format("{}: {}\n", file == "-" ? "standard input" : scenarios::one_line(file), message);
  }
  std::nullopt_t fail(const std::string& file, std::string_view message) {
    say(file, message);
    return std::nullopt;
  }

  histories::ReadResult read(const std::string& file, histories::Source source, const histories::Sink& sink) const {
    return histories::read_history(std::move(source), how_.format, sink, std::size_t{1} << 20U,
                                   histories::format_of_name(file), how_.patterns);
  }

  Beginning beginning_of(const std::string& file, std::string_view text, bool is_whole) const {
    Beginning beginning;
    const auto sink = [&](const histories::Event& event) {
      if (const auto said = histories::model_said(event)) {
        beginning.said = *said;
        return std::optional(histories::Complaint{});
      }
      const auto at = std::lower_bound(beginning.functions.begin(), beginning.functions.end(), event.function);
      const bool is_known = at != beginning.functions.end() && *at == event.function;
      if (!event.is_nemesis() && !is_known) beginning.functions.emplace(at, event.function);
      return std::optional<histories::Complaint>();
    };
    const histories::ReadResult result = read(file, histories::text_source(text), sink);
    // What the beginning is cut off in says nothing.
    if (is_whole && beginning.said.model == nullptr) beginning.trouble = result.trouble;
    return beginning;
  }

  bool take_model(const std::string& file, HistorySource& source) {
    constexpr std::size_t bytes = std::size_t{64} << 10U;
    const std::string_view peeked = source.peek(bytes);
    const Beginning own = beginning_of(file, peeked, peeked.size() < bytes);
    if (how_.model == nullptr) {
      const checker::Model* guess = own.said.model == nullptr ? histories::model_with(own.functions) : nullptr;
      if (own.trouble && source.trouble().empty()) {
        err_ << message_of(file, *own.trouble) << '\n';
        return false;
      }
      if (!source.trouble().empty() || (own.said.model == nullptr && guess == nullptr)) {
        fail(file, !source.trouble().empty()
                       ? source.trouble()
                       : fmt::format("does not say of which model it is; --model says it, one of {}",
                                     fmt::join(names_of_models(), ", ")));
        return false;
      }
      if (guess != nullptr) {
        constexpr std::ptrdiff_t shown_max = 8;
        const auto shown = std::min<std::ptrdiff_t>(shown_max, std::ssize(own.functions));
        say(file, fmt::format("taken for a {}, by its operations ({}{}); --model says another", guess->name(),
                              scenarios::one_line(fmt::format(
                                  "{}", fmt::join(own.functions.begin(), own.functions.begin() + shown, ", "))),
                              shown == shown_max ? ", …" : ""));
      }
      const checker::Model* model = guess == nullptr ? own.said.model : guess;
      if (model_ != nullptr && model != model_) {
        fail(file,
             fmt::format("is of the model {}, but those before it are of {}; judge them one by one, or say --model",
                         model->name(), model_->name()));
        return false;
      }
      model_ = model;
    }
    const std::optional<std::int64_t> permits = own.said.model == model_ ? own.said.permits : std::nullopt;
    if (is_begun_ && permits != permits_ && !how_.permits) {
      fail(file, "says another number of permits than those before it; judge them one by one, or say --permits");
      return false;
    }
    is_begun_ = true;
    permits_ = permits;
    return true;
  }

  const Reading& how_;
  std::ostream& err_;
  const checker::Model* model_ = nullptr;
  std::optional<std::int64_t> permits_;
  bool is_begun_ = false;
};

class Linearize final : public Call {
 public:
  Manual manual() override;
  std::string mistake() override;
  Exit perform(const models::locks::Catalogue& catalogue, Output& output) override;

 private:
  reports::Lines lines(const std::vector<JudgedHistory>& histories, const Output& output) const;

  Reading how_;
  checker::LinearizabilityOptions options_;
  std::optional<std::string> initial_;
  std::vector<std::string> patterns_;
  double max_seconds_ = 0;  ///< for all histories together; 0: no bound
};

Manual Linearize::manual() {
  return {
      .name = "linearize",
      .summary = "judge a history from elsewhere: Jepsen's, JSON, CSV, your log",
      .example = "linearize history.edn --model cas-register",
      .head = R"(Judges histories: is there an order of the operations that one perfect object could have gone through?

usage: lockstep linearize HISTORY... [--model MODEL] [OPTIONS]

A HISTORY is Jepsen's history.edn, a Jepsen log or history.txt, JSON (an object on each line, or an array), CSV, or any
log with --pattern, also packed by gzip; a directory stands for the history in it; - is standard input.
docs/manual/linearize.md has the formats. What `lockstep run --history` writes says its model; of others it is seen from
the operations, or --model says it. An operation that ended with :info, or never, may have taken
effect at any later time, or never; one that failed did not.

  MODEL                   functions (other names that files use for them)
  mutex, owner-mutex, reentrant-mutex, fenced-mutex, reentrant-fenced-mutex
                          acquire (lock), release (unlock); fenced: acquire returns a token
  read-write-lock         acquire-read (read-lock, rlock), release-read, acquire-write (write-lock), release-write
  semaphore               acquire, release [N]; --permits
  register, cas-register  read (get), write (put, set); cas (compare-and-set) [OLD NEW]
  multi-register          txn [[:read K nil] [:write K V]]; read, write [K V]
  kv                      get (read), put (write), append; [KEY VALUE], or :key beside :value
  set                     add (insert), remove (delete), contains, read
  fifo-queue              enqueue (push), dequeue (pop, poll)
  lockstep list specs     all of them, with all names

)",
      .options =
          {one_of({"--model", "MODEL", "what the histories are of; without it what they say themselves"},
                  names_of_models(), [this](std::size_t i) { how_.model = checker::models()[i]; }),
           one_of({"--format", "auto|edn|json|log|intervals|csv", "what the files are; auto: by their beginning"},
                  {histories::format_names().begin(), histories::format_names().end() - 1},
                  [this](std::size_t i) { how_.format = static_cast<histories::Format>(i); }),
           words({"--pattern", "P",
                  "the files are logs, with lines like '{time} {client} {event} {op} {value}'; several times: lines\n"
                  "of several shapes"},
                 Option::Takes::each, patterns_),
           whole({"--permits", "N", "permits of the semaphore (what the history says, or 1)"}, {.max = 1'000'000'000},
                 how_.permits),
           text({"--initial", "V", "what a register holds at first (nil)"}, initial_),
           flag({"--independent", "", "values are [KEY VALUE], and each key is an object of its own"},
                how_.recorder.independent),
           flag({"--check-failed", "",
                 "a failed acquire needs a moment at which the lock was taken, a failed cas one at which the\n"
                 "value was another; otherwise what failed is left out"},
                how_.check_failed),
           one_of({"--order", "lines|times",
                   "what counts where the file's order and its times contradict; otherwise that is refused"},
                  kOrders,
                  [this](std::size_t i) {
                    how_.recorder.order = i == 0 ? histories::EventOrder::only_lines : histories::EventOrder::times;
                  }),
           flag({"--nil-reads-unknown", "",
                 "a read that returned nil is one whose value is not known, as Knossos has it"},
                how_.recorder.nil_reads_unknown),
           size({"--max-memory", "SIZE", "for the search, e.g. 512MB (4GB); beyond it the answer is unknown"},
                options_.max_memory),
           seconds({"--max-seconds", "S", "for all histories together; beyond it the answer is unknown"},
                   max_seconds_)},
      .tail = R"(
Exit status: 0 all are linearizable, 1 one is not, 2 a history or the call is wrong, 3 unknown: a bound was hit.

example: lockstep linearize store/latest/history.edn --model cas-register --html why.html
example: lockstep run story.toml --history story.edn; lockstep linearize story.edn
)",
      .language = "language of the page",
      .has_page = true};
}

std::string Linearize::mistake() {
  if (files.empty()) return "linearize needs histories, e.g. lockstep linearize history.edn --model mutex";
  if (std::count(files.begin(), files.end(), "-") > 1) return "standard input (-) can be read only once";
  const std::string_view model = how_.model == nullptr ? "" : how_.model->name();
  if (how_.permits && how_.model != nullptr && model != "semaphore")
    return fmt::format("--permits is for the model semaphore, not for {}", model);
  if (initial_ && !model.ends_with("register")) {
    return fmt::format("--initial is for the models register, cas-register and multi-register{}{}",
                       how_.model == nullptr ? ": say which by --model" : ", not for ", model);
  }
  if (!patterns_.empty() && how_.format != histories::Format::automatic)
    return "--pattern is for logs; leave out --format";
  for (const std::string& text : patterns_) {
    auto pattern = histories::Pattern::parse(text);
    if (const auto* wrong = std::get_if<histories::Pattern::Mistake>(&pattern)) {
      std::string message = fmt::format("--pattern '{}': {}", scenarios::one_line(text), wrong->message);
      if (!wrong->given.empty()) {
        const std::vector<std::string_view> valid(wrong->valid.begin(), wrong->valid.end());
        message += "; " + scenarios::suggestion(wrong->given, valid);
      }
      return message;
    }
    how_.patterns.push_back(std::get<histories::Pattern>(std::move(pattern)));
    how_.format = histories::Format::pattern;
  }
  how_.recorder.initial = initial_.value_or("nil") == "nil" ? "" : *initial_;
  return "";
}

reports::Lines Linearize::lines(const std::vector<JudgedHistory>& histories, const Output& output) const {
  reports::Lines all;
  std::size_t count[3] = {};
  for (const JudgedHistory& judged : histories) {
    const reports::Lines own = reports::linearization(judged, *how_.model, options_, output.width);
    if (!all.empty() && own.size() > 2) all.emplace_back();
    all.insert(all.end(), own.begin(), own.end());
    ++count[static_cast<std::size_t>(judged.result.verdict)];
  }
  if (histories.size() < 2) return all;
  const auto of = [&](checker::Verdict verdict) { return count[static_cast<std::size_t>(verdict)]; };
  all.emplace_back();
  all.emplace_back(fmt::format("{} histories: {} linearizable, {} not, {} unknown", histories.size(),
                               of(checker::Verdict::holds), of(checker::Verdict::violated),
                               of(checker::Verdict::unknown)));
  return all;
}

Exit Linearize::perform(const models::locks::Catalogue&, Output& output) {
  inputs.insert(inputs.end(), files.begin(), files.end());
  for (const std::string& file : files) {
    const auto found = find_history(file);
    if (const auto* name = std::get_if<std::string>(&found)) inputs.push_back(*name);
  }
  if (const auto trouble = refuse_outputs(outputs, inputs)) return refuse(output, *trouble);
  Reader reader(how_, output.err);
  std::vector<JudgedHistory> histories;
  for (const std::string& file : files) {
    if (std::optional<JudgedHistory> judged = reader.read(file)) histories.push_back(std::move(*judged));
  }
  if (histories.empty()) return Exit::bad_input;
  how_.model = reader.model();
  options_.permits = reader.permits();
  options_.check_failed = how_.check_failed;
  const Clock::time_point begin = Clock::now();
  if (max_seconds_ > 0) {
    options_.is_out_of_time = [&] {
      return std::chrono::duration<double>(Clock::now() - begin).count() >= max_seconds_;
    };
  }
  for (JudgedHistory& judged : histories) {
    options_.initial = judged.recorded.initial.value_or(checker::nil);
    const Clock::time_point began = Clock::now();
    judged.result = checker::check_linearizable(judged.recorded.operations, *how_.model, options_);
    judged.milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began).count();
  }

  const checker::Model& model = *how_.model;
  const Result result{.lines = [&] { return lines(histories, output); },
                      .json = [&] { return reports::linearize_json(histories, model); },
                      .page = [&] { return reports::linearize_html(histories, model, options_, language); }};
  if (!report(*this, result, output) || histories.size() < files.size()) return Exit::bad_input;
  const auto any = [&](checker::Verdict verdict) {
    return std::any_of(histories.begin(), histories.end(),
                       [&](const JudgedHistory& judged) { return judged.result.verdict == verdict; });
  };
  if (any(checker::Verdict::violated)) return Exit::not_as_expected;
  return any(checker::Verdict::unknown) ? Exit::incomplete : Exit::as_expected;
}

}  // namespace

std::unique_ptr<Call> linearize_call() { return std::make_unique<Linearize>(); }

}  // namespace lockstep::cli
