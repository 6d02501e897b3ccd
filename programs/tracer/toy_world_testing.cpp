#include "programs/tracer/toy_world_testing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <optional>

namespace lockstep::programs::tracer::testing {

namespace {

constexpr std::int64_t kEpoch = 1'700'000'000'000'000'000;
constexpr std::int64_t kUptime = 1'000'000'000'000;

}  // namespace

class ToyWorld::Client final : public Outside {
 public:
  Client(ToyWorld& world, std::string name, const Command& command, std::uint64_t seed, ToyClock clock)
      : world_(world), name_(std::move(name)), clock_(clock), program_(command, seed, readings(), *this) {}

  Readings readings() const {
    const std::int64_t elapsed = world_.now_ + (clock_.drifts ? world_.now_ / 1000 : 0);
    return {kUptime + elapsed, kEpoch + elapsed + clock_.offset};
  }
  void run() {
    program_.set_clocks(readings());
    program_.run();
  }
  /// The true time of its next deadline.
  std::optional<std::int64_t> next() const {
    const std::optional<std::int64_t> deadline = program_.next_deadline();
    if (!deadline) return std::nullopt;
    const std::int64_t elapsed = *deadline - kUptime;
    // Rounded up, or it would wake before its time.
    return clock_.drifts ? (elapsed * 1000 + 1000) / 1001 : elapsed;
  }

  void connects(SocketId socket, std::uint16_t port) override {
    say(fmt::format("connects {}", socket));
    world_.later(world_.latency(), [this, socket, port] {
      program_.finish_connect(socket, port == kToyPort ? 0 : ECONNREFUSED);
      run();
    });
  }
  void sent(SocketId socket, std::string_view bytes) override {
    say(fmt::format("sends {}: {}", socket, bytes));
    unread_ += bytes;
    for (std::size_t end = 0; (end = unread_.find('\n')) != std::string::npos; unread_.erase(0, end + 1)) {
      ask(socket, unread_.substr(0, end));
    }
  }
  void hung_up(SocketId socket) override { say(fmt::format("hangs up {}", socket)); }
  void wrote(int descriptor, std::string_view bytes) override { say(fmt::format("writes {}: {}", descriptor, bytes)); }

  Program& program() { return program_; }

 private:
  void say(const std::string& what) { world_.note(name_ + " " + what); }
  void ask(SocketId socket, const std::string& question) {
    world_.later(world_.latency(), [this, socket, question] {
      const std::string reply = world_.answer(question);
      world_.later(world_.latency(), [this, socket, reply] {
        program_.deliver(socket, reply + "\n");
        run();
      });
    });
  }

  ToyWorld& world_;
  std::string name_;
  ToyClock clock_;
  std::string unread_;
  Program program_;
};

ToyWorld::ToyWorld(std::uint64_t seed) : seed_(seed), random_(seed) {}
ToyWorld::~ToyWorld() = default;

void ToyWorld::add(std::vector<std::string> arguments, ToyClock clock) {
  Command command;
  command.arguments = std::move(arguments);
  command.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/nonexistent", "LANG=C.UTF-8"};
  const std::string name(1, static_cast<char>('A' + clients_.size()));
  clients_.push_back(std::make_unique<Client>(*this, name, command, seed_ * 100 + clients_.size(), clock));
  later(0, [client = clients_.back().get()] { client->run(); });
}

void ToyWorld::run(std::int64_t seconds) {
  for (;;) {
    std::optional<std::int64_t> next;
    Client* waking = nullptr;
    for (const auto& client : clients_) {
      const std::optional<std::int64_t> at = client->next();
      if (at && (!next || *at < *next)) next = at, waking = client.get();
    }
    const bool is_event = !pending_.empty() && (!next || pending_.begin()->first.first <= *next);
    if (!is_event && waking == nullptr) return;
    now_ = std::max(now_, is_event ? pending_.begin()->first.first : *next);
    if (now_ > seconds * 1'000'000'000) return;
    if (is_event) {
      const auto action = pending_.extract(pending_.begin());
      action.mapped()();
    } else {
      waking->run();
    }
  }
}

const Program& ToyWorld::program(std::size_t number) const { return clients_[number]->program(); }

void ToyWorld::later(std::int64_t delay, std::function<void()> action) {
  pending_.emplace(std::pair(now_ + delay, emitted_++), std::move(action));
}

std::int64_t ToyWorld::latency() {
  random_ = random_ * 6364136223846793005 + 1442695040888963407;
  return static_cast<std::int64_t>(1'000'000 + (random_ >> 33) % 9'000'000);
}

void ToyWorld::note(const std::string& line) {
  events_ += fmt::format("{:12.6f} {}", static_cast<double>(now_) / 1e6, line);
  if (events_.back() != '\n') events_ += '\n';
}

std::string ToyWorld::answer(const std::string& question) {
  note("server: " + question);
  if (question == "GIVE") return holder_.clear(), "OK";
  if (!holder_.empty()) return "NO";
  holder_ = question;
  return "OK";
}

}  // namespace lockstep::programs::tracer::testing
