#pragma once

// A model checker of its own for two locks and their pauses, to compare the explorer with. Start here.
//
// Dense time, zones, a list of what has been passed and one of what waits: the way of UPPAAL and TChecker, and nothing of ours.
// The two locks are written down again by hand as timed automata, so it shares neither engine nor locks nor constraints with
// what it judges. It answers one question: can two clients believe at the same moment, with pauses no longer than that?
//
// set-nx-px-lua (`servers` = 1, no `validity`): SET NX PX, and a release that deletes the key if it is still one's own.
// redlock-seq: one server after the other, all of them; held with `quorum` votes until `validity` after the attempt began, by
// the client's own clock; whoever fails gives back at every server; so does whoever releases.
//
// A client does one thing at a time, so a pause of it does one of three things.
// - What comes meanwhile is handled at its end. (When it began makes no difference: at the latest when that came.)
// - What was to be sent leaves at its end.
// - The work takes that much longer. A timed automaton cannot stop a clock, and need not: moved to the end of the work, where
//   it begins when the work would have ended, the pause changes nothing that anybody else can see. Only the belief
//   depends on where it is: a deadline that comes in a pause is noticed at the pause's end. So a deadline within the work has
//   two continuations: it is noticed, and the client works on; or pauses begin with it, one after the other. What
//   comes after these has the belief behind it, and is an execution of the first kind. So only the belief remains to be
//   judged in the second, and the client does nothing more there.

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "checker/testing/zone.hpp"

namespace lockstep::checker::testing {

struct Ticks {
  std::int64_t lo = 0;
  std::int64_t hi = 0;
};

/// Times are whole ticks, of whatever length.
struct LockWorld {
  std::size_t clients = 2;
  std::size_t rounds = 1;
  std::size_t servers = 1;
  std::size_t quorum = 1;
  bool gives_back_failures = false;      ///< who has too few votes, or too late, deletes what it has got
  std::optional<std::int64_t> validity;  ///< how long after an attempt began its holder may believe
  std::int64_t ttl = 0;
  Ticks latency;
  Ticks start;                  ///< of the first attempt
  Ticks hold;                   ///< Requires: it is not always zero
  Ticks between;                ///< a release, or a failure, and the next attempt
  std::size_t pauses = 0;       ///< of any client, at any place
  std::size_t work_pauses = 0;  ///< of any client, during its work
};

class ZoneChecker {
 public:
  /// Pauses may take any time from 0 to `longest_pause`.
  ZoneChecker(const LockWorld& world, std::int64_t longest_pause) : world_(world), longest_pause_(longest_pause) {}

  /// Whether two clients can believe at the same moment. Nothing: more than `most_zones` were met.
  std::optional<bool> is_violable(std::size_t most_zones = SIZE_MAX);
  std::size_t zones() const { return stored_; }

 private:
  enum class Place : std::uint8_t {
    waiting,           ///< for its start, or its next attempt
    late_for_attempt,  ///< paused when that was due
    held_back,         ///< paused before its request has left
    request,           ///< on its way
    reply,             ///< on its way
    late_for_reply,    ///< paused when it came
    working,           ///< and believing
    overworking,       ///< paused at the end of its work, still believing
    past_deadline,     ///< working, and not believing any more
    late_past_deadline,
    unaware,  ///< paused since its deadline came, still believing
    done
  };

  struct Client {
    Place place = Place::waiting;
    bool releases = false;
    bool is_granted = false;  ///< what the reply says
    std::uint8_t server = 0;  ///< that it asks
    std::uint8_t votes = 0;
    std::uint8_t round = 0;
    friend auto operator<=>(const Client&, const Client&) = default;
  };

  struct Discrete {
    std::vector<Client> clients;
    std::vector<std::uint8_t> owners;  ///< by server: whose token the key holds, from 1; 0: there is no key
    std::size_t pauses = 0;
    std::size_t work_pauses = 0;
    friend auto operator<=>(const Discrete&, const Discrete&) = default;
  };

  struct State {
    Discrete discrete;
    Zone zone;
  };

  // --- Clocks: one for what each client is at, one for when its attempt began, one for each key.

  std::size_t clock_of(std::size_t client) const { return 1 + client; }
  std::size_t attempt_clock_of(std::size_t client) const { return 1 + world_.clients + client; }
  std::size_t key_clock_of(std::size_t server) const { return 1 + world_.clients * (world_.validity ? 2 : 1) + server; }
  std::size_t clock_count() const { return key_clock_of(world_.servers) - 1; }

  // --- Places.

  static bool believes(Place place) {
    return place == Place::working || place == Place::overworking || place == Place::unaware;
  }
  static bool is_paused(Place place) {
    return place == Place::late_for_attempt || place == Place::held_back || place == Place::late_for_reply ||
           place == Place::overworking || place == Place::late_past_deadline || place == Place::unaware;
  }
  /// How long it may stay, and must at least. Requires: it is not done.
  Ticks stay(const Client& client) const {
    if (is_paused(client.place)) return {0, longest_pause_};
    switch (client.place) {
      case Place::waiting: return client.round == 0 ? world_.start : world_.between;
      case Place::working:
      case Place::past_deadline: return world_.hold;
      default: return world_.latency;
    }
  }
  static bool has_not_tried(const Client& client) {
    return client.round == 0 && (client.place == Place::waiting || client.place == Place::late_for_attempt);
  }
  /// Whether it still matters when its attempt began.
  bool needs_attempt_clock(const Client& client) const {
    if (!world_.validity || client.releases) return false;
    return client.place == Place::held_back || client.place == Place::request || client.place == Place::reply ||
           client.place == Place::late_for_reply || client.place == Place::working;
  }

  // --- Steps. Each takes a state of its own.

  void expand(const State& state);
  void step(State state, std::size_t c);
  void be_paused(State state, std::size_t c, Place place, bool of_work);
  void go_on_after_pause(State state, std::size_t c);
  void meet_deadline(State state, std::size_t c);
  void attempt(State state, std::size_t c);
  void send(State state, std::size_t c);
  void be_asked(State state, std::size_t c);
  void handle_reply(State state, std::size_t c);
  void end_attempt(State state, std::size_t c);
  void begin_to_believe(State state, std::size_t c);
  void release(State state, std::size_t c);
  void end_round(State state, std::size_t c);
  void enter(State state, std::size_t c, Place place) {
    state.discrete.clients[c].place = place;
    state.zone.reset(clock_of(c));
    add(std::move(state));
  }

  bool stay_within(Zone& zone, const State& state, std::size_t c) const;
  bool let_time_pass(State& state) const;
  bool is_still_known(const State& state) const;
  void add(State state);

  const LockWorld world_;
  const std::int64_t longest_pause_;
  bool is_violated_ = false;
  std::size_t stored_ = 0;
  std::map<Discrete, std::vector<Zone>> passed_;
  std::deque<State> waiting_;
};

/// The least length of pauses that breaks a lock, or what it has to exceed.
struct Margin {
  std::int64_t ticks = 0;
  bool attained = false;
  friend bool operator==(const Margin&, const Margin&) = default;
};

/// Of pauses that are all of that length or shorter; nothing: up to `most` no pause breaks it. Requires: the margin is a whole
/// number of ticks. Where k pauses can add up, and other times are multiples of k ticks, it is.
inline std::optional<Margin> margin(LockWorld world, std::int64_t most) {
  // Halves of a tick tell what is attained from what is not.
  const auto halve = [](Ticks& ticks) { ticks = {2 * ticks.lo, 2 * ticks.hi}; };
  for (Ticks* ticks : {&world.latency, &world.start, &world.hold, &world.between}) halve(*ticks);
  world.ttl *= 2;
  if (world.validity) *world.validity *= 2;
  const auto is_violable = [&](std::int64_t halves) { return *ZoneChecker(world, halves).is_violable(); };
  std::int64_t safe = -1;
  std::int64_t broken = 2 * most + 1;
  if (!is_violable(broken - 1)) return std::nullopt;
  --broken;
  while (broken - safe > 1) {
    const std::int64_t middle = safe + (broken - safe) / 2;
    (is_violable(middle) ? broken : safe) = middle;
  }
  return Margin{broken / 2, broken % 2 == 0};
}

// --- The automaton.

inline std::optional<bool> ZoneChecker::is_violable(std::size_t most_zones) {
  State first{{std::vector<Client>(world_.clients), std::vector<std::uint8_t>(world_.servers), world_.pauses,
               world_.work_pauses},
              Zone(clock_count())};
  add(std::move(first));
  while (!waiting_.empty() && !is_violated_) {
    if (stored_ > most_zones) return std::nullopt;
    const State state = std::move(waiting_.front());
    waiting_.pop_front();
    if (is_still_known(state)) expand(state);
  }
  return is_violated_;
}

inline void ZoneChecker::expand(const State& state) {
  for (std::size_t c = 0; c < world_.clients; ++c) {
    if (state.discrete.clients[c].place != Place::done) step(state, c);
  }
  for (std::size_t s = 0; s < world_.servers; ++s) {
    if (state.discrete.owners[s] == 0) continue;
    State expired = state;
    if (!expired.zone.at_least(key_clock_of(s), world_.ttl)) continue;
    expired.discrete.owners[s] = 0;
    add(std::move(expired));
  }
}

inline void ZoneChecker::step(State state, std::size_t c) {
  if (state.discrete.clients[c].place == Place::working && world_.validity) meet_deadline(state, c);
  if (!state.zone.at_least(clock_of(c), stay(state.discrete.clients[c]).lo)) return;
  switch (state.discrete.clients[c].place) {
    case Place::waiting: be_paused(state, c, Place::late_for_attempt, false); return attempt(std::move(state), c);
    case Place::request: return be_asked(std::move(state), c);
    case Place::reply: be_paused(state, c, Place::late_for_reply, false); return handle_reply(std::move(state), c);
    case Place::working: be_paused(state, c, Place::overworking, true); return release(std::move(state), c);
    case Place::past_deadline:
      be_paused(state, c, Place::late_past_deadline, true);
      return release(std::move(state), c);
    default: return go_on_after_pause(std::move(state), c);
  }
}

/// One pause less, and this is where it is spent. What comes during work takes those first that are good for nothing else.
inline void ZoneChecker::be_paused(State state, std::size_t c, Place place, bool of_work) {
  std::size_t& left = of_work && state.discrete.work_pauses > 0 ? state.discrete.work_pauses : state.discrete.pauses;
  if (left == 0) return;
  --left;
  enter(std::move(state), c, place);
}

/// Or the next pause adjoins.
inline void ZoneChecker::go_on_after_pause(State state, std::size_t c) {
  const Place place = state.discrete.clients[c].place;
  const bool of_work = place == Place::overworking || place == Place::late_past_deadline || place == Place::unaware;
  be_paused(state, c, place, of_work);
  switch (place) {
    case Place::late_for_attempt: return attempt(std::move(state), c);
    case Place::held_back: return enter(std::move(state), c, Place::request);
    case Place::late_for_reply: return handle_reply(std::move(state), c);
    case Place::unaware: return;  // see above
    default: return release(std::move(state), c);
  }
}

inline void ZoneChecker::meet_deadline(State state, std::size_t c) {
  if (!state.zone.at_least(attempt_clock_of(c), *world_.validity)) return;
  be_paused(state, c, Place::unaware, true);
  state.discrete.clients[c].place = Place::past_deadline;  // it goes on working: its clock runs on
  add(std::move(state));
}

inline void ZoneChecker::attempt(State state, std::size_t c) {
  // All clients are alike: exchange their names, and they make their first attempts in this order.
  if (c > 0 && has_not_tried(state.discrete.clients[c - 1])) return;
  Client& client = state.discrete.clients[c];
  client.releases = false;
  client.server = client.votes = 0;
  if (world_.validity) state.zone.reset(attempt_clock_of(c));
  send(std::move(state), c);
}

inline void ZoneChecker::send(State state, std::size_t c) {
  be_paused(state, c, Place::held_back, false);
  enter(std::move(state), c, Place::request);
}

/// The server handles its request. A key is gone from the moment on at which its lease is over.
inline void ZoneChecker::be_asked(State state, std::size_t c) {
  Client& client = state.discrete.clients[c];
  std::uint8_t& owner = state.discrete.owners[client.server];
  const std::size_t key = key_clock_of(client.server);
  if (owner != 0 && !state.zone.less_than(key, world_.ttl)) return;
  client.is_granted = !client.releases && owner == 0;
  if (client.is_granted) {
    owner = static_cast<std::uint8_t>(c + 1);
    state.zone.reset(key);
  } else if (client.releases && owner == c + 1) {
    owner = 0;
  }
  enter(std::move(state), c, Place::reply);
}

inline void ZoneChecker::handle_reply(State state, std::size_t c) {
  Client& client = state.discrete.clients[c];
  client.votes = static_cast<std::uint8_t>(client.votes + (std::exchange(client.is_granted, false) ? 1 : 0));
  if (++client.server < world_.servers) return send(std::move(state), c);
  client.server = 0;
  if (client.releases) return end_round(std::move(state), c);
  end_attempt(std::move(state), c);
}

inline void ZoneChecker::end_attempt(State state, std::size_t c) {
  Client& client = state.discrete.clients[c];
  const bool has_quorum = std::exchange(client.votes, std::uint8_t{0}) >= world_.quorum;
  if (has_quorum) {
    State got = state;
    if (!world_.validity || got.zone.less_than(attempt_clock_of(c), *world_.validity))
      begin_to_believe(std::move(got), c);
    if (!world_.validity || !state.zone.at_least(attempt_clock_of(c), *world_.validity)) return;
  }
  world_.gives_back_failures ? release(std::move(state), c) : end_round(std::move(state), c);
}

inline void ZoneChecker::begin_to_believe(State state, std::size_t c) {
  state.discrete.clients[c].place = Place::working;
  state.zone.reset(clock_of(c));
  // Of two beliefs that overlap one begins during the other, and both go on for more than a moment. Others may have to do
  // something at this very moment, but nothing that ends a belief.
  for (std::size_t other = 0; other < world_.clients; ++other) {
    if (other == c || !believes(state.discrete.clients[other].place)) continue;
    Zone both = state.zone;
    both.elapse();
    if (stay_within(both, state, c) && stay_within(both, state, other) &&
        both.bound(clock_of(c), 0) > Bound::at_most(0)) {
      is_violated_ = true;
    }
  }
  add(std::move(state));
}

inline void ZoneChecker::release(State state, std::size_t c) {
  state.discrete.clients[c].releases = true;
  send(std::move(state), c);
}

inline void ZoneChecker::end_round(State state, std::size_t c) {
  Client& client = state.discrete.clients[c];
  client.releases = false;
  const bool is_last = static_cast<std::size_t>(client.round) + 1 == world_.rounds;
  client.round = is_last ? std::uint8_t{0} : static_cast<std::uint8_t>(client.round + 1);
  enter(std::move(state), c, is_last ? Place::done : Place::waiting);
}

// --- What has been passed.

/// No longer than its place allows. False: nothing is left.
inline bool ZoneChecker::stay_within(Zone& zone, const State& state, std::size_t c) const {
  const Client& client = state.discrete.clients[c];
  if (client.place == Place::done) return true;
  if (client.place == Place::working && world_.validity && !zone.at_most(attempt_clock_of(c), *world_.validity)) {
    return false;
  }
  return zone.at_most(clock_of(c), stay(client).hi);
}

/// As much as places allow. False: they do not even allow this moment.
inline bool ZoneChecker::let_time_pass(State& state) const {
  Zone& zone = state.zone;
  zone.elapse();
  bool is_possible = true;
  for (std::size_t c = 0; c < world_.clients && is_possible; ++c) is_possible = stay_within(zone, state, c);
  for (std::size_t s = 0; s < world_.servers && is_possible; ++s) {
    if (state.discrete.owners[s] != 0) is_possible = zone.at_most(key_clock_of(s), world_.ttl);
  }
  return is_possible;
}

/// False: a larger zone has come since, and waits for itself.
inline bool ZoneChecker::is_still_known(const State& state) const {
  const std::vector<Zone>& known = passed_.find(state.discrete)->second;
  return std::any_of(known.begin(), known.end(), [&](const Zone& zone) { return state.zone.includes(zone); });
}

inline void ZoneChecker::add(State state) {
  for (std::size_t c = 0; c < world_.clients; ++c) {
    const Client& client = state.discrete.clients[c];
    if (client.place == Place::done) state.zone.forget(clock_of(c));
    if (world_.validity && !needs_attempt_clock(client)) state.zone.forget(attempt_clock_of(c));
  }
  for (std::size_t s = 0; s < world_.servers; ++s) {
    if (state.discrete.owners[s] == 0) state.zone.forget(key_clock_of(s));
  }
  if (!let_time_pass(state)) return;
  // All other clocks are bounded by their places.
  for (std::size_t c = 0; c < world_.clients && world_.validity; ++c) {
    state.zone.extrapolate(attempt_clock_of(c), *world_.validity);
  }
  std::vector<Zone>& known = passed_[state.discrete];
  for (const Zone& zone : known) {
    if (zone.includes(state.zone)) return;
  }
  stored_ -= std::erase_if(known, [&](const Zone& zone) { return state.zone.includes(zone); });
  known.push_back(state.zone);
  ++stored_;
  waiting_.push_back(std::move(state));
}

}  // namespace lockstep::checker::testing
