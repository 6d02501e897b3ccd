// Made-up calls of all commands, with made-up files: no signal, no hang, memory that is bounded, no page of a message, and no file of the user's changed.
// The calls follow from a seed and from the options that the commands have, so a new option has its turn by itself.

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "cli/commands/commands.hpp"
#include "cli/testing/spawned_testing.hpp"
#include "sim/schedules/random.hpp"
#include "sim/testing/in_tree.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::cli::hostile_calls_test {
namespace {

namespace fs = std::filesystem;
using sim::Random;

const std::uint64_t kCalls = sim::cases<std::uint64_t>(2'000, 20);
constexpr std::uint64_t kMegabyte = 1'000'000;
// Half of it may the command have by its own account; the rest is for what it does not count, and for sanitizers.
constexpr std::string_view kMemory = "300MB";
constexpr std::uint64_t kMemoryMax = (sim::is_sanitized ? 6'000 : 600) * kMegabyte;
constexpr int kInterruptAfterMs = 3'000;
constexpr int kPatienceMs = 20'000;
constexpr std::size_t kMessageBytesMax = 20'000;

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

template <class Items>
const auto& one_of(Random& random, const Items& items) {
  return items[random.below(std::size(items))];
}

// --- Files that are nearly good, or not at all.

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines{""};
  for (const char c : text) {
    lines.back() += c;
    if (c == '\n') lines.emplace_back();
  }
  return lines;
}

/// Numbers, times, names and brackets in places where others stood.
const std::array<std::string, 22> kPieces{"-1",
                                          "0",
                                          "9223372036854775807",
                                          "1e308",
                                          "\"0ms\"",
                                          "\"1ns\"",
                                          "\"87600h\"",
                                          "[\"0ms\", \"87600h\"]",
                                          "\"\"",
                                          "[]",
                                          "{}",
                                          "nil",
                                          "\xff\xfe",
                                          "\"\\u001b[31m\"",
                                          "%s%n",
                                          "while true do end ",
                                          "repeat local ok = pcall(error, 'x') until ok ",
                                          "error(('x'):rep(1000000)) ",
                                          "local t = {} while true do t[#t + 1] = ('x'):rep(1000) end ",
                                          repeated("[", 100'000),
                                          repeated("{", 100'000),
                                          repeated("not ", 100'000)};

void change(Random& random, std::string& text) {
  std::vector<std::string> lines = lines_of(text);
  std::string& line = lines[random.below(lines.size())];
  switch (random.below(7)) {
    case 0: line.clear(); break;
    case 1: line += line; break;
    // Several times over it would be larger than what the called program may take.
    case 2:
      line = repeated(line, 1 + random.below(std::min<std::size_t>(3'000, 1 + 4'000'000 / (line.size() + 1))));
      break;
    case 3: std::swap(line, lines[random.below(lines.size())]); break;
    case 4: line.insert(random.below(line.size() + 1), one_of(random, kPieces)); break;
    case 5: {
      // What stands behind "=", or a number.
      const std::size_t sign = line.find('=');
      const std::size_t at = sign == std::string::npos ? line.find_first_of("0123456789") : sign + 1;
      if (at != std::string::npos) line = line.substr(0, at) + " " + one_of(random, kPieces) + "\n";
      break;
    }
    default: line.resize(random.below(line.size() + 1)); break;
  }
  text.clear();
  for (const std::string& changed : lines) text += changed;
}

/// Such texts of the repository, small ones.
const std::vector<std::string>& texts(const std::string& pathspec) {
  static std::map<std::string, std::vector<std::string>> read;
  std::vector<std::string>& found = read[pathspec];
  if (!found.empty()) return found;
  const std::string root = in_tree("");
  for (const std::string& file : tracked_files(root, pathspec)) {
    std::string text = text_of(fs::path(root) / file);
    const bool needs_another = text.find("script = ") != std::string::npos;
    if (text.size() < 20'000 && !needs_another) found.push_back(std::move(text));
  }
  REQUIRE_FALSE(found.empty());
  return found;
}

std::string changed_text(Random& random, const std::string& pathspec) {
  std::string text = one_of(random, texts(pathspec));
  for (std::uint64_t i = random.one_in(2) ? 0 : random.between(1, 3); i > 0; --i) change(random, text);
  return text;
}

/// What the user has: made anew for each call.
class Home {
 public:
  Home() {
    std::string name = (fs::temp_directory_path() / "lockstep-calls-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Home() { fs::remove_all(path_); }
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;

  void fill(Random& random) {
    for (const auto& entry : fs::directory_iterator(path_)) fs::remove_all(entry.path());
    std::string story = changed_text(random, "scenarios/stories/*.toml");
    if (const std::size_t at = story.find("algorithm = "); at != std::string::npos && random.one_in(3))
      story.replace(at, story.find('\n', at) - at, "script = \"lock.lua\"");
    write("story.toml", story);
    write("lock.lua", changed_text(random, "*.lua"));
    write("history.edn", changed_text(random, "checker/corpus/history_*"));
    write("notes.txt", "mine\n");
    fs::create_directory(path_ / "folder");
    write("folder/mine.toml", "mine\n");
    write("folder/index.html", "mine\n");
    for (const auto& entry : fs::recursive_directory_iterator(path_))
      if (entry.is_regular_file()) files_[entry.path()] = text_of(entry.path());
  }

  /// The user's files that are not what they were.
  std::vector<std::string> changed() const {
    std::vector<std::string> names;
    for (const auto& [file, text] : files_)
      if (text_of(file) != text) names.push_back(fs::relative(file, path_).string());
    return names;
  }
  std::string path() const { return path_.string(); }

 private:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
  }

  fs::path path_;
  std::map<fs::path, std::string> files_;
};

// --- Calls.

const std::array<std::string, 28> kWords{"",
                                         "0",
                                         "1",
                                         "2",
                                         "7",
                                         "-1",
                                         "1.5",
                                         "99999999999999999999999",
                                         "1e999",
                                         "nan",
                                         "50ms",
                                         "10MB",
                                         "0/2",
                                         "pause=20ms",
                                         "mutual-exclusion",
                                         "mutex",
                                         "set-nx-px-lua",
                                         "set-nx-px-lua,redlock-seq",
                                         "lock.lua",
                                         "story.toml",
                                         "history.edn",
                                         "folder",
                                         "new",
                                         "new/deeper/still",
                                         "/dev/full",
                                         "\x1b[31m",
                                         "%s%n\xff",
                                         std::string(100'000, 'x')};
const std::array<std::string, 3> kInputs{"story.toml", "lock.lua", "history.edn"};

/// What follows an option: half of it what it asks for.
std::string value_of(Random& random, const Option& option) {
  if (random.one_in(2)) return one_of(random, kWords);
  if (option.argument == "N" || option.argument == "S") return std::to_string(random.between(1, 4));
  if (option.argument == "FILE" || option.argument == "DIR") return random.one_in(3) ? "folder" : "new";
  return one_of(random, kWords);
}

std::string input_of(Random& random, std::string_view command) {
  if (random.one_in(8)) return one_of(random, kWords);
  if (command == "linearize") return "history.edn";
  if (command == "matrix") return random.one_in(2) ? "lock.lua" : "set-nx-px-lua";
  if (command == "new") return random.one_in(2) ? "story" : "fresh";
  return random.one_in(6) ? one_of(random, kInputs) : "story.toml";
}

std::vector<std::string> some_call(Random& random) {
  static const std::vector<std::unique_ptr<Call>> commands = all_commands();
  const Manual manual = one_of(random, commands)->manual();
  std::vector<std::string> words{std::string(manual.name)};
  if (manual.takes_words) words.push_back(input_of(random, manual.name));
  if (manual.name == "linearize") words.insert(words.end(), {"--model", "mutex"});
  for (std::uint64_t i = random.below(4); i > 0 && !manual.options.empty(); --i) {
    const Option& option = one_of(random, manual.options);
    if (option.take == nullptr) continue;
    words.emplace_back(option.name);
    if (option.takes != Option::Takes::nothing) words.push_back(value_of(random, option));
  }
  const auto bounds = [&](std::string_view name) {
    return std::any_of(manual.options.begin(), manual.options.end(), [&](const Option& o) { return o.name == name; });
  };
  if (bounds("--max-memory")) words.insert(words.end(), {"--max-memory", std::string(kMemory)});
  return words;
}

std::string shown(const std::vector<std::string>& words) {
  std::string text = "lockstep";
  for (const std::string& word : words) text += " '" + word.substr(0, 60) + "'";
  return text;
}

/// What of the call is wrong; nothing: all is well.
std::vector<std::string> mistakes(const std::vector<std::string>& words, const Spawned& result, const Home& home) {
  std::vector<std::string> found;
  if (result.is_hanging) found.emplace_back("it hangs");
  // What has not come so far that it minds Ctrl-C dies of it, as any program does.
  if (result.exit < 0 && result.exit != -SIGINT) found.push_back(fmt::format("signal {}", -result.exit));
  if (result.exit > 3) found.push_back(fmt::format("exit {}", result.exit));
  if (result.memory > kMemoryMax) found.push_back(fmt::format("{} MB", result.memory / kMegabyte));
  if (result.err.size() > kMessageBytesMax) found.push_back(fmt::format("{} bytes of messages", result.err.size()));
  if (result.exit == 2 && result.err.empty()) found.emplace_back("refused without a word");
  for (const std::string& file : home.changed()) {
    const bool is_asked_for = file == "notes.txt" && std::find(words.begin() + 1, words.end(), file) != words.end();
    if (!is_asked_for) found.push_back(file + " is changed");
  }
  return found;
}

}  // namespace

TEST_CASE("hostile: made-up calls of all commands with made-up files") {
  if (tracked_files(in_tree(""), "*.md").empty()) {
    std::cout << "SKIPPED: no checkout of git, whose files are what the made-up ones are made of\n";
    return;
  }
  std::map<int, std::uint64_t> exits;
  std::map<std::string, std::uint64_t> commands;
  const std::uint64_t first = std::getenv("LOCKSTEP_HUNT_FIRST") == nullptr
                                  ? 0
                                  : std::strtoull(std::getenv("LOCKSTEP_HUNT_FIRST"), nullptr, 10);
  for (std::uint64_t seed = first; seed < first + kCalls; ++seed) {
    Random random(seed);
    Home home;
    home.fill(random);
    const std::vector<std::string> words = some_call(random);
    const Spawned result =
        spawned(words, {.interrupt_after_ms = kInterruptAfterMs, .patience_ms = kPatienceMs, .folder = home.path()});
    ++exits[result.exit];
    ++commands[words.front()];
    const std::vector<std::string> wrong = mistakes(words, result, home);
    if (wrong.empty()) continue;
    const fs::path kept = fs::temp_directory_path() / fmt::format("lockstep-hostile-call-{}", seed);
    fs::remove_all(kept);
    home.fill(random = Random(seed));
    fs::copy(home.path(), kept, fs::copy_options::recursive);
    for (const std::string& what : wrong) {
      INFO(fmt::format("call {}, files in {}\n{}\n{}", seed, kept.string(), shown(words), result.err.substr(0, 500)));
      FAIL_CHECK(what);
    }
  }
  for (const auto& [exit, times] : exits) WARN(fmt::format("exit {}: {} calls", exit, times));
  // Calls that all are refused at once would show nothing.
  CHECK(exits[0] + exits[1] + exits[3] > kCalls / 10);
  CHECK(commands.size() > 8);
}

}  // namespace lockstep::cli::hostile_calls_test
