#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <ostream>

#include "cli/commands/load_all.hpp"
#include "cli/formats/format.hpp"
#include "cli/interrupt.hpp"
#include "door/serve.hpp"
#include "models/servers/server_kind.hpp"
#include "reports/json/json.hpp"

namespace lockstep::cli {
namespace {

// tidy: real clients — theirs is the one time that a simulated server here follows.
using RealTime = std::chrono::steady_clock;

sim::Duration since_epoch() {
  // tidy: real clients — an EXPIREAT of theirs counts from 1970.
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return sim::Duration::nanoseconds(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

class Serve final : public Call {
 public:
  Manual manual() override {
    return {
        .name = "serve",
        .summary = "let redis-cli, kazoo and other real clients talk to a scenario's servers",
        .example = "serve scenarios/stories/reference/set-nx-px-lua-3x2.toml --port 6400",
        .head =
            R"(Serves a scenario's Redis or ZooKeeper servers to real clients: redis-cli, client libraries, test suites.

usage: lockstep serve FILE [OPTIONS]

Each server of the scenario gets a port of 127.0.0.1, which is printed, and behaves there as in the
simulation: its clock, and the pauses, crashes and jumps that the file plans for it at given times. The
scenario's clients do not run. Ctrl-C ends it. docs/manual/serve.md has more.

)",
        .options = {whole({"--port", "N", "of the first server; the next ones have N+1, N+2, ...; 0: free ones (0)"},
                          {0, 65535}, port_),
                    flag({"--step", "",
                          "time stands still until a client of Redis sends DEBUG STEP seconds, so that a lease\n"
                          "runs out exactly when you say; otherwise it runs with the real clock"},
                         step_)},
        .tail = R"(
Exit status: 0 ended by Ctrl-C, 2 the file or the call was wrong, or a port is taken.

example: lockstep serve scenarios/stories/reference/set-nx-px-lua-3x2.toml --port 6400
example: redis-cli -p 6400 SET lock me NX PX 30000
)",
        .json = "the ports as one JSON document on stdout, nothing else",
        .seed = "what SPOP and its like take (1)",
        .is_laid_out = false};
  }

  std::string mistake() override {
    if (files.size() == 1) return "";
    return "serve needs one scenario file, e.g. lockstep serve scenarios/stories/reference/set-nx-px-lua-3x2.toml";
  }

  Exit perform(const models::locks::Catalogue& catalogue, Output& output) override;

 private:
  void announce(const door::DoorKind& kind, const std::vector<door::OpenPort>& ports, Output& output) {
    const auto lines = [&] {
      reports::Lines all;
      for (const door::OpenPort& open : ports)
        all.emplace_back(fmt::format("{} is served at 127.0.0.1:{}", open.server, open.port));
      all.emplace_back(step_ ? fmt::format("time stands still: {} moves it; Ctrl-C ends", kind.step)
                             : "time is real time; Ctrl-C ends");
      return all;
    };
    const auto json = [&] {
      reports::Json servers = reports::Json::array();
      for (const door::OpenPort& open : ports) servers.push_back({{"name", open.server}, {"port", open.port}});
      return reports::Json{{"host", "127.0.0.1"}, {"servers", servers}}.dump(2) + '\n';
    };
    report(*this, {.lines = lines, .json = json}, output);
    output.out.flush();
  }

  std::uint16_t port_ = 0;  ///< 0: a free one
  bool step_ = false;
};

Exit Serve::perform(const models::locks::Catalogue& catalogue, Output& output) {
  auto loaded = load_all(*this, files, catalogue, output.err);
  if (!loaded) return Exit::bad_input;
  if (loaded->size() != 1) {
    return refuse(output,
                  fmt::format("serve needs one scenario, and there are {}: name a single file", loaded->size()));
  }
  const models::ServerKind& servers = *loaded->front().servers.front().kind;
  const door::DoorKind* kind = door::door_for(servers);
  if (kind == nullptr) {
    return refuse(output, fmt::format("{} has servers of kind {}, which do not speak to clients outside; these do: {}",
                                      loaded->front().file, servers.name(), door::kinds_with_doors()));
  }
  if (step_ && !kind->why_no_step.empty()) {
    return refuse(output, fmt::format("{} has servers of kind {}, so --step cannot be had: {}", loaded->front().file,
                                      servers.name(), kind->why_no_step));
  }
  door::ServeOptions options;
  options.port = port_;
  options.seed = seed.value_or(1);
  if (!step_) {
    const auto begin = RealTime::now();
    options.elapsed = [begin] {
      const auto passed = std::chrono::duration_cast<std::chrono::nanoseconds>(RealTime::now() - begin);
      return sim::Duration::nanoseconds(passed.count());
    };
    options.epoch = since_epoch();
  }
  const Interrupt interrupt;
  const auto result = door::serve(
      std::move(loaded->front()), catalogue, *kind, options,
      [&](const std::vector<door::OpenPort>& ports) { announce(*kind, ports, output); },
      [&] { return interrupt.is_requested(); });
  if (const door::Trouble* trouble = std::get_if<door::Trouble>(&result)) {
    return refuse(output, fmt::format("{}: choose another --port, or 0 for a free one", trouble->message));
  }
  return Exit::as_expected;
}

}  // namespace

std::unique_ptr<Call> serve_call() { return std::make_unique<Serve>(); }

}  // namespace lockstep::cli
