#include "models/scripted/run.hpp"

#include <utility>

#include <fmt/format.h>

#include "models/redis/client/endpoint.hpp"
#include "models/redis/script/script_engine.hpp"
#include "models/scripted/lua_values.hpp"

namespace lockstep::models::scripted {
namespace {

constexpr std::size_t kDeepest = 50;
constexpr std::uint64_t kTurnsMost = 1'000'000;  // ten in a millisecond, for more than a minute

/// What Lua says of a value that a script cannot know to be an object of ours.
std::string in_terms_of_times(std::string text) {
  constexpr std::string_view kUserdata = "a userdata value";
  for (std::size_t at = text.find(kUserdata); at != std::string::npos; at = text.find(kUserdata))
    text.replace(at, kUserdata.size(), "a time");
  constexpr std::string_view kBoundary = "attempt to yield across metamethod/C-call boundary";
  if (const std::size_t at = text.find(kBoundary); at != std::string::npos) {
    text.replace(at, kBoundary.size(),
                 "what waits, and pcall, cannot be called from an iterator, a metamethod, or a function that is given "
                 "to table.sort or string.gsub");
  }
  return text;
}

void note_mistake_of(sim::World& world, Log& log, const std::string& sentence) {
  log.note(sentence);
  if (world.mistake() == nullptr) world.note_mistake(log.keep(sentence));
}

}  // namespace

Run::Run(std::shared_ptr<Machine> machine, Client& client, const LockObject& lock, std::string_view where)
    : machine_(std::move(machine)), client_(client), lock_(lock), where_(where) {
  context_ = machine_->context(client, lock);
  machine_->context_at(context_)->operation = client.session().operation;
  levels_.push_back({machine_->interpreter().take_thread()});
}

Run::~Run() {
  while (!levels_.empty()) end_level(has_returned_ && levels_.size() == 1);
}

void Run::begin(const char* function) {
  machine_->push_defined(function);
  lua_xmove(machine_->lua(), lua(), 1);
  lua_rawgeti(lua(), LUA_REGISTRYINDEX, machine_->context_at(context_)->table);
}

void Run::begin(int reference) {
  lua_rawgeti(lua(), LUA_REGISTRYINDEX, reference);
  lua_rawgeti(lua(), LUA_REGISTRYINDEX, machine_->context_at(context_)->table);
}

void Run::end_level(bool is_usable) {
  machine_->interpreter().give_back(levels_.back().thread, is_usable);
  levels_.pop_back();
}

void Run::fail(lua_State* thread) {
  redis::LuaSession& session = machine_->interpreter().session();
  client_.session().missed_reply = true;  // nobody knows what the attempt has done
  if (session.is_stopped()) {
    std::vector<sim::CodePlace> places;
    add_places(places);
    const std::string place = session.stopped_line() == 0 && !places.empty()
                                  ? fmt::format("{}:{}", machine_->program().file, places.front().line)
                                  : machine_->interpreter().place_of_stop();
    const std::string text = fmt::format("{}: {} (in {} of {})", place, *session.stopped(), where_, client_.name());
    client_.world().give_up(lock_.log->keep(text));
    return;
  }
  std::string said;
  if (lua_istable(thread, -1)) {
    // Whatever table that is: nothing of the script runs here.
    lua_pushliteral(thread, "error");
    lua_rawget(thread, -2);
    if (const char* text = lua_tostring(thread, -1))
      said = fmt::format("{}: error reply: {}", machine_->program().file, text);
    lua_pop(thread, 1);
  } else if (const char* text = lua_tostring(thread, -1)) {
    said = text;
  }
  if (said.empty()) said = machine_->program().file + ": an error that is no text";
  unhandled_.clear();
  note_mistake(fmt::format("{} (uncaught: {} ended there)", in_terms_of_times(std::move(said)), where_));
}

void Run::note_mistake(const std::string& sentence) { note_mistake_of(client_.world(), *lock_.log, sentence); }

void Run::note_answer(const redis::Reply& reply) {
  if (reply.is_error() && redis::is_mistake_of_script(reply.text())) unhandled_ = reply.text();
}

void Run::note_end() {
  if (unhandled_.empty()) return;
  note_mistake(fmt::format("{}: {} went on with an error of a script at a server, and never asked error_of: {}",
                           machine_->program().file, where_, std::exchange(unhandled_, {})));
}

bool Run::resume(int arguments) {
  redis::LuaSession& session = machine_->interpreter().session();
  while (true) {
    if (session.is_stopped()) {
      fail(lua());
      return false;
    }
    request.kind = Request::Kind::none;
    lua_State* const thread = lua();
    session.left_sides = levels_.back().left_sides;
    Run* const outer = std::exchange(machine_->interpreter().current, this);
    session.begin_turn(thread, &client_.world(), machine_->program().text.size());
    if (++turns_ > kTurnsMost) session.mark_stopped("script waited more than 1,000,000 times in one call");
    const int status = lua_resume(thread, arguments);
    session.end_turn();
    machine_->interpreter().current = outer;
    levels_.back().left_sides = session.left_sides;
    // What the world threw in the middle of a comparison goes on here.
    if (session.host_failure) std::rethrow_exception(std::exchange(session.host_failure, nullptr));

    if (status == LUA_YIELD) {
      if (request.kind != Request::Kind::protect) return true;
      // pcall: what it protects runs in a thread of its own, since it may wait.
      Interpreter::Thread inner = machine_->interpreter().take_thread();
      lua_xmove(thread, inner.lua, request.values);
      lua_settop(thread, 0);
      arguments = request.values - 1;
      levels_.push_back({inner});
      continue;
    }
    const bool succeeded = status == 0;
    if (levels_.size() == 1 || session.is_stopped()) {
      has_returned_ = succeeded && levels_.size() == 1;
      if (!has_returned_) fail(thread);
      return false;
    }
    lua_State* const waiting = levels_[levels_.size() - 2].thread.lua;
    if (!succeeded) unhandled_.clear();
    const int results = succeeded ? lua_gettop(thread) : 1;
    lua_checkstack(waiting, results + 1);
    lua_pushboolean(waiting, succeeded);
    lua_xmove(thread, waiting, results);
    end_level(succeeded);
    arguments = results + 1;
  }
}

std::size_t Run::make_patience(std::optional<sim::Duration> length) {
  patiences_.push_back(std::make_unique<Patience>(client_, length));
  return patiences_.size();
}

Patience* Run::patience_at(std::size_t number) {
  return number == 0 || number > patiences_.size() ? nullptr : patiences_[number - 1].get();
}

void Run::leave(std::size_t number) {
  if (number == 0 || number > channels.size() || channels[number - 1] == nullptr) return;
  client_.shared<locks::Subscriptions>("").leave(client_, *std::exchange(channels[number - 1], nullptr));
}

void Run::add_places(std::vector<sim::CodePlace>& places) const {
  for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
    lua_Debug place;
    for (int depth = 0; lua_getstack(level->thread.lua, depth, &place) == 1; ++depth) {
      // Functions of ours have no lines.
      if (lua_getinfo(level->thread.lua, "l", &place) == 0 || place.currentline < 0) continue;
      places.push_back({machine_->program().file, static_cast<std::uint32_t>(place.currentline)});
    }
  }
}

bool Run::can_nest() const { return levels_.size() < kDeepest; }

namespace {

/// In a frame of its own, since a place for each server is large.
sim::Task<redis::Votes> ask(Client& client, const Request& request) {
  co_return co_await redis::Gather(redis::servers_of(client), request.servers, request.command, request.rule);
}

void push_votes(lua_State* lua, const redis::Votes& votes, std::size_t servers) {
  lua_createtable(lua, static_cast<int>(servers), 2);
  for (std::size_t i = 0; i < servers; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    if ((votes.answered & bit) == 0 && (votes.yes & bit) == 0) continue;
    lua_pushboolean(lua, (votes.yes & bit) != 0);
    lua_rawseti(lua, -2, static_cast<int>(i) + 1);
  }
  lua_pushnumber(lua, static_cast<lua_Number>(votes.count()));
  lua_setfield(lua, -2, "count");
}

}  // namespace

sim::Task<void> drive(Client& client, Run& run, int arguments) {
  while (run.resume(arguments)) {
    Request& request = run.request;
    arguments = 1;
    switch (request.kind) {
      case Request::Kind::command: {
        const redis::Reply reply = co_await request.connection->call(std::move(request.command));
        run.note_answer(reply);
        push_reply(run.lua(), run.machine().interpreter(), reply);
        break;
      }
      case Request::Kind::transaction: {
        const redis::Reply reply = co_await request.connection->transaction(std::move(request.commands));
        push_reply(run.lua(), run.machine().interpreter(), reply);
        break;
      }
      case Request::Kind::sleep: {
        co_await client.doze(request.length, request.timer);
        arguments = 0;
        break;
      }
      case Request::Kind::subscribe: {
        locks::Subscriptions& subscriptions = client.shared<locks::Subscriptions>("");
        Patience none(client, std::nullopt);
        Patience& patience = request.limits.patience != nullptr ? *request.limits.patience : none;
        locks::Subscriptions::Channel* channel =
            co_await subscriptions.join(client, request.number, std::move(request.name), patience);
        if (channel == nullptr) {
          lua_pushnil(run.lua());
          break;
        }
        run.channels.push_back(channel);
        lua_newtable(run.lua());
        push_object(run.lua(), run.machine().interpreter(), Kind::channel, run.channels.size());
        break;
      }
      case Request::Kind::message: {
        const bool got = co_await run.channels[request.number - 1]->message.acquire(client, request.limits);
        lua_pushboolean(run.lua(), got);
        break;
      }
      case Request::Kind::latch: {
        const bool got = co_await run.machine().latches[request.number - 1].acquire(client, request.limits);
        lua_pushboolean(run.lua(), got);
        break;
      }
      case Request::Kind::ask: {
        const redis::Votes votes = co_await ask(client, request);
        push_votes(run.lua(), votes, redis::servers_of(client).size());
        break;
      }
      case Request::Kind::server: {
        sim::Task<int> work = std::move(request.work);
        arguments = co_await std::move(work);
        break;
      }
      case Request::Kind::protect:
      case Request::Kind::none: co_return;
    }
  }
  // Not where it is destroyed: a process that dies leaves no channel, and has not gone on with anything.
  run.note_end();
  for (std::size_t i = 1; i <= run.channels.size(); ++i) run.leave(i);
}

sim::Task<void> run_once(Client& background, std::shared_ptr<Machine> machine, LockObject lock, int function) {
  Run run(machine, background, lock, "what c:spawn started");
  run.begin(function);
  luaL_unref(machine->lua(), LUA_REGISTRYINDEX, function);
  co_await drive(background, run, 1);
}

/// A renewal that sets the hold's `lease_until` announces a new end.
void tell_new_end(Client& background, Machine& machine, const LockObject& lock, sim::OperationId renewal) {
  const Machine::Holding* hold = machine.hold_of(background.world().operation(renewal).of);
  if (hold == nullptr) return;
  lua_State* const lua = machine.lua();
  lua_rawgeti(lua, LUA_REGISTRYINDEX, hold->table);
  const auto end = moment_in(
      lua, lua_gettop(lua), "lease_until",
      [&](const std::string& mistake) { note_mistake_of(background.world(), *lock.log, mistake); },
      machine.program().file);
  lua_pop(lua, 1);
  if (!end || end->scale() != background.clock().now().scale()) return;
  const sim::Instant until = background.clock().true_time_of(*end);
  const std::optional<sim::Instant>& before =
      background.world().operation(background.world().operation(renewal).of).lease_until;
  if (!before || !before->identical(until)) background.world().operation(renewal).lease_until = until;
}

sim::Task<void> repeat(Client& background, std::shared_ptr<Machine> machine, LockObject lock,
                       std::shared_ptr<Watch> watch, sim::Duration period) {
  while (true) {
    const PermitLimits limits{.timeout = period, .kind = sim::TimerKind::tick};
    if (co_await watch->is_over.acquire(background, limits)) break;
    co_await background.step("renew", sim::Moment::before);
    if (watch->is_stopped) break;

    // Whose lease it is, and that it is being renewed, is what `faithful-renewal` is judged by.
    sim::World& world = background.world();
    sim::OperationId id = 0;
    if (watch->renews != 0) {
      id = world.invoke(background.self(), "renew", world.operation(watch->renews).object);
      world.operation(id).of = watch->renews;
    }
    background.session().operation = id;
    bool goes_on = false;
    sim::Phase outcome = sim::Phase::info;
    {
      Run run(machine, background, lock, "what c:every repeats");
      run.begin(watch->function);
      co_await drive(background, run, 1);
      if (run.returned()) {
        const bool is_known = lua_gettop(run.lua()) > 0 && lua_isboolean(run.lua(), 1);
        const bool is_renewed = is_known && lua_toboolean(run.lua(), 1) != 0;
        outcome = !is_known ? sim::Phase::info : is_renewed ? sim::Phase::ok : sim::Phase::fail;
        goes_on = !is_known || is_renewed;
      }
    }
    if (id != 0) tell_new_end(background, *machine, lock, id);
    if (id != 0) world.complete(id, outcome);
    if (!goes_on || watch->is_stopped) break;
  }
  watch->is_stopped = true;
  std::erase(machine->watches, watch);
  luaL_unref(machine->lua(), LUA_REGISTRYINDEX, std::exchange(watch->function, LUA_NOREF));
}

}  // namespace lockstep::models::scripted
