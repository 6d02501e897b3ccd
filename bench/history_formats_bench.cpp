// How fast histories are read, from memory. Prints MB/s and what a million operations cost; judges nothing.

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <string>

#include "checker/histories/read.hpp"
#include "checker/histories/recorder.hpp"

namespace {

namespace formats = lockstep::checker::history_formats;
using lockstep::checker::find_model;

constexpr int kOperations = 1'000'000;
constexpr int kProcesses = 16;

enum class Shape { edn, json, log };

/// Each process's write, read or cas in turn; the answers are not meant to be right.
std::string generated(Shape shape) {
  std::string text;
  text.reserve(std::size_t{kOperations} * 200);
  constexpr std::string_view functions[] = {"read", "write", "cas"};
  for (int i = 0; i < 2 * kOperations; ++i) {
    const int round = i / (2 * kProcesses);
    const int process = i % kProcesses;
    const bool is_end = i % (2 * kProcesses) >= kProcesses;
    const int function = (round + process) % 3;
    const std::string_view type = is_end ? "ok" : "invoke";
    const std::string nothing = shape == Shape::json ? "null" : "nil";
    const std::string comma = shape == Shape::json ? ", " : " ";
    const std::string value = function == 1   ? std::to_string(round % 1000)
                              : function == 2 ? fmt::format("[{}{}{}]", round % 5, comma, process % 5)
                              : is_end        ? std::to_string(round % 1000)
                                              : nothing;
    auto out = std::back_inserter(text);
    switch (shape) {
      case Shape::edn:
        fmt::format_to(out, "{{:type :{}, :f :{}, :value {}, :process {}, :time {}, :index {}}}\n", type,
                       functions[function], value, process, 1'000LL * i, i);
        break;
      case Shape::json:
        fmt::format_to(
            out, "{{\"type\": \"{}\", \"f\": \"{}\", \"value\": {}, \"process\": {}, \"time\": {}, \"index\": {}}}\n",
            type, functions[function], value, process, 1'000LL * i, i);
        break;
      case Shape::log:
        fmt::format_to(out, "INFO  jepsen.util - {}\t:{}\t:{}\t{}\n", process, type, functions[function], value);
        break;
    }
  }
  return text;
}

/// Of the processor, the best of five: the others were disturbed.
template <class Body>
double best_seconds(Body body) {
  double best = 1e18;
  for (int run = 0; run < 5; ++run) {
    const std::clock_t begin = std::clock();
    body();
    best = std::min(best, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return best;
}

void expect(bool condition) {
  if (condition) return;
  fmt::print(stderr, "a history was not read as it should be\n");
  std::exit(1);
}

long peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

}  // namespace

int main() {
  fmt::print("{:6} {:>8} {:>12} {:>14} {:>22}\n", "format", "MB", "events MB/s", "recorded MB/s",
             "recorded, 10^6 operations");
  for (const auto& [name, shape] : {std::pair{"edn", Shape::edn}, {"json", Shape::json}, {"log", Shape::log}}) {
    const std::string text = generated(shape);
    const double mb = static_cast<double>(text.size()) / 1e6;
    const double events = best_seconds([&] {
      const auto nobody = [](const formats::Event&) { return std::optional<formats::Complaint>(); };
      expect(formats::read_history(formats::text_source(text), formats::Format::automatic, nobody).events ==
             2 * kOperations);
    });
    const double recorded = best_seconds([&] {
      formats::Recorder recorder(*find_model("cas-register"), {});
      const auto result = formats::read_history(formats::text_source(text), formats::Format::automatic,
                                                [&](const formats::Event& event) { return recorder.take(event); });
      expect(!result.trouble && recorder.finish().operations.operations.size() == kOperations);
    });
    fmt::print("{:6} {:8.1f} {:12.0f} {:14.0f} {:20.2f} s\n", name, mb, mb / events, mb / recorded, recorded);
  }
  fmt::print("peak of this process, with one text of each size in memory: {} MB\n", peak_mb());
  return 0;
}
