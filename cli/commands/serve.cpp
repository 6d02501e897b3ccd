#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/commands/commands.hpp"
#include "cli/interrupt.hpp"
#include "door/serve.hpp"

namespace lockstep::cli {
namespace {

// tidy: real clients — theirs is the one time that a simulated server here follows.
using RealTime = std::chrono::steady_clock;

sim::Duration since_epoch() {
  // tidy: real clients — an EXPIREAT of theirs counts from 1970.
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return sim::Duration::nanoseconds(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

void announce(const Call& call, const std::vector<door::OpenPort>& ports, Output& output) {
  if (call.json) {
    auto servers = nlohmann::ordered_json::array();
    for (const door::OpenPort& open : ports) servers.push_back({{"name", open.server}, {"port", open.port}});
    output.out << nlohmann::ordered_json{{"host", "127.0.0.1"}, {"servers", servers}}.dump(2) << '\n';
  } else {
    for (const door::OpenPort& open : ports) {
      output.out << fmt::format("{} is served at 127.0.0.1:{}\n", open.server, open.port);
    }
    output.out << (call.serve.step ? "time stands still: DEBUG STEP seconds moves it; " : "time is real time; ")
               << "Ctrl-C ends\n";
  }
  output.out.flush();
}

}  // namespace

Exit serve(const Call& call, const models::locks::Catalogue& catalogue, Output& output) {
  auto loaded = load_all(call.files, catalogue, output.err);
  if (!loaded) return Exit::bad_input;
  if (loaded->size() != 1) {
    output.err << fmt::format("lockstep: serve needs one scenario, and there are {}: name a single file\n",
                              loaded->size());
    return Exit::bad_input;
  }
  door::ServeOptions options;
  options.port = call.serve.port;
  options.seed = call.seed.value_or(1);
  if (!call.serve.step) {
    const auto begin = RealTime::now();
    options.elapsed = [begin] {
      const auto passed = std::chrono::duration_cast<std::chrono::nanoseconds>(RealTime::now() - begin);
      return sim::Duration::nanoseconds(passed.count());
    };
    options.epoch = since_epoch();
  }
  const Interrupt interrupt;
  const auto result = door::serve(
      std::move(loaded->front()), catalogue, options,
      [&](const std::vector<door::OpenPort>& ports) { announce(call, ports, output); },
      [&] { return interrupt.is_requested(); });
  if (const door::Trouble* trouble = std::get_if<door::Trouble>(&result)) {
    output.err << fmt::format("lockstep: {}: choose another --port, or 0 for a free one\n", trouble->message);
    return Exit::bad_input;
  }
  return Exit::as_expected;
}

}  // namespace lockstep::cli
