#include "programs/program_client.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <variant>

#include "models/redis/wire/command.hpp"
#include "models/redis/wire/messages.hpp"
#include "scenarios/story/diagnostic.hpp"
#include "scenarios/story/suggestion.hpp"

namespace lockstep::programs {

namespace {

/// What programs see at the origin of time: some refuse to believe in 1970, or in a machine that has just been started.
constexpr std::int64_t kEpoch = 1'700'000'000'000'000'000;
constexpr std::int64_t kUptime = 1'000'000'000'000;
/// A program may print for ever; people look at the end.
constexpr std::size_t kMostOutput = 1 << 16;

}  // namespace

ProgramClient::~ProgramClient() {
  // The world may be gone: what waits in it is not told.
  program_.reset();
}

void ProgramClient::connect_to(sim::ProcessId server, sim::DurationRange latency) {
  for (int i = 0; i < kConnections; ++i) {
    lines_.push_back(std::make_unique<Line>());
    lines_.back()->connection = world().connect(id(), server, latency);
    lines_.back()->port = static_cast<std::uint16_t>(kFirstPort + servers_);
  }
  ++servers_;
}

tracer::Readings ProgramClient::readings() const {
  return {kUptime + monotonic().now().offset().count_ns(), kEpoch + clock().now().offset().count_ns()};
}

void ProgramClient::start() {
  try {
    tracer::Outside& outside = *this;
    program_ = std::make_unique<tracer::Program>(command_, seed_ + 1'000'003 * lives_++, readings(), outside);
  } catch (const tracer::TracerTrouble& trouble) {
    trouble_ = trouble.what();
    return;
  }
  go_on();
}

void ProgramClient::go_on() {
  if (program_ == nullptr || trouble_) return;
  try {
    program_->set_clocks(readings());
    program_->run();
    while (!refused_.empty()) {
      for (const tracer::SocketId socket : std::exchange(refused_, {})) program_->finish_connect(socket, ECONNREFUSED);
      program_->run();
    }
    note_calls();
    if (program_->is_over()) beliefs_.end(world(), id());
    set_alarm();
  } catch (const tracer::TracerTrouble& trouble) {
    trouble_ = trouble.what();
    program_.reset();
  }
}

void ProgramClient::note_calls() {
  const std::vector<tracer::CallMade>& made = program_->calls();
  for (; noted_ < made.size(); ++noted_)
    calls_.push_back({world().now(), id(), made[noted_].thread, made[noted_].name});
}

void ProgramClient::set_alarm() {
  world().cancel_timer(std::exchange(alarm_, {}));
  const std::optional<std::int64_t> deadline = program_->next_deadline();
  if (!deadline) return;
  const std::int64_t left = std::max<std::int64_t>(*deadline - readings().monotonic, 0);
  const sim::Duration length = monotonic().true_length(sim::Duration::nanoseconds(left));
  alarm_ = world().set_timer(id(), sim::DurationRange::exactly(length), sim::TimerKind::sleep, *this);
}

void ProgramClient::timer_fired() {
  alarm_ = {};
  go_on();
}

void ProgramClient::connects(tracer::SocketId socket, std::uint16_t port) {
  const auto line = std::find_if(lines_.begin(), lines_.end(), [&](const auto& each) {
    return each->port == port && each->state == Line::State::free;
  });
  if (line == lines_.end()) return refused_.push_back(socket);
  (*line)->state = Line::State::connecting;
  (*line)->socket = socket;
  (*line)->parser = models::redis::RequestParser();
  // The handshake of TCP: one message there, one back.
  request(**line, Call::Kind::connect, models::redis::Command{"PING"});
}

void ProgramClient::sent(tracer::SocketId socket, std::string_view bytes) {
  Line* line = line_of(socket);
  if (line == nullptr) return;
  has_acted_ = true;
  line->parser.feed(bytes);
  for (;;) {
    auto next = line->parser.next();
    if (std::holds_alternative<models::redis::Incomplete>(next)) return;
    if (std::holds_alternative<models::redis::ProtocolError>(next)) return program_->reset(socket);
    request(*line, Call::Kind::command, std::get<models::redis::Command>(std::move(next)));
  }
}

void ProgramClient::hung_up(tracer::SocketId socket) {
  Line* line = line_of(socket);
  if (line == nullptr) return;
  free(*line);
  say_goodbye(*line);
}

void ProgramClient::say_goodbye(Line& line) {
  // What the session held is dropped by this, before anything that the next user of the line sends. Nobody waits for
  // the answer, which may be lost.
  Call nobody(*this, line, Call::Kind::command);
  sim::MessagePtr message = world().make<models::redis::Request>(models::redis::Command{"QUIT"});
  const sim::CallRef reference = message->call = world().open_call(nobody, id());
  world().send_request(line.connection, std::move(message));
  world().close_call(reference);
}

void ProgramClient::wrote(int descriptor, std::string_view bytes) {
  if (descriptor == 2) return keep_output(bytes);
  unfinished_ += bytes;
  for (std::size_t end = 0; (end = unfinished_.find('\n')) != std::string::npos; unfinished_.erase(0, end + 1)) {
    const std::string line = unfinished_.substr(0, end);
    if (const std::optional<BeliefLine> belief = read_belief(line)) {
      has_acted_ = true;
      const std::optional<std::string> objection = beliefs_.take(world(), id(), *belief);
      if (objection && !trouble_) trouble_ = objection;
    } else {
      keep_output(line + '\n');
    }
  }
  // No line of belief is so long.
  if (unfinished_.size() > kMostOutput) keep_output(std::exchange(unfinished_, {}));
}

void ProgramClient::keep_output(std::string_view bytes) {
  output_ += bytes;
  if (output_.size() > 2 * kMostOutput) output_.erase(0, output_.size() - kMostOutput);
}

void ProgramClient::request(Line& line, Call::Kind kind, models::redis::Command command) {
  Call& call = *line.calls.emplace_back(std::make_unique<Call>(*this, line, kind));
  sim::MessagePtr message = world().make<models::redis::Request>(std::move(command));
  call.reference = message->call = world().open_call(call, id());
  world().send_request(line.connection, std::move(message));
}

void ProgramClient::Call::reply_arrived(sim::Message& reply) {
  const auto& response = static_cast<models::redis::Response&>(reply);
  reference = {};
  bytes.emplace();
  if (!response.content.is_unknown()) response.content.append_resp(*bytes);
  closes = response.closes || response.content.is_unknown();
  client.replied(line);
}

void ProgramClient::Call::connection_lost() {
  reference = {};
  client.lost(line);
}

void ProgramClient::replied(Line& line) {
  // Replies reach a program in the order of its requests, even where a later one was answered first.
  while (!line.calls.empty() && line.calls.front()->bytes) {
    const std::unique_ptr<Call> call = std::move(line.calls.front());
    line.calls.pop_front();
    hand_on(line, *call);
  }
  go_on();
}

void ProgramClient::hand_on(Line& line, const Call& call) {
  if (program_ == nullptr) return;
  if (call.kind == Call::Kind::connect) {
    line.state = Line::State::open;
    program_->finish_connect(line.socket, 0);
    return;
  }
  program_->deliver(line.socket, *call.bytes);
  if (call.closes) program_->close(line.socket);
}

void ProgramClient::lost(Line& line) {
  // Nobody listens there any more, or the server's machine has reset the connection. The call that says so is on the
  // stack, and lives until this is over.
  const std::deque<std::unique_ptr<Call>> calls = std::exchange(line.calls, {});
  for (const auto& call : calls) {
    if (call->reference.generation != 0) world().close_call(std::exchange(call->reference, {}));
  }
  free(line);
  if (program_ == nullptr) return;
  program_->reset(line.socket);
  go_on();
}

void ProgramClient::notified(sim::Message& message, sim::ConnectionId connection) {
  const auto line = std::find_if(lines_.begin(), lines_.end(),
                                 [&](const auto& each) { return each->connection.index == connection.index; });
  if (line == lines_.end() || (*line)->state != Line::State::open || program_ == nullptr) return;
  std::string bytes;
  static_cast<models::redis::Response&>(message).content.append_resp(bytes);
  program_->deliver((*line)->socket, bytes);
  go_on();
}

void ProgramClient::free(Line& line) {
  for (const auto& call : line.calls) {
    if (call->reference.generation != 0) world().close_call(call->reference);
  }
  line.calls.clear();
  line.state = Line::State::free;
}

void ProgramClient::stop_program() {
  program_.reset();
  noted_ = 0;
  alarm_ = {};
  refused_.clear();
  unfinished_.clear();
  beliefs_.forget();
}

void ProgramClient::crashed(bool) {
  stop_program();
  for (const auto& line : lines_) free(*line);
}

void ProgramClient::reset() {
  stop_program();
  for (const auto& line : lines_) {
    line->calls.clear();
    line->state = Line::State::free;
  }
  lives_ = 0;
  output_.clear();
  calls_.clear();
  has_acted_ = false;
  trouble_.reset();
}

namespace {

std::string_view last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  const std::size_t end = text.rfind('\n');
  return end == std::string_view::npos ? text : text.substr(end + 1);
}

constexpr int kCannotExecute = 127;

}  // namespace

std::optional<std::string> ProgramClient::trouble() const {
  if (trouble_) return trouble_;
  const std::optional<int> ended = status();
  if (!ended || *ended == 0 || has_acted_) return std::nullopt;
  if (WIFEXITED(*ended) && WEXITSTATUS(*ended) == kCannotExecute && output_.empty())
    return fmt::format("cannot be executed: {}", scenarios::in_quotes(command_.arguments.front()));
  return fmt::format("did nothing, and {}", how_it_ended(*ended));
}

std::string ProgramClient::how_it_ended(int status) const {
  const std::string how = WIFEXITED(status) ? fmt::format("ended with status {}", WEXITSTATUS(status))
                                            : fmt::format("was ended by signal {}", WTERMSIG(status));
  const std::string said = scenarios::one_line(last_line(output_));
  return said.empty() ? how : fmt::format("{}: {}", how, said);
}

std::vector<std::string> ProgramClient::notes() const {
  std::vector<std::string> notes = escapes();
  const std::optional<int> ended = status();
  if (ended && *ended != 0) notes.push_back("it " + how_it_ended(*ended));
  if (program_ != nullptr && !program_->is_over()) notes.emplace_back("it has not ended, and waits");
  return notes;
}

std::vector<std::string> ProgramClient::escapes() const {
  return program_ == nullptr ? std::vector<std::string>() : program_->escapes();
}

ProgramClient::Line* ProgramClient::line_of(tracer::SocketId socket) {
  const auto line = std::find_if(lines_.begin(), lines_.end(), [&](const auto& each) {
    return each->socket == socket && each->state != Line::State::free;
  });
  return line == lines_.end() ? nullptr : line->get();
}

}  // namespace lockstep::programs
