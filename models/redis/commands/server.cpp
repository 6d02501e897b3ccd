// Commands on the server as a whole, and the errors that many commands share.

#include <algorithm>
#include <cstdlib>
#include <string>

#include "models/redis/commands/objects_of_calls.hpp"
#include "models/redis/data/glob.hpp"
#include "models/redis/data/sorted_set.hpp"
#include "models/redis/data/symbolic_number.hpp"
#include "models/redis/database/commands.hpp"
#include "models/redis/database/database.hpp"
#include "models/redis/database/handlers.hpp"

namespace lockstep::models::redis {
namespace {

std::string lower_case(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

}  // namespace

Reply wrong_type() { return Reply::error("WRONGTYPE Operation against a key holding the wrong kind of value"); }
Reply not_an_integer() { return Reply::error("ERR value is not an integer or out of range"); }
Reply syntax_error() { return Reply::error("ERR syntax error"); }
Reply invalid_expire_time(const Call& call) {
  return Reply::error("ERR invalid expire time in '" + error_name(call.command) + "' command");
}

Reply not_positive() { return Reply::error("ERR value is out of range, must be positive"); }
std::string up_to_zero(const Value& argument, std::size_t most) {
  // In an exploration a time has no digits; what is shown here is for people.
  const Timestamp* time = argument.timestamp();
  const std::string text = time != nullptr && time->instant.anchor() != 0 ? "(timestamp)" : argument.text();
  return text.substr(0, std::min(text.find('\0'), most));
}
Reply wrong_number_of_arguments(const Call& call) {
  return Reply::error("ERR wrong number of arguments for '" + error_name(call.command) + "' command");
}
Reply unknown_subcommand_or_arity(const Call& call, std::string_view container) {
  return Reply::error("ERR unknown subcommand or wrong number of arguments for '" +
                      up_to_zero(call.arguments[1], kShownBytes) + "'. Try " + std::string(container) + " HELP.");
}

IndexRange index_range(std::int64_t start, std::int64_t stop, std::size_t size) {
  const auto count = static_cast<std::int64_t>(size);
  if (start < 0) start = std::max<std::int64_t>(0, start + count);
  if (stop < 0) stop += count;
  stop = std::min(stop, count - 1);
  if (start > stop) return {0, 0};
  return {static_cast<std::size_t>(start), static_cast<std::size_t>(stop) + 1};
}

Reply ping_command(Call& call) {
  if (call.size() > 2) return wrong_number_of_arguments(call);
  if (call.session.takes_subscriptions_alone()) {
    return Reply::array({Reply::bulk("pong"), Reply::bulk(call.size() == 2 ? call.arguments[1] : Value(""))});
  }
  return call.size() == 1 ? Reply::pong() : Reply::bulk(call.arguments[1]);
}

Reply echo_command(Call& call) { return Reply::bulk(call.arguments[1]); }

/// Seconds, and the microseconds below. An exploration has no digits to split: all of a symbolic instant is in the
/// first part, unrounded, and nothing in the second, so that `t[1] * 1000 + t[2] / 1000` is what it should be.
Reply time_command(Call& call) {
  const sim::Instant now = call.clock.now();
  if (now.anchor() != 0) {
    return Reply::array(
        {Reply::bulk(Timestamp{now, sim::Duration::seconds(1)}), Reply::bulk(Timestamp{now, kRestOfSecond})});
  }
  constexpr std::int64_t kPerSecond = 1'000'000;
  const Value microseconds = Timestamp{now, sim::Duration::microseconds(1)};
  const std::int64_t total = *microseconds.integer();
  const std::int64_t below = (total % kPerSecond + kPerSecond) % kPerSecond;
  return Reply::array({Reply::bulk(Value((total - below) / kPerSecond).text()), Reply::bulk(Value(below).text())});
}

Reply info_command(Call& call) {
  const auto wants = [&](std::string_view section) {
    if (call.size() == 1) return true;
    return std::any_of(call.arguments.begin() + 1, call.arguments.end(), [&](const Value& word) {
      return word.is_word(section) || word.is_word("ALL") || word.is_word("DEFAULT") || word.is_word("EVERYTHING");
    });
  };
  std::string out;
  constexpr std::size_t usual_length = 800;
  out.reserve(usual_length);
  const auto begin = [&](std::string_view title) {
    if (!out.empty()) out += "\r\n";
    out += "# " + std::string(title) + "\r\n";
  };
  if (wants("SERVER")) {
    begin("Server");
    // Valkey goes on saying which Redis its clients may take it for.
    const std::string version(printed(call.database.version()));
    out += is_valkey(call.database.version())
               ? "redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:" + version +
                     "\r\nserver_mode:standalone\r\n"
               : "redis_version:" + version + "\r\nredis_mode:standalone\r\n";
  }
  if (wants("CLIENTS") && (call.size() > 1 || call.database.tells_of_clients())) {
    begin("Clients");
    append_clients_info(out, call);
  }
  if (wants("REPLICATION")) {
    begin("Replication");
    append_replication_info(out, call);
  }
  if (wants("KEYSPACE")) {
    begin("Keyspace");
    append_keyspace_info(out, call);
  }
  return Reply::verbatim(std::move(out));
}

Reply config_get_command(Call& call) {
  call.database.touches_more_than_keys();
  std::vector<Reply> pairs;
  for (const Parameter& parameter : call.database.configuration().parameters()) {
    const bool is_wanted = std::any_of(call.arguments.begin() + 2, call.arguments.end(), [&](const Value& pattern) {
      return glob_matches(lower_case(pattern.text()), parameter.name);
    });
    if (!is_wanted) continue;
    pairs.push_back(Reply::bulk(parameter.name));
    pairs.push_back(Reply::bulk(parameter.value));
  }
  return Reply::map(std::move(pairs));
}

/// All of them or, after an error, none.
Reply config_set_command(Call& call) {
  call.database.touches_more_than_keys();
  if (call.size() % 2 != 0) return syntax_error();
  Configuration& configuration = call.database.configuration();
  for (std::size_t i = 2; i < call.size(); i += 2) {
    const Parameter* parameter = configuration.find(lower_case(call.arguments[i].text()));
    if (parameter == nullptr) {
      return Reply::error("ERR Unknown option or number of arguments for CONFIG SET - '" +
                          up_to_zero(call.arguments[i]) + "'");
    }
    for (std::size_t before = 2; before < i; before += 2) {
      if (configuration.find(lower_case(call.arguments[before].text())) == parameter) {
        return Reply::error("ERR CONFIG SET failed (possibly related to argument '" + up_to_zero(call.arguments[i]) +
                            "') - duplicate parameter");
      }
    }
  }
  for (std::size_t i = 2; i < call.size(); i += 2) {
    const Parameter* parameter = configuration.find(lower_case(call.arguments[i].text()));
    const auto fail = [&](const std::string& why) {
      // What was set before the failure is taken back as CONFIG GET prints it, which forgets the `n` beside an `A`.
      for (std::size_t set = 2; set <= i; set += 2) {
        const std::string name = lower_case(call.arguments[set].text());
        if (name == "notify-keyspace-events") configuration.set(name, configuration.find(name)->value);
      }
      return Reply::error("ERR CONFIG SET failed (possibly related to argument '" + std::string(parameter->name) +
                          "') - " + why);
    };
    if (parameter->name == "notify-keyspace-events") {
      if (!NotifiedEvents::read(up_to_zero(call.arguments[i + 1]))) {
        return fail("Invalid event class character. Use 'Ag$lshzxeKEtmdn'.");
      }
      continue;
    }
    if (!parameter->is_number) {
      if (call.arguments[i + 1].text() != parameter->value) return fail("persistence is what the scenario file says");
      continue;
    }
    const std::optional<std::int64_t> number = call.arguments[i + 1].integer();
    const bool is_memory =
        parameter->name == "maxmemory" || parameter->name == "repl-backlog-size" || parameter->name.ends_with("-value");
    if (number && *number > 0 && parameter->name == "maxmemory") {
      return fail("memory does not run out here: nothing but 0 is modelled");
    }
    if (number && *number > 0 && parameter->name == "timeout") {
      return fail("idle connections are not closed here: nothing but 0 is modelled");
    }
    if (!number) {
      return fail(is_memory ? "argument must be a memory value" : "argument couldn't be parsed into an integer");
    }
    if (*number < parameter->least || *number > parameter->most) {
      return fail(is_memory && parameter->least == 0 ? "argument must be a memory value"
                                                     : "argument must be between " + std::to_string(parameter->least) +
                                                           " and " + std::to_string(parameter->most) + " inclusive");
    }
  }
  for (std::size_t i = 2; i < call.size(); i += 2) {
    if (call.arguments[i].is_word("REPL-BACKLOG-SIZE")) {
      call.database.replication().set_backlog_size(*call.arguments[i + 1].integer());
    }
    configuration.set(lower_case(call.arguments[i].text()), up_to_zero(call.arguments[i + 1]));
  }
  return Reply::ok();
}

/// SLEEP alone. As Redis: what is no number is 0.
Reply debug_command(Call& call) {
  if (call.size() != 3 || !call.arguments[1].is_word("SLEEP")) return unknown_subcommand_or_arity(call, "DEBUG");
  call.database.touches_more_than_keys();
  constexpr Real kMost = 365.0 * 86'400;
  const Real seconds = std::strtod(call.arguments[2].text().c_str(), nullptr);
  if (seconds > 0) {
    call.database.stall(sim::Duration::nanoseconds(static_cast<std::int64_t>(std::min(seconds, kMost) * 1e9)));
  }
  return Reply::ok();
}

/// Every server has been started from a file here.
Reply config_rewrite_command(Call& call) {
  call.database.touches_more_than_keys();
  call.database.intend(Database::Intent::rewrite);
  return Reply::ok();
}

}  // namespace lockstep::models::redis
