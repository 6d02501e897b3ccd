#include "models/redis/database/database.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "models/redis/database/commands.hpp"
#include "models/redis/database/handlers.hpp"
#include "models/redis/database/notifications.hpp"

namespace lockstep::models::redis {
namespace {

Reply unknown_command(const Command& command) {
  std::string shown;
  for (std::size_t i = 1; i < command.size() && shown.size() < kShownBytes; ++i) {
    const std::size_t room = kShownBytes - shown.size();
    shown += "'" + up_to_zero(command[i], room) + "' ";
  }
  return Reply::error("ERR unknown command '" + up_to_zero(command[0], kShownBytes) +
                      "', with args beginning with: " + shown);
}

Reply unknown_subcommand(const CommandSpec& container, const Command& command) {
  return Reply::error("ERR unknown subcommand '" + up_to_zero(command[1], kShownBytes) + "'. Try " +
                      std::string(container.name) + " HELP.");
}

/// The script cache, among the keys that a watcher hears of.
constexpr std::uint64_t kScriptCache = 0x7363726970747321;

Effect expiry_of(const KeyChange& change) { return {Command{"DEL", change.key}, change.database, true}; }

}  // namespace

// --- Requests.

void Database::begin(SessionId session, const sim::Clock* clock) {
  if (clock != nullptr) clock_ = clock;
  keys_.begin_request();
  keys_.begin_command(session);
  effects_.clear();
  has_given_up_ = false;
  if (asked_for_more_) [[unlikely]]
    forget_what_was_asked();
}

void Database::forget_what_was_asked() {
  deliveries_.clear();
  new_pause_.reset();
  intents_.clear();
  stall_.reset();
  asked_for_more_ = touched_more_than_keys_ = touched_every_key_ = closed_its_connection_ = false;
}

std::optional<Reply> Database::execute(SessionId id, const Command& command, const sim::Clock& server_clock) {
  assert(!command.empty());
  begin(id, &server_clock);
  Session& client = session(id);
  client.is_open = true;
  assert(!client.waiting && "a connection that waits for a reply sends nothing");
  keys_.set_expiry_rule(replication_.is_replica() ? ExpiryRule::hides : ExpiryRule::removes);
  Reply reply = dispatch(client, command);
  if (waiting_count_ > 0) serve_waiting();
  if (client.waiting) return std::nullopt;
  const Protocol protocol = client.protocol;
  if (client.closes) {
    asked_for_more_ = closed_its_connection_ = true;
    disconnect(client);
  }
  if (protocol != Protocol::resp2) [[unlikely]]
    reply.speak(protocol);
  return reply;
}

Reply Database::execute(const Command& command, const sim::Clock& server_clock) {
  if (auto reply = execute(SessionId{0}, command, server_clock)) return *std::move(reply);
  time_out(0);
  return deliveries_.front().reply;
}

Reply Database::dispatch(Session& client, const Command& command) {
  const CommandSpec* spec = spec_of(command);
  if (spec == nullptr) return refuse(client, unknown_command(command));
  if (spec->is(kContainer) && command.size() > 1) return refuse(client, unknown_subcommand(*spec, command));
  // Nearly nothing is ever refused, and looking for the reason costs as much as a PING.
  const bool is_plain =
      spec->handler != nullptr && spec->accepts(command.size()) && !client.in_transaction &&
      !client.takes_subscriptions_alone() && !is_loading_ &&
      (!spec->is(kWrite) || (!replication_.is_replica() && configuration_.min_replicas_to_write() == 0));
  if (!is_plain) [[unlikely]] {
    if (std::optional<Reply> answer = unless_run(client, *spec, command)) return *std::move(answer);
  }
  Reply reply = run(*spec, client, command, true);
  if (!deliveries_.empty()) [[unlikely]]
    place_own_messages(reply, client, spec->is(kRunsCommands), 0);
  return reply;
}

/// What a connection publishes to itself is written among its replies, also inside of EXEC's: from this delivery on.
/// What runs commands replies when all of them are done.
void Database::place_own_messages(Reply& reply, const Session& client, bool runs_commands, std::size_t first) {
  std::vector<Delivery> own;
  std::size_t kept = first;
  for (std::size_t i = first; i < deliveries_.size(); ++i) {
    Delivery& delivery = deliveries_[i];
    if (delivery.kind == Delivery::Kind::message && delivery.to == client.id) {
      if (runs_commands) delivery.written = 0;
      own.push_back(std::move(delivery));
    } else if (kept++ != i) {
      deliveries_[kept - 1] = std::move(delivery);
    }
  }
  deliveries_.resize(kept);
  if (!own.empty()) reply = with_messages(std::move(reply), std::move(own), client.protocol);
}

void Database::place_deliveries(std::size_t first, std::size_t written) {
  for (std::size_t i = first; i < deliveries_.size(); ++i) deliveries_[i].written = written;
}

/// The reply to a command that is not carried out now: it is refused, or joins the queue of a transaction.
std::optional<Reply> Database::unless_run(Session& client, const CommandSpec& spec, const Command& command) {
  if (std::optional<Reply> error = refusal(client, spec, command)) {
    if (spec.name != "EXEC") return refuse(client, *std::move(error));
    // It ends its transaction all the same. A code other than ERR is kept.
    forget_transaction(client);
    std::string_view why = error->text();
    if (why.starts_with("ERR ")) why.remove_prefix(4);
    return Reply::error("EXECABORT Transaction discarded because of: " + std::string(why));
  }
  if (!client.in_transaction || spec.is(kAtOnce)) return std::nullopt;
  if (!client.is_broken && !client.is_dirty) client.queue.push_back(command);
  return Reply::status("QUEUED");
}

/// Why a command that is known cannot be carried out, nor queue.
std::optional<Reply> Database::refusal(const Session& client, const CommandSpec& spec, const Command& command) const {
  if (spec.handler == nullptr || !spec.accepts(command.size())) {
    return Reply::error("ERR wrong number of arguments for '" + error_name(spec.name) + "' command");
  }
  if (client.in_transaction && spec.is(kNoTransaction)) {
    return Reply::error("ERR Command not allowed inside a transaction");
  }
  if (would_write(client, spec)) {
    if (std::optional<Reply> error = write_error(*clock_)) return error;
  }
  if (client.takes_subscriptions_alone() && !spec.is(kSubscriber)) {
    return Reply::error("ERR Can't execute '" + error_name(spec.name) +
                        "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context");
  }
  if (is_loading_ && !spec.is(kWhileLoading)) return Reply::error("LOADING Redis is loading the dataset in memory");
  return std::nullopt;
}

/// What EXEC would run counts as well: the role may have changed since it was queued.
bool Database::would_write(const Session& client, const CommandSpec& spec) const {
  if (spec.is(kWrite)) return true;
  return spec.is(kRunsCommands) && spec.name == "EXEC" &&
         std::any_of(client.queue.begin(), client.queue.end(),
                     [](const Command& queued) { return queued.spec()->is(kWrite); });
}

std::optional<Reply> Database::write_error(const sim::Clock& clock) const {
  if (!replication_.is_replica() && configuration_.min_replicas_to_write() == 0) [[likely]]
    return std::nullopt;
  if (replication_.is_replica()) return Reply::error("READONLY You can't write against a read only replica.");
  const std::int64_t wanted = configuration_.min_replicas_to_write();
  const sim::Duration lag = configuration_.min_replicas_max_lag();
  if (lag == sim::Duration::zero()) return std::nullopt;
  if (replication_.good_replicas(clock, lag) >= wanted) return std::nullopt;
  return Reply::error("NOREPLICAS Not enough good replicas to write.");
}

/// What cannot even queue spoils the transaction.
Reply Database::refuse(Session& client, Reply error) const {
  if (client.in_transaction) client.is_broken = true;
  return error;
}

Reply Database::run(const CommandSpec& spec, Session& client, const Command& command, bool may_block) {
  if (spec.is(kEveryKey)) touches_more_than_keys();
  if (spec.is(kScriptReader)) {
    asked_for_more_ = touched_more_than_keys_ = true;
    keys_.watch(kScriptCache, true);
  }
  keys_.begin_command(client.id);
  keys_.select(client.database);
  replaced_effect_ = false;
  const std::size_t effects_before = effects_.size();
  Call call{*this, keys_, client, command.values(), *clock_, spec.name, may_block};
  const bool announces = configuration_.notified_events().any();
  if (announces) [[unlikely]] {
    // Whoever runs this server may have to wait for the end of a key.
    asked_for_more_ = true;
    expire_named(spec, call);
    keys_.record_misses(true);
  }
  Reply reply = spec.handler(call);
  if (announces && !spec.is(kRunsCommands)) [[unlikely]] {
    keys_.record_misses(false);
    announce(call, spec);
  }
  if (watching_count_ > 0) mark_watchers(spec.name == "WATCH" ? &client : nullptr);
  if (records_effects_) note_effects(spec, command, effects_before);
  return reply;
}

/// Where somebody hears of it, a key that a blind SET overwrites has expired before, or not.
void Database::expire_named(const CommandSpec& spec, Call& call) {
  if (!spec.is(kWrite) || spec.first_key == 0) return;
  const std::size_t last = spec.last_key < 0 ? call.size() - static_cast<std::size_t>(-spec.last_key)
                                             : static_cast<std::size_t>(spec.last_key);
  for (auto i = static_cast<std::size_t>(spec.first_key); i <= last && i < call.size();
       i += static_cast<std::size_t>(spec.key_step)) {
    keys_.find(call.key(i), *clock_);
  }
}

Reply Database::call_from_script(const Command& command, bool may_write) {
  const CommandSpec* spec = spec_of(command);
  if (spec == nullptr || (spec->is(kContainer) && command.size() > 1)) {
    return Reply::error("ERR Unknown Redis command called from script");
  }
  if (spec->handler == nullptr || !spec->accepts(command.size())) {
    return Reply::error("ERR Wrong number of args calling Redis command from script");
  }
  if (spec->is(kNoScript)) return Reply::error("ERR This Redis command is not allowed from script");
  // A message may be replicated, so it counts as a write here.
  if (!may_write && (spec->is(kWrite) || spec->name == "PUBLISH"))
    return Reply::error("ERR Write commands are not allowed from read-only scripts.");
  if (spec->is(kWrite)) {
    if (std::optional<Reply> error = write_error(*clock_)) return *std::move(error);
  }
  return run(*spec, *script_session_, command, false);
}

Reply Database::run_queue(Session& client) {
  if (watching_count_ > 0) mark_watchers(nullptr);
  std::vector<Reply> replies;
  const std::vector<Command> queue = std::exchange(client.queue, {});
  forget_transaction(client);
  replies.reserve(queue.size());
  client.executing = queue.size();
  for (const Command& command : queue) {
    Reply& reply = replies.emplace_back(run(*command.spec(), client, command, false));
    if (!deliveries_.empty()) [[unlikely]]
      place_own_messages(reply, client, command.spec()->is(kRunsCommands), 0);
    // A HELLO among them changes it for those that follow.
    reply.speak(client.protocol);
  }
  client.executing = 0;
  return Reply::array(std::move(replies));
}

// --- Effects.

void Database::replicate_as(Command command) {
  replaced_effect_ = true;
  if (records_effects_) effects_.push_back({std::move(command), keys_.selected()});
}

void Database::replicate_expiries() {
  if (!records_effects_) return;
  for (const KeyChange& change : keys_.changes_of_command()) {
    if (change.kind == sim::Effect::Kind::expire) effects_.push_back(expiry_of(change));
  }
}

/// Expiries that the command noticed came before what it did. Scripts and transactions consist of commands that have
/// noted theirs already.
void Database::note_effects(const CommandSpec& spec, const Command& command, std::size_t effects_before) {
  if (spec.is(kRunsCommands)) return;
  bool changed = false;
  auto at = effects_.begin() + static_cast<std::ptrdiff_t>(effects_before);
  for (const KeyChange& change : keys_.changes_of_command()) {
    if (change.kind == sim::Effect::Kind::expire) {
      at = effects_.insert(at, expiry_of(change)) + 1;
    } else {
      changed = changed || change.kind != sim::Effect::Kind::read;
    }
  }
  if (changed && !replaced_effect_) effects_.push_back({command, keys_.selected()});
}

// --- Connections.

Session& Database::session(SessionId id) {
  if (latest_session_ != nullptr && latest_session_->id == id) [[likely]]
    return *latest_session_;
  while (sessions_.size() <= id) {
    const auto next = static_cast<SessionId>(sessions_.size());
    sessions_.emplace_back().id = next;
  }
  latest_session_ = &sessions_[id];
  return *latest_session_;
}

std::int64_t Database::client_id(Session& client) {
  if (client.client_id == 0) client.client_id = ++clients_seen_;
  return client.client_id;
}

void Database::deliver(Delivery::Kind kind, SessionId to, Reply reply) {
  asked_for_more_ = true;
  reply.speak(session(to).protocol);
  deliveries_.push_back({kind, to, std::move(reply)});
}

void Database::forget_transaction(Session& client) {
  client.in_transaction = client.is_broken = client.is_dirty = false;
  client.queue.clear();
  unwatch(client);
}

void Database::watch(Session& client, std::string_view key) {
  if (client.watched.empty()) ++watching_count_;
  client.watched.insert({std::string(key), client.database});
}

void Database::unwatch(Session& client) {
  if (!client.watched.empty()) --watching_count_;
  client.watched.clear();
  client.is_dirty = false;
}

/// Every client that watches what the present command has changed. A WATCH that finds its key expired watches a missing
/// key.
void Database::mark_watchers(const Session* except) {
  for (const KeyChange& change : keys_.changes_of_command()) {
    if (change.kind == sim::Effect::Kind::read) continue;
    for (Session& client : sessions_) {
      if (&client == except || client.watched.empty()) continue;
      if (client.watched.contains({change.key, change.database})) client.is_dirty = true;
    }
  }
}

void Database::disconnect(Session& client) {
  if (client.waiting) --waiting_count_;
  unwatch(client);
  client.forget();
}

void Database::close(SessionId id) {
  begin(id, nullptr);
  touches_more_than_keys();
  disconnect(session(id));
}

// --- Blocked commands.

void Database::block(Session& client, Waiting waiting) {
  // Whoever came first is served first: two that wait for one list have an order.
  for (const std::string& key : waiting.keys) keys_.watch(keys_.identity(key), true);
  waiting.database = client.database;
  waiting.since = ++waits_seen_;
  client.waiting = std::move(waiting);
  ++waiting_count_;
}

bool Database::is_blocked(SessionId id) const {
  return waiting_count_ > 0 && id < sessions_.size() && sessions_[id].waiting.has_value();
}

std::optional<sim::Duration> Database::patience(SessionId id) const { return sessions_[id].waiting->timeout; }

void Database::unblock(Session& client, Reply reply) {
  client.waiting.reset();
  --waiting_count_;
  deliver(Delivery::Kind::reply, client.id, std::move(reply));
}

void Database::time_out(SessionId id) {
  begin(id, nullptr);
  Session& client = session(id);
  for (const std::string& key : client.waiting->keys) {
    keys_.watch(Keyspace::identity(key, client.waiting->database), true);
  }
  if (client.waiting->kind == Waiting::Kind::replicas) touches_more_than_keys();
  unblock(client, reply_of_time_out(client));
}

Reply Database::reply_of_time_out(const Session& client) const {
  const Waiting& waiting = *client.waiting;
  return waiting.kind == Waiting::Kind::replicas ? Reply::integer(replication_.acknowledged_by(waiting.offset))
                                                 : Reply::null_array();
}

/// After the whole request, and only for keys that it created, as in a real server: a list that a script or a
/// transaction filled and emptied again wakes nobody. Keys in the order in which they were changed, clients in the
/// order in which they came; a BLMOVE that is served may fill another list.
void Database::serve_waiting() {
  for (std::size_t i = 0; i < keys_.changes().size() && waiting_count_ > 0; ++i) {
    if (!keys_.changes()[i].creates) continue;
    const std::string key = keys_.changes()[i].key;
    const DatabaseId database = keys_.changes()[i].database;
    while (Session* next = next_waiting(key, database)) serve(*next, key);
  }
}

/// Who is to get the next element of this list; null if it has none, or nobody waits.
Session* Database::next_waiting(const std::string& key, DatabaseId database) {
  const Entry* entry = keys_.peek(key, database);
  if (entry == nullptr) return nullptr;
  Session* next = nullptr;
  for (Session& client : sessions_) {
    if (!client.waiting || (next != nullptr && client.waiting->since > next->waiting->since)) continue;
    if (client.waiting->database != database || !can_serve(*client.waiting, entry->object)) continue;
    const std::vector<std::string>& keys = client.waiting->keys;
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) next = &client;
  }
  return next;
}

void Database::serve(Session& client, const std::string& key) {
  const Waiting waiting = *client.waiting;
  keys_.begin_command(client.id);
  keys_.select(waiting.database);
  replaced_effect_ = false;
  const std::size_t effects_before = effects_.size();
  Call call{*this, keys_, client, {}, *clock_, "BLPOP", false};
  const std::size_t deliveries_before = deliveries_.size();
  Reply reply = serve_blocked(call, waiting, key);
  if (configuration_.notified_events().any()) [[unlikely]] {
    const Command plain = plain_of(waiting, key);
    Call plainly{*this, keys_, client, plain.values(), *clock_, plain.name(), false};
    announce(plainly, *plain.spec());
    for (std::size_t i = deliveries_before; i < deliveries_.size(); ++i) {
      // Behind the head and the key of its own, longer reply.
      if (deliveries_[i].written == 1) deliveries_[i].written = waiting.count ? 3 : 2;
    }
    place_own_messages(reply, client, false, deliveries_before);
  }
  if (watching_count_ > 0) mark_watchers(nullptr);
  // What it did in place of what was sent long ago, it has said itself.
  static const Command kUnsaid{"LPOP"};
  if (records_effects_) note_effects(*kUnsaid.spec(), kUnsaid, effects_before);
  unblock(client, std::move(reply));
}

// --- Replication.

void Database::apply(SessionId link, const Effect& effect, const sim::Clock& server_clock) {
  begin(link, &server_clock);
  keys_.set_expiry_rule(ExpiryRule::ignores);
  session(link).database = effect.database;
  run(*effect.command.spec(), session(link), effect.command, false);
}

void Database::look_at(std::string_view key, DatabaseId database, const sim::Clock& server_clock) {
  begin(0, &server_clock);
  keys_.set_expiry_rule(ExpiryRule::removes);
  keys_.select(database);
  keys_.find(key, server_clock);
  const Command look{"GET", key};
  Call call{*this, keys_, session(0), look.values(), server_clock, "GET", false};
  announce_expiries(call);
  if (watching_count_ > 0) mark_watchers(nullptr);
  replicate_expiries();
}

void Database::acknowledged() {
  begin(0, nullptr);
  touches_more_than_keys();
  for (Session& client : sessions_) {
    if (!client.waiting || client.waiting->kind != Waiting::Kind::replicas) continue;
    const std::int64_t replicas = replication_.acknowledged_by(client.waiting->offset);
    if (replicas >= client.waiting->replicas) unblock(client, Reply::integer(replicas));
  }
}

void Database::unblock_all() {
  for (Session& client : sessions_) {
    if (!client.waiting) continue;
    unblock(client, Reply::error("UNBLOCKED force unblock from blocking operation, instance state changed (master -> "
                                 "replica?)"));
    disconnect(client);
  }
}

bool Database::is_held_back(const Command& command, const sim::Clock& server_clock) {
  if (!pause_) return false;
  if (server_clock.has_reached(pause_->until)) {
    pause_.reset();
    return false;
  }
  const CommandSpec* spec = command.spec();
  if (spec == nullptr) return false;
  return !pause_->only_writes || spec->is(kWrite) || spec->is(kRunsCommands) || spec->name == "PUBLISH";
}

// --- Scripts.

std::variant<ScriptId, Reply> Database::compile_script(const Value& text) {
  std::string scratch;
  return scripts_->compile(text.view(scratch));
}

void Database::cache_script(ScriptId script) {
  // Scripts that are put into the cache may come in either order; whoever looks into it, or empties it, may not.
  keys_.watch(kScriptCache, false);
  if (std::find(cached_.begin(), cached_.end(), script) != cached_.end()) return;
  cached_.push_back(script);
  asked_for_more_ = touched_more_than_keys_ = true;
}

std::optional<ScriptId> Database::cached_script(const Value& sha1) const {
  std::string wanted = sha1.text();
  for (char& c : wanted) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  for (const ScriptId script : cached_) {
    if (scripts_->sha1(script) == wanted) return script;
  }
  return std::nullopt;
}

void Database::forget_scripts() {
  keys_.watch(kScriptCache, true);
  cached_.clear();
  asked_for_more_ = touched_more_than_keys_ = true;
}

Reply Database::run_script(Session& client, ScriptId script, bool may_write, std::span<const Value> keys,
                           std::span<const Value> arguments) {
  script_session_ = &client;
  // A SELECT within it ends with it.
  const DatabaseId database = client.database;
  ScriptEngine::Result result = script_memory_ != nullptr && may_write
                                    ? script_memory_->run(*scripts_, script, keys, arguments, *this)
                                    : scripts_->run(script, keys, arguments, *this, may_write);
  client.database = database;
  keys_.select(database);
  if (result.limit_hit) {
    if (!limit_hit_) stopped_script_ = script;
    give_up(*std::move(result.limit_hit));
  }
  return std::move(result.reply);
}

Reply Database::give_up(std::string why) {
  has_given_up_ = true;
  Reply error = Reply::error("ERR Lockstep: " + why);
  if (!limit_hit_) limit_hit_ = std::move(why);
  return error;
}

// --- Restarts.

void Database::reset() {
  restart_empty();
  replication_.restart(std::nullopt, 0);
  limit_hit_.reset();
  stopped_script_.reset();
}

void Database::restart_empty() {
  keys_.reset();
  restart_with_keys();
}

void Database::restart_with_keys() {
  cached_.clear();
  for (Session& client : sessions_) client.forget();
  clients_seen_ = 0;
  waits_seen_ = waiting_count_ = watching_count_ = 0;
  if (configuration_.has_changed()) configuration_ = configured_;
  is_loading_ = false;
  pause_.reset();
  effects_.clear();
  forget_what_was_asked();
}

}  // namespace lockstep::models::redis
