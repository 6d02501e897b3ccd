#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <ostream>
#include <sstream>

#include "cli/arguments/call.hpp"
#include "cli/commands/load_all.hpp"
#include "cli/commands/output_files.hpp"
#include "cli/commands/report_folder.hpp"
#include "cli/guard.hpp"
#include "cli/interrupt.hpp"
#include "reports/check/headline.hpp"
#include "reports/site/site.hpp"
#include "scenarios/checking/check.hpp"
#include "scenarios/checking/formula.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/matrix/told_results.hpp"
#include "scenarios/workers/in_parallel.hpp"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;
using reports::site::ToldStory;
using scenarios::Diagnostic;
using scenarios::Exploration;
using scenarios::Scenario;

/// Of each story, so that a site of all of them is there within a minute.
constexpr std::uint64_t kTracesMax = 100'000;
constexpr std::uint64_t kEventsMax = 5'000'000;
/// Of the concrete runs beside each story's search: `check` of the story plays all of them.
constexpr scenarios::Effort kStoryOpinion{.times = 1, .parts = 4};
/// Of the search for the point of no return.
constexpr std::uint64_t kNoReturnTraces = 2'000;
/// Of each cell of the matrix.
constexpr std::uint64_t kMatrixTraces = 1'000;
constexpr std::uint64_t kMatrixEvents = 60'000;
/// Those of three clients are shorter: most that end by a bound say nothing.
constexpr std::uint64_t kMatrixPartsForThree = 2;
/// Of 439 searches of three clients none ended within 30,000 events whose two clients had needed more than 2,600, and
/// none of those found anything.
constexpr std::uint64_t kMatrixTimesForThree = 10;
constexpr std::uint64_t kMatrixRuns = 20;
/// Its searches are that much shorter than those of `matrix`, and so are the concrete runs beside them.
constexpr scenarios::Effort kMatrixOpinion{.times = 1, .parts = 12};

std::string content_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream content;
  content << in.rdbuf();
  return std::move(content).str();
}

/// All that has to be found out, done by the same threads: nobody waits for the last story while there are cells of the
/// matrix left. Those that take long are added first.
class Tasks {
 public:
  void add(std::function<void()> task) { tasks_.push_back(std::move(task)); }

  void run(std::size_t jobs, Output& output) {
    scenarios::in_parallel(tasks_.size(), jobs, [&](std::size_t i) {
      tasks_[i]();
      const std::lock_guard lock(mutex_);
      ++done_;
      if (output.progress)
        output.err << fmt::format("\rstories and locks: {} of {}\x1b[K", done_, tasks_.size()) << std::flush;
    });
    if (output.progress) output.err << "\r\x1b[K" << std::flush;
  }

 private:
  std::vector<std::function<void()>> tasks_;
  std::size_t done_ = 0;
  std::mutex mutex_;
};

class Maker {
 public:
  /// `is_single`: of one story whose page is asked for alone, whatever it costs, and with its formula.
  Maker(const models::locks::Catalogue& catalogue, Output& output, ResultsKept& kept, bool is_single = false)
      : catalogue_(catalogue), output_(output), kept_(kept), is_single_(is_single) {
    program_ = fmt::format("{} {}", kVersion, reports::site::sha256_of(content_of("/proc/self/exe")));
  }

  bool is_interrupted() const { return interrupt_.is_requested(); }

  /// Requires, here and below: what is given outlives the tasks, and so does this.
  void plan_stories(const std::vector<Scenario>& scenarios, Tasks& tasks) {
    told_.resize(scenarios.size());
    troubles_.resize(scenarios.size());
    std::vector<std::string> sources;
    for (const Scenario& scenario : scenarios) sources.push_back(scenario.file);
    const std::vector<std::string> paths = reports::site::paths_of(sources);
    for (std::size_t i = 0; i < scenarios.size(); ++i) {
      told_[i].source = sources[i];
      told_[i].path = paths[i];
      // They tell of themselves by a signal to the whole process: so by one thread, and nothing beside.
      if (scenarios::first_program(scenarios[i]) != nullptr) {
        troubles_[i] = tell_one(scenarios[i], told_[i]);
        continue;
      }
      tasks.add([this, &scenarios, i] {
        if (!is_interrupted()) troubles_[i] = tell_one(scenarios[i], told_[i]);
      });
    }
  }

  void plan_matrix(Tasks& tasks) {
    if (const auto text = kept_.find(matrix_name())) {
      if (auto matrix = matrix_of(*text)) {
        matrix_ = std::move(*matrix);
        is_matrix_kept_ = true;
        return;
      }
    }
    for (const models::locks::Entry& entry : catalogue_.entries()) {
      if (!scenarios::has_matrix_row(entry)) continue;
      for (const scenarios::MatrixFault& fault : scenarios::matrix_faults()) {
        const std::size_t cell = cells_.size();
        cells_.emplace_back();
        tasks.add([this, &entry, &fault, cell] {
          scenarios::MatrixOptions options = matrix_bounds();
          options.algorithms = {std::string(entry.id)};
          options.faults = {std::string(fault.name)};
          options.interrupted = [this] { return is_interrupted(); };
          cells_[cell] = scenarios::matrix(catalogue_, options);
        });
      }
    }
  }

  void plan_measured(const std::vector<Scenario>& scenarios, Tasks& tasks) {
    for (auto& task : reports::site::measuring(catalogue_, scenarios, interrupted_, measured_))
      tasks.add(std::move(task));
  }

  scenarios::MatrixOptions matrix_bounds() const {
    scenarios::MatrixOptions options;
    options.max_traces = kMatrixTraces;
    options.max_events = kMatrixEvents;
    options.parts_for_three = kMatrixPartsForThree;
    options.times_for_three = kMatrixTimesForThree;
    options.runs = kMatrixRuns;
    options.opinion_effort = kMatrixOpinion;
    return options;
  }

  // --- Once the tasks are done.

  /// False after a message: no page can be made.
  bool is_good() {
    std::vector<const Diagnostic*> troubles;
    for (const std::optional<Diagnostic>& trouble : troubles_) {
      if (trouble) troubles.push_back(&*trouble);
    }
    for (const auto& cell : cells_) {
      if (const auto* trouble = std::get_if<Diagnostic>(&cell)) troubles.push_back(trouble);
    }
    for (const Diagnostic* trouble : troubles) output_.err << trouble->to_string() << '\n';
    return troubles.empty();
  }

  std::vector<ToldStory> take_stories() { return std::move(told_); }
  reports::site::Measured take_measured() { return std::move(measured_); }
  scenarios::Matrix take_matrix() {
    for (auto& cell : cells_) {
      scenarios::Matrix& part = std::get<scenarios::Matrix>(cell);
      matrix_.is_complete = matrix_.is_complete && part.is_complete;
      std::move(part.cells.begin(), part.cells.end(), std::back_inserter(matrix_.cells));
    }
    if (!is_matrix_kept_ && matrix_.is_complete) kept_.keep(matrix_name(), text_of(matrix_));
    return std::move(matrix_);
  }

  std::string version() const { return std::string(kVersion); }

 private:
  std::optional<Diagnostic> tell_one(const Scenario& scenario, ToldStory& told) {
    auto story = reports::site::run_for_page(scenario, catalogue_);
    if (auto* trouble = std::get_if<Diagnostic>(&story)) return std::move(*trouble);
    told.story = std::get<reports::Story>(std::move(story));
    tell_explored(scenario, told);
    if (is_interrupted()) return std::nullopt;
    told.margins =
        reports::site::margins_to_tell(scenario, catalogue_, told.explored ? &told.explored->exploration : nullptr);
    if (told.explored) tell_no_return(scenario, told);
    if (told.explored) tell_breaking_run(told);
    if (told.explored && is_single_) tell_formulas(scenario, *told.explored);
    return std::nullopt;
  }

  /// Where the story's own run shows nothing of what `check` found. Beside it the worst one.
  void tell_breaking_run(ToldStory& told) const {
    const std::optional<std::size_t> shown = reports::shown_witness(*told.explored);
    if (!shown) return;
    const scenarios::ExploredProperty& property = told.explored->exploration.properties[*shown];
    const auto is_broken = [&](const scenarios::Judgement& judgement) {
      return judgement.finding.property == property.name && judgement.finding.verdict == checker::Verdict::violated;
    };
    const auto& own = told.story.outcome.properties;
    if (std::any_of(own.begin(), own.end(), is_broken)) return;
    auto run = reports::site::run_for_page(*property.witness, catalogue_);
    if (auto* story = std::get_if<reports::Story>(&run)) told.explored->replay = std::move(*story);
    const scenarios::Scenario* const at_worst = property.worst && property.worst->run ? &*property.worst->run : nullptr;
    if (at_worst == nullptr || scenarios::to_toml(*at_worst) == scenarios::to_toml(*property.witness)) return;
    auto worst = reports::site::run_for_page(*at_worst, catalogue_);
    if (auto* story = std::get_if<reports::Story>(&worst)) told.explored->worst_replay = std::move(*story);
  }

  void tell_formulas(const Scenario& scenario, reports::ExploredStory& explored) const {
    constexpr std::uint64_t kEvents = 20'000'000;
    if (!explored.exploration.counts.complete) return;
    scenarios::FormulaOptions how{.max_events = kEvents};
    how.exploration.interrupted = [this] { return is_interrupted(); };
    explored.formulas = scenarios::formulas_of(scenario, catalogue_, reports::headline_property(explored).name, how);
    explored.formulas.why.clear();
  }

  /// Of the first property that is broken and claimed: one search more.
  void tell_no_return(const Scenario& scenario, ToldStory& told) {
    for (const scenarios::ExploredProperty& property : told.explored->exploration.properties) {
      const bool is_asked = property.claim != scenarios::Claim::none || property.expected;
      if (property.verdict != checker::Verdict::violated || !is_asked) continue;
      told.no_return = scenarios::no_return(scenario, catalogue_, property.name, {.max_traces = kNoReturnTraces});
      return;
    }
  }

  void tell_explored(const Scenario& scenario, ToldStory& told) {
    if (scenarios::first_program(scenario) != nullptr) {
      told.not_explored = {
          "a client is a program, of which only runs can be shown; lockstep fuzz draws others at random",
          "有一个客户端是程序，只能展示它的运行；lockstep fuzz 会随机尝试其他情况"};
      return;
    }
    if (!scenarios::can_be_explored(scenario, catalogue_)) {
      told.not_explored = {"its executions do not end; lockstep fuzz draws others at random",
                           "它的执行没有终点；lockstep fuzz 会随机尝试其他情况"};
      return;
    }
    if (!is_single_ && scenario.cost != scenarios::Cost::fast) {
      told.not_explored = {"that takes long; lockstep check does it", "这需要较长时间；lockstep check 会查"};
      return;
    }
    scenarios::CheckOptions options;
    options.exploration.max_traces = kTracesMax;
    options.exploration.max_events = kEventsMax;
    options.opinion_effort = kStoryOpinion;
    options.exploration.interrupted = [&] { return is_interrupted(); };
    const std::string name = fmt::format("check {} {} {}\n{}\n{}\n{}", program_, kTracesMax, kEventsMax, scenario.file,
                                         scenarios::to_toml(scenario, "."), scenario.lock.own.text);
    if (const auto text = kept_.find(name)) {
      scenarios::Reading in(*text);
      Exploration exploration = scenarios::read_exploration(in, catalogue_);
      if (in.is_good()) {
        scenarios::compare_with_file(scenario, catalogue_, options, exploration);
        told.explored = reports::ExploredStory{.scenario = scenario, .exploration = std::move(exploration)};
        return;
      }
    }
    auto result = scenarios::check(scenario, catalogue_, options);
    if (std::holds_alternative<Diagnostic>(result)) {
      const std::string& why = std::get<Diagnostic>(result).message;
      told.not_explored = {why, why};
      return;
    }
    Exploration& exploration = std::get<Exploration>(result);
    if (exploration.bound != "interrupted") {
      scenarios::Writing out;
      scenarios::add(out, exploration);
      kept_.keep(name, std::move(out).take());
    }
    told.explored = reports::ExploredStory{.scenario = scenario, .exploration = std::move(exploration)};
  }

  static std::string text_of(const scenarios::Matrix& matrix) {
    scenarios::Writing out;
    out.add(std::uint64_t{matrix.cells.size()});
    for (const scenarios::MatrixCell& cell : matrix.cells) {
      out.add(cell.algorithm);
      out.add(std::string(cell.fault->name));
      scenarios::add(out, cell.answers);
    }
    return std::move(out).take();
  }

  std::optional<scenarios::Matrix> matrix_of(const std::string& text) const {
    scenarios::Reading in(text);
    scenarios::Matrix matrix;
    for (std::uint64_t left = in.count(); left > 0 && in.is_good(); --left) {
      scenarios::MatrixCell& cell = matrix.cells.emplace_back();
      cell.algorithm = in.text();
      const std::string fault = in.text();
      for (const scenarios::MatrixFault& known : scenarios::matrix_faults()) {
        if (known.name == fault) cell.fault = &known;
      }
      cell.answers = scenarios::read_answers(in, catalogue_);
      if (cell.fault == nullptr) return std::nullopt;
    }
    if (!in.is_good()) return std::nullopt;
    return matrix;
  }

  std::string matrix_name() const {
    return fmt::format("matrix {} {} {} {} {} {}", program_, kMatrixTraces, kMatrixEvents, kMatrixPartsForThree,
                       kMatrixTimesForThree, kMatrixRuns);
  }

  const models::locks::Catalogue& catalogue_;
  Output& output_;
  ResultsKept& kept_;
  const bool is_single_;
  Interrupt interrupt_;
  std::function<bool()> interrupted_ = [this] { return is_interrupted(); };
  std::string program_;  ///< results of another one are not ours
  std::vector<ToldStory> told_;
  std::vector<std::optional<Diagnostic>> troubles_;  ///< by story
  std::vector<std::variant<scenarios::Matrix, Diagnostic>> cells_;
  scenarios::Matrix matrix_;
  bool is_matrix_kept_ = false;  ///< an earlier report found it out
  reports::site::Measured measured_;
};

class Report final : public Call {
 public:
  Manual manual() override {
    return {
        .name = "report",
        .summary = "a site of pages: each story's run to step through, why it failed, what holds and what does not",
        .example = "report out",
        .head =
            R"(Writes a site of pages that opens from disk, in English and Chinese: an overview, and for each story its run as a
diagram to step through, why it failed, what every other execution does and by which margin, what repairs it, questions.

usage: lockstep report [FOLDER] [OPTIONS]

)",
        .options = {{.name = "FOLDER",
                     .help = "where to write, \"report\" if not said otherwise: a new folder, an empty one, or an "
                             "earlier report's"},
                    words({"--stories", "FILE|DIR...", "of these stories, \"scenarios\" if not said otherwise"},
                          Option::Takes::words, stories_),
                    file({"--single", "FILE", "instead: one page of one story that needs no other file, to be mailed"},
                         {"Lockstep"}, single_),
                    memory_bound(max_memory_)},
        .tail = R"(
What was explored is kept in FOLDER/.results, and used again where story, program and bounds are the same.
Stories that take long, or do not end, are run and not explored; their pages say so.

example: lockstep report out
example: lockstep report --single f003-2.html --stories scenarios/stories/redisson-source/f003-2-pause-outlives-lease.toml
)",
        .json = "",
        .jobs = "threads",
        .is_laid_out = false};
  }

  bool takes_programs() const override { return true; }
  std::string mistake() override {
    if (stories_.empty()) stories_ = {"scenarios"};
    if (single_ && !files.empty()) return "--single FILE makes one page, and no folder; leave the folder out";
    if (files.size() > 1)
      return "report fills one folder; name stories with --stories, as in lockstep report out --stories scenarios";
    if (files.empty()) files = {"report"};
    return "";
  }

  Exit perform(const models::locks::Catalogue& catalogue, Output& output) override;

 private:
  Exit make_single(const models::locks::Catalogue& catalogue, const std::vector<Scenario>& scenarios, Output& output);

  std::vector<std::string> stories_;  ///< files and folders
  std::optional<std::string> single_;
  std::uint64_t max_memory_ = half_of_memory();
};

Exit Report::make_single(const models::locks::Catalogue& catalogue, const std::vector<Scenario>& scenarios,
                         Output& output) {
  if (scenarios.size() != 1) {
    return refuse(output, fmt::format("--single makes a page of one story, and here are {}; name it with --stories",
                                      scenarios.size()));
  }
  ResultsKept none;
  Maker maker(catalogue, output, none, true);
  Tasks tasks;
  maker.plan_stories(scenarios, tasks);
  if (!maker.is_good()) return Exit::bad_input;
  tasks.run(jobs, output);
  if (!maker.is_good()) return Exit::bad_input;
  if (maker.is_interrupted()) return Exit::incomplete;
  const std::string page = reports::site::single_page(maker.take_stories().front(), catalogue, maker.version());
  return write_file(*single_, page, output.err) ? Exit::as_expected : Exit::bad_input;
}

Exit Report::perform(const models::locks::Catalogue& catalogue, Output& output) {
  const Guard guard(max_memory_);
  const std::optional<std::vector<Scenario>> scenarios = load_all(*this, stories_, catalogue, output.err);
  if (!scenarios) return Exit::bad_input;
  if (single_) return make_single(catalogue, *scenarios, output);

  ReportFolder folder(files.front());
  if (const auto trouble = folder.open()) return refuse(output, *trouble);
  ResultsKept kept(folder.path() / ".results");
  Maker maker(catalogue, output, kept);
  Tasks tasks;
  maker.plan_measured(*scenarios, tasks);
  maker.plan_stories(*scenarios, tasks);
  if (!maker.is_good()) return Exit::bad_input;
  maker.plan_matrix(tasks);
  tasks.run(jobs, output);
  if (!maker.is_good()) return Exit::bad_input;
  if (maker.is_interrupted()) {
    output.err << "lockstep: interrupted, and no page is written; what is known so far is kept for the next time\n";
    return Exit::incomplete;
  }
  const reports::site::SiteInput input{.stories = maker.take_stories(),
                                       .matrix = maker.take_matrix(),
                                       .measured = maker.take_measured(),
                                       .matrix_bounds = maker.matrix_bounds(),
                                       .version = maker.version()};
  const auto for_each = [&](std::size_t count, const std::function<void(std::size_t)>& work) {
    scenarios::in_parallel(count, jobs, work);
  };
  const std::vector<reports::site::SiteFile> pages = reports::site::site_of(input, catalogue, for_each);
  if (const auto trouble = folder.write(pages)) return refuse(output, *trouble);
  kept.forget_others();
  std::uintmax_t bytes = 0;
  for (const auto& page : pages) bytes += page.content.size();
  output.out << fmt::format("{} pages, {:.1f} MB: {}\n", pages.size(), static_cast<double>(bytes) / 1e6,
                            (folder.path() / "index.html").string());
  return Exit::as_expected;
}

}  // namespace

std::unique_ptr<Call> report_call() { return std::make_unique<Report>(); }

}  // namespace lockstep::cli
