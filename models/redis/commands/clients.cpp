// Commands on connections: CLIENT, SELECT, AUTH, HELLO, RESET, QUIT.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "models/redis/database/database.hpp"
#include "models/redis/database/handlers.hpp"

namespace lockstep::models::redis {
namespace {

bool is_plain(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= '!' && c <= '~'; });
}

/// Takes the name, or says why not.
std::optional<Reply> set_name(Session& client, std::string_view name) {
  if (!is_plain(name)) {
    return Reply::error("ERR Client names cannot contain spaces, newlines or special characters.");
  }
  client.name = name;
  return std::nullopt;
}

/// There is one user, who has no password: anything opens the door for him.
std::optional<Reply> authenticate(const Value& user) {
  if (user == Value("default")) return std::nullopt;
  return Reply::error("WRONGPASS invalid username-password pair or user is disabled.");
}

enum class ClientType : std::uint8_t { normal, primary, replica, subscriber };

std::optional<ClientType> client_type(const Value& name) {
  if (name.is_word("NORMAL")) return ClientType::normal;
  if (name.is_word("MASTER")) return ClientType::primary;
  if (name.is_word("REPLICA") || name.is_word("SLAVE")) return ClientType::replica;
  if (name.is_word("PUBSUB")) return ClientType::subscriber;
  return std::nullopt;
}

/// Links to other servers: whoever follows will soon be back.
Reply kill_links(Call& call, ClientType type) {
  const Replication& replication = call.database.replication();
  if (type == ClientType::replica) {
    call.database.intend(Database::Intent::close_replicas);
    return Reply::integer(static_cast<std::int64_t>(replication.replicas().size()));
  }
  const bool has_link = replication.is_replica() && replication.link() == LinkState::connected;
  if (has_link) call.database.intend(Database::Intent::close_primary);
  return Reply::integer(has_link ? 1 : 0);
}

ClientType type_of(const Session& client) {
  return client.is_subscriber() ? ClientType::subscriber : ClientType::normal;
}

std::string flags_of(const Session& client) {
  std::string flags;
  if (client.is_subscriber()) flags += 'P';
  if (client.in_transaction || client.executing > 0) flags += 'x';
  if (client.waiting) flags += 'b';
  if (client.is_dirty) flags += 'd';
  if (client.no_evict) flags += 'e';
  return flags.empty() ? "N" : flags;
}

/// Of what Redis tells of a connection, that which means something here.
std::string description_of(Call& call, Session& client) {
  const std::string multi = client.executing > 0    ? std::to_string(client.executing)
                            : client.in_transaction ? std::to_string(client.queue.size())
                                                    : "-1";
  return "id=" + std::to_string(call.database.client_id(client)) + " name=" + client.name +
         " flags=" + flags_of(client) + " db=" + std::to_string(client.database) +
         " sub=" + std::to_string(client.channels.size()) + " psub=" + std::to_string(client.patterns.size()) +
         " ssub=0 multi=" + multi +
         " user=default redir=-1 resp=" + (client.protocol == Protocol::resp3 ? "3\n" : "2\n");
}

}  // namespace

Reply client_id_command(Call& call) {
  call.database.touches_more_than_keys();  // numbers are given in the order in which they are asked for
  return Reply::integer(call.database.client_id(call.session));
}

Reply client_info_command(Call& call) {
  call.database.touches_more_than_keys();
  return Reply::verbatim(description_of(call, call.session));
}

Reply client_list_command(Call& call) {
  call.database.touches_more_than_keys();
  std::optional<ClientType> type;
  std::optional<std::vector<std::int64_t>> wanted;
  if (call.size() == 4 && call.arguments[2].is_word("TYPE")) {
    type = client_type(call.arguments[3]);
    if (!type) return Reply::error("ERR Unknown client type '" + call.arguments[3].text() + "'");
  } else if (call.size() > 3 && call.arguments[2].is_word("ID")) {
    wanted.emplace();
    for (const Value& id : call.arguments.subspan(3)) {
      const std::optional<std::int64_t> number = id.integer();
      if (!number) return Reply::error("ERR Invalid client ID");
      wanted->push_back(*number);
    }
  } else if (call.size() != 2) {
    return syntax_error();
  }
  std::string list;
  if (!wanted) {
    for (Session& client : call.database.sessions()) {
      if (client.is_open && (!type || *type == type_of(client))) list += description_of(call, client);
    }
    return Reply::verbatim(std::move(list));
  }
  for (const std::int64_t id : *wanted) {
    for (Session& client : call.database.sessions()) {
      if (client.is_open && client.client_id == id && id != 0) list += description_of(call, client);
    }
  }
  return Reply::verbatim(std::move(list));
}

Reply client_no_evict_command(Call& call) {
  const bool on = call.arguments[2].is_word("ON");
  if (!on && !call.arguments[2].is_word("OFF")) return syntax_error();
  call.session.no_evict = on;
  return Reply::ok();
}

Reply client_getname_command(Call& call) {
  return call.session.name.empty() ? Reply::nil() : Reply::bulk(call.session.name);
}

Reply client_setname_command(Call& call) { return set_name(call.session, call.key(2)).value_or(Reply::ok()); }

/// By ID and TYPE: nobody in a simulation has an address. Whoever kills itself hears of it first.
Reply client_kill_command(Call& call) {
  call.database.touches_more_than_keys();
  if (call.size() == 3) return Reply::error("ERR No such client");
  bool skips_itself = true;
  std::optional<std::int64_t> wanted;
  std::optional<ClientType> type;
  for (std::size_t i = 2; i < call.size(); i += 2) {
    if (i + 1 == call.size()) return syntax_error();
    const Value& value = call.arguments[i + 1];
    if (call.arguments[i].is_word("ID")) {
      wanted = value.integer();
      if (!wanted || *wanted < 1) return Reply::error("ERR client-id should be greater than 0");
    } else if (call.arguments[i].is_word("TYPE")) {
      type = client_type(value);
      if (!type) return Reply::error("ERR Unknown client type '" + value.text() + "'");
    } else if (call.arguments[i].is_word("SKIPME")) {
      if (!value.is_word("YES") && !value.is_word("NO")) return syntax_error();
      skips_itself = value.is_word("YES");
    } else {
      return syntax_error();
    }
  }
  if (type == ClientType::replica || type == ClientType::primary) return kill_links(call, *type);
  std::int64_t killed = 0;
  for (Session& client : call.database.sessions()) {
    if (!client.is_open || (wanted && client.client_id != *wanted)) continue;
    if (type && (type == ClientType::subscriber) != client.is_subscriber()) continue;
    const bool is_itself = &client == &call.session;
    if (is_itself && skips_itself) continue;
    ++killed;
    if (is_itself) {
      client.closes = true;
      continue;
    }
    call.database.deliver(Delivery::Kind::close, client.id, Reply::nil());
    call.database.disconnect(client);
  }
  return Reply::integer(killed);
}

Reply client_unblock_command(Call& call) {
  call.database.touches_more_than_keys();
  if (call.size() > 4) return unknown_subcommand_or_arity(call, "CLIENT");
  const bool with_error = call.size() == 4 && call.arguments[3].is_word("ERROR");
  if (call.size() == 4 && !with_error && !call.arguments[3].is_word("TIMEOUT")) {
    return Reply::error("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR");
  }
  const std::optional<std::int64_t> id = call.arguments[2].integer();
  if (!id) return not_an_integer();
  for (Session& client : call.database.sessions()) {
    if (!client.waiting || client.client_id != *id) continue;
    call.database.unblock(client, with_error ? Reply::error("UNBLOCKED client unblocked via CLIENT UNBLOCK")
                                             : call.database.reply_of_time_out(client));
    return Reply::integer(1);
  }
  return Reply::integer(0);
}

void append_clients_info(std::string& out, Call& call) {
  const auto& sessions = call.database.sessions();
  const auto open = std::count_if(sessions.begin(), sessions.end(), [](const Session& s) { return s.is_open; });
  const auto mortal =
      std::count_if(sessions.begin(), sessions.end(), [](const Session& s) { return s.waiting && s.waiting->timeout; });
  out += "connected_clients:" + std::to_string(open) + "\r\ncluster_connections:0\r\nmaxclients:10000\r\n" +
         "blocked_clients:" + std::to_string(call.database.blocked_clients() + call.database.held_clients()) +
         "\r\ntracking_clients:0\r\n" + "clients_in_timeout_table:" + std::to_string(mortal) + "\r\n";
}

Reply client_pause_command(Call& call) {
  call.database.touches_more_than_keys();
  bool only_writes = false;
  if (call.size() == 4) {
    only_writes = call.arguments[3].is_word("WRITE");
    if (!only_writes && !call.arguments[3].is_word("ALL")) {
      return Reply::error("ERR CLIENT PAUSE mode must be WRITE or ALL");
    }
  } else if (call.size() > 4) {
    return unknown_subcommand_or_arity(call, "CLIENT");
  }
  const std::optional<std::int64_t> milliseconds = call.arguments[2].integer();
  if (!milliseconds) return Reply::error("ERR timeout is not an integer or out of range");
  if (*milliseconds < 0) return Reply::error("ERR timeout is negative");
  constexpr std::int64_t kForever = 10LL * 365 * 86'400 * 1000;
  call.database.pause(sim::Duration::milliseconds(std::min(*milliseconds, kForever)), only_writes);
  return Reply::ok();
}

Reply client_unpause_command(Call& call) {
  call.database.touches_more_than_keys();
  call.database.resume();
  return Reply::ok();
}

Reply auth_command(Call& call) {
  if (call.size() > 3) return syntax_error();
  if (call.size() == 3) return authenticate(call.arguments[1]).value_or(Reply::ok());
  return Reply::error(
      "ERR AUTH <password> called without any password configured for the default user. Are you sure your "
      "configuration "
      "is correct?");
}

/// Its options take effect one after the other, also those before one that is refused; the protocol last.
Reply hello_command(Call& call) {
  Session& client = call.session;
  std::optional<std::int64_t> version;
  if (call.size() > 1) {
    version = call.arguments[1].integer();
    if (!version) return Reply::error("ERR Protocol version is not an integer or out of range");
    if (*version != 2 && *version != 3) return Reply::error("NOPROTO unsupported protocol version");
  }
  for (std::size_t i = 2; i < call.size(); ++i) {
    const std::size_t more = call.size() - 1 - i;
    if (call.arguments[i].is_word("AUTH") && more >= 2) {
      if (auto error = authenticate(call.arguments[i + 1])) return *std::move(error);
      i += 2;
    } else if (call.arguments[i].is_word("SETNAME") && more >= 1) {
      if (auto error = set_name(client, call.key(i + 1))) return *std::move(error);
      i += 1;
    } else {
      return Reply::error("ERR Syntax error in HELLO option '" + call.arguments[i].text() + "'");
    }
  }
  if (version) client.protocol = *version == 3 ? Protocol::resp3 : Protocol::resp2;
  call.database.touches_more_than_keys();
  const bool is_replica = call.database.replication().is_replica();
  const Version server = call.database.version();
  return Reply::map({Reply::bulk("server"), Reply::bulk(is_valkey(server) ? "valkey" : "redis"), Reply::bulk("version"),
                     Reply::bulk(printed(server)), Reply::bulk("proto"),
                     Reply::integer(client.protocol == Protocol::resp3 ? 3 : 2), Reply::bulk("id"),
                     Reply::integer(call.database.client_id(client)), Reply::bulk("mode"), Reply::bulk("standalone"),
                     Reply::bulk("role"), Reply::bulk(is_replica ? "replica" : "master"), Reply::bulk("modules"),
                     Reply::array({})});
}

Reply reset_command(Call& call) {
  call.database.touches_more_than_keys();
  const std::int64_t id = call.session.client_id;
  call.database.disconnect(call.session);
  call.session.client_id = id;
  call.session.is_open = true;
  return Reply::status("RESET");
}

Reply quit_command(Call& call) {
  call.database.touches_more_than_keys();
  call.session.closes = true;
  return Reply::ok();
}

}  // namespace lockstep::models::redis
