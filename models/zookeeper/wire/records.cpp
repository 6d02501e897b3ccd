#include "models/zookeeper/wire/records.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace lockstep::models::zookeeper::wire {
namespace {

constexpr std::int32_t kEveryPermission = 31;
/// CreateMode's flags beyond our modes.
constexpr std::int32_t kContainer = 4, kWithTimeToLive = 5, kSequentialWithTimeToLive = 6;
/// KeeperState.SyncConnected.
constexpr std::int32_t kConnected = 3;

void put_body(std::string& out, const Create& create) {
  put_text(out, create.path);
  put_text(out, create.data);
  put_open_access_list(out);
  put_int(out, static_cast<std::int32_t>(create.mode));
}
void put_body(std::string& out, const Delete& asked) {
  put_text(out, asked.path);
  put_int(out, asked.version);
}
void put_body(std::string& out, const SetData& set) {
  put_text(out, set.path);
  put_text(out, set.data);
  put_int(out, set.version);
}
void put_body(std::string& out, const Check& check) {
  put_text(out, check.path);
  put_int(out, check.version);
}
template <class Read>
void put_look(std::string& out, const Read& asked) {
  put_text(out, asked.path);
  put_bool(out, asked.watches);
}
void put_body(std::string& out, const Exists& asked) { put_look(out, asked); }
void put_body(std::string& out, const GetData& asked) { put_look(out, asked); }
void put_body(std::string& out, const GetChildren& asked) { put_look(out, asked); }
void put_body(std::string& out, const RemoveWatches& asked) {
  put_text(out, asked.path);
  put_int(out, static_cast<std::int32_t>(asked.kind));
}
void put_body(std::string& out, const Sync& asked) { put_text(out, asked.path); }
void put_body(std::string& out, const SetWatches& asked) {
  put_long(out, asked.relative_zxid);
  for (const auto* paths : {&asked.data, &asked.exist, &asked.child}) put_texts(out, *paths);
}

OpCode code_of(const Create& create) { return create.asks_for_stat ? OpCode::create2 : OpCode::create; }
OpCode code_of(const Delete&) { return OpCode::remove; }
OpCode code_of(const SetData&) { return OpCode::set_data; }
OpCode code_of(const Check&) { return OpCode::check; }
OpCode code_of(const Exists&) { return OpCode::exists; }
OpCode code_of(const GetData&) { return OpCode::get_data; }
OpCode code_of(const GetChildren& asked) { return asked.asks_for_stat ? OpCode::get_children2 : OpCode::get_children; }
OpCode code_of(const Multi&) { return OpCode::multi; }
OpCode code_of(const SetWatches&) { return OpCode::set_watches; }
OpCode code_of(const Sync&) { return OpCode::sync; }
OpCode code_of(const RemoveWatches& asked) {
  return asked.only_checks ? OpCode::check_watches : OpCode::remove_watches;
}

void put_multi_header(std::string& out, OpCode type, bool is_done, std::int32_t error) {
  put_int(out, static_cast<std::int32_t>(type));
  put_bool(out, is_done);
  put_int(out, error);
}

void put_body(std::string& out, const Multi& multi) {
  for (const MultiOperation& operation : multi.operations) {
    std::visit(
        [&](const auto& each) {
          put_multi_header(out, code_of(each), false, -1);
          put_body(out, each);
        },
        operation);
  }
  put_multi_header(out, OpCode::error, true, -1);
}

/// Takes operations from requests, and remembers why one is none.
class OperationReader {
 public:
  explicit OperationReader(Reader& in) : in_(in) {}

  Operation take(OpCode type);
  Refusal refusal() const { return in_.is_whole() ? refusal_ : Refusal::marshalling_error; }

 private:
  void refuse(Refusal why) {
    if (refusal_ == Refusal::none) refusal_ = why;
  }
  Create take_create(OpCode type);
  Delete take_delete();
  SetData take_set_data();
  Check take_check();
  template <class Read>
  Read take_look();
  Multi take_multi();
  std::optional<MultiOperation> take_part(OpCode type);
  SetWatches take_set_watches(OpCode type);
  RemoveWatches take_remove_watches(OpCode type);

  Reader& in_;
  Refusal refusal_ = Refusal::none;
};

// Member by member, in the order in which they stand in packets.

Create OperationReader::take_create(OpCode type) {
  Create create;
  create.path = in_.take_some_text();
  create.data = in_.take_text();
  const std::int32_t count = in_.take_int();
  for (std::int32_t i = 0; i < count && in_.is_whole(); ++i) {
    in_.take_int();
    in_.take_some_text();
    in_.take_some_text();
  }
  const std::int32_t flags = in_.take_int();
  if (flags == kContainer) {
    create.mode = CreateMode::persistent;
  } else if (flags == kWithTimeToLive || flags == kSequentialWithTimeToLive) {
    refuse(Refusal::unimplemented);
  } else if (flags < 0 || flags > kSequentialWithTimeToLive) {
    refuse(Refusal::bad_arguments);
  } else {
    create.mode = static_cast<CreateMode>(flags);
  }
  if (count <= 0) refuse(Refusal::invalid_acl);
  create.asks_for_stat = type != OpCode::create;
  return create;
}

Delete OperationReader::take_delete() {
  Delete asked;
  asked.path = in_.take_some_text();
  asked.version = in_.take_int();
  return asked;
}

SetData OperationReader::take_set_data() {
  SetData set;
  set.path = in_.take_some_text();
  set.data = in_.take_text();
  set.version = in_.take_int();
  return set;
}

Check OperationReader::take_check() {
  Check check;
  check.path = in_.take_some_text();
  check.version = in_.take_int();
  return check;
}

template <class Read>
Read OperationReader::take_look() {
  Read asked;
  asked.path = in_.take_some_text();
  asked.watches = in_.take_bool();
  return asked;
}

SetWatches OperationReader::take_set_watches(OpCode type) {
  SetWatches asked;
  asked.relative_zxid = in_.take_long();
  for (auto* paths : {&asked.data, &asked.exist, &asked.child}) *paths = in_.take_texts();
  if (type == OpCode::set_watches2) {
    // Persistent watches, and those of whole trees.
    const bool has_persistent = !in_.take_texts().empty();
    const bool has_recursive = !in_.take_texts().empty();
    if (has_persistent || has_recursive) refuse(Refusal::unimplemented);
  }
  return asked;
}

RemoveWatches OperationReader::take_remove_watches(OpCode type) {
  RemoveWatches asked;
  asked.path = in_.take_some_text();
  asked.only_checks = type == OpCode::check_watches;
  const std::int32_t kind = in_.take_int();
  if (kind < static_cast<std::int32_t>(WatcherKind::children) || kind > static_cast<std::int32_t>(WatcherKind::any)) {
    refuse(Refusal::marshalling_error);
  } else {
    asked.kind = static_cast<WatcherKind>(kind);
  }
  return asked;
}

std::optional<MultiOperation> OperationReader::take_part(OpCode type) {
  switch (type) {
    case OpCode::create:
    case OpCode::create2:
    case OpCode::create_container: return take_create(type);
    case OpCode::remove: return take_delete();
    case OpCode::set_data: return take_set_data();
    case OpCode::check: return take_check();
    default: refuse(Refusal::marshalling_error); return std::nullopt;
  }
}

Multi OperationReader::take_multi() {
  Multi multi;
  while (true) {
    const auto type = static_cast<OpCode>(in_.take_int());
    const bool is_done = in_.take_bool();
    in_.take_int();
    if (is_done || !in_.is_whole()) return multi;
    std::optional<MultiOperation> part = take_part(type);
    if (!part) return multi;
    multi.operations.push_back(std::move(*part));
  }
}

Operation OperationReader::take(OpCode type) {
  switch (type) {
    case OpCode::create:
    case OpCode::create2:
    case OpCode::create_container: return take_create(type);
    case OpCode::remove: return take_delete();
    case OpCode::set_data: return take_set_data();
    case OpCode::exists: return take_look<Exists>();
    case OpCode::get_data: return take_look<GetData>();
    case OpCode::get_children: return take_look<GetChildren>();
    case OpCode::get_children2: {
      GetChildren asked = take_look<GetChildren>();
      asked.asks_for_stat = true;
      return asked;
    }
    case OpCode::multi: return take_multi();
    case OpCode::sync: return Sync{in_.take_some_text()};
    case OpCode::set_watches:
    case OpCode::set_watches2: return take_set_watches(type);
    case OpCode::check_watches:
    case OpCode::remove_watches: return take_remove_watches(type);
    default: refuse(Refusal::unimplemented); return {};
  }
}

void put_part(std::string& out, const MultiOperation& asked, const Result& result) {
  if (result.error != Error::none) {
    put_multi_header(out, OpCode::error, false, static_cast<std::int32_t>(result.error));
    put_int(out, static_cast<std::int32_t>(result.error));
    return;
  }
  // ZooKeeper answers a create2 in a multi like a create.
  const bool is_create = std::holds_alternative<Create>(asked);
  const OpCode type = std::visit([](const auto& each) { return code_of(each); }, asked);
  put_multi_header(out, is_create ? OpCode::create : type, false, 0);
  if (is_create) put_text(out, result.path);
  if (result.stat) put(out, *result.stat);
}

/// Where none has failed nothing is an error; otherwise nothing is a result.
void put_parts(std::string& out, const Multi& multi, const std::vector<Result>& results) {
  const bool has_failed =
      std::any_of(results.begin(), results.end(), [](const Result& each) { return each.error != Error::none; });
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (has_failed && results[i].error == Error::none) {
      put_multi_header(out, OpCode::error, false, 0);
      put_int(out, 0);
    } else {
      put_part(out, multi.operations[i], results[i]);
    }
  }
  put_multi_header(out, OpCode::error, true, -1);
}

std::vector<Result> take_parts(Reader& in) {
  std::vector<Result> results;
  while (in.is_whole()) {
    const auto type = static_cast<OpCode>(in.take_int());
    const bool is_done = in.take_bool();
    in.take_int();
    if (is_done) break;
    Result& own = results.emplace_back();
    if (type == OpCode::error) own.error = static_cast<Error>(in.take_int());
    if (type == OpCode::create || type == OpCode::create2) own.path = in.take_text();
    if (type == OpCode::create2 || type == OpCode::set_data) own.stat = take_stat(in);
  }
  return results;
}

bool tells_path(OpCode type) {
  return type == OpCode::create || type == OpCode::create2 || type == OpCode::create_container || type == OpCode::sync;
}
bool tells_children(OpCode type) { return type == OpCode::get_children || type == OpCode::get_children2; }
bool tells_stat(OpCode type) {
  return type == OpCode::create2 || type == OpCode::create_container || type == OpCode::set_data ||
         type == OpCode::exists || type == OpCode::get_data || type == OpCode::get_children2;
}

}  // namespace

void put_packet(std::string& out, std::string_view packet) { put_text(out, packet); }

void put(std::string& out, const ConnectRequest& request) {
  put_int(out, request.protocol_version);
  put_long(out, request.last_zxid_seen);
  put_int(out, request.timeout_ms);
  put_long(out, request.session);
  put_text(out, request.password);
  if (request.may_be_read_only) put_bool(out, *request.may_be_read_only);
}

ConnectRequest take_connect_request(Reader& in) {
  ConnectRequest request;
  request.protocol_version = in.take_int();
  request.last_zxid_seen = in.take_long();
  request.timeout_ms = in.take_int();
  request.session = in.take_long();
  request.password = in.take_text();
  request.may_be_read_only.reset();
  if (!in.is_at_end()) request.may_be_read_only = in.take_bool();
  return request;
}

void put(std::string& out, const ConnectResponse& response) {
  put_int(out, 0);
  put_int(out, response.timeout_ms);
  put_long(out, response.session);
  put_text(out, response.password);
  if (response.is_read_only) put_bool(out, *response.is_read_only);
}

ConnectResponse take_connect_response(Reader& in) {
  ConnectResponse response;
  in.take_int();
  response.timeout_ms = in.take_int();
  response.session = in.take_long();
  response.password = in.take_text();
  response.is_read_only.reset();
  if (!in.is_at_end()) response.is_read_only = in.take_bool();
  return response;
}

void put(std::string& out, const RequestHeader& header) {
  put_int(out, header.xid);
  put_int(out, static_cast<std::int32_t>(header.type));
}

RequestHeader take_request_header(Reader& in) {
  RequestHeader header;
  header.xid = in.take_int();
  header.type = static_cast<OpCode>(in.take_int());
  return header;
}

void put(std::string& out, const ReplyHeader& header) {
  put_int(out, header.xid);
  put_long(out, header.zxid);
  put_int(out, header.error);
}

ReplyHeader take_reply_header(Reader& in) {
  ReplyHeader header;
  header.xid = in.take_int();
  header.zxid = in.take_long();
  header.error = in.take_int();
  return header;
}

OpCode type_of(const Operation& operation) {
  return std::visit([](const auto& each) { return code_of(each); }, operation);
}

void put(std::string& out, const Operation& operation) {
  std::visit([&](const auto& each) { put_body(out, each); }, operation);
}

std::variant<Operation, Refusal> take_operation(Reader& in, OpCode type) {
  OperationReader reader(in);
  Operation operation = reader.take(type);
  if (reader.refusal() != Refusal::none) return reader.refusal();
  return operation;
}

void put_answer(std::string& out, OpCode type, const Operation& asked, const Answer& answer) {
  if (const auto* multi = std::get_if<Multi>(&asked); multi != nullptr && answer.result.error == Error::none)
    return put_parts(out, *multi, answer.results);
  const Result& result = answer.result;
  if (result.error != Error::none) return;
  if (tells_path(type)) put_text(out, result.path);
  if (type == OpCode::get_data) put_text(out, result.data);
  if (tells_children(type)) put_texts(out, result.children);
  if (tells_stat(type) && result.stat) put(out, *result.stat);
}

Answer take_answer(Reader& in, OpCode type, const ReplyHeader& header) {
  Answer answer{.zxid = header.zxid};
  if (type == OpCode::multi) {
    answer.results = take_parts(in);
    return answer;
  }
  Result& result = answer.result;
  result.error = static_cast<Error>(header.error);
  if (result.error != Error::none) return answer;
  if (tells_path(type)) result.path = in.take_text();
  if (type == OpCode::get_data) result.data = in.take_text();
  if (tells_children(type)) {
    result.children = in.take_texts();
    std::sort(result.children.begin(), result.children.end());
  }
  if (tells_stat(type)) result.stat = take_stat(in);
  return answer;
}

void put(std::string& out, const WatchedEvent& event) {
  put_int(out, static_cast<std::int32_t>(event.type));
  put_int(out, kConnected);
  put_text(out, event.path);
}

WatchedEvent take_event(Reader& in) {
  WatchedEvent event;
  event.type = static_cast<EventType>(in.take_int());
  in.take_int();
  event.path = in.take_text();
  return event;
}

void put(std::string& out, const Stat& stat) {
  put_long(out, stat.czxid);
  put_long(out, stat.mzxid);
  put_long(out, 0);  // times of its creation and of its data
  put_long(out, 0);
  put_int(out, stat.version);
  put_int(out, stat.cversion);
  put_int(out, 0);  // the version of its access list
  put_long(out, stat.ephemeral_owner);
  put_int(out, stat.data_length);
  put_int(out, stat.num_children);
  put_long(out, stat.pzxid);
}

Stat take_stat(Reader& in) {
  Stat stat;
  stat.czxid = in.take_long();
  stat.mzxid = in.take_long();
  in.take_long();
  in.take_long();
  stat.version = in.take_int();
  stat.cversion = in.take_int();
  in.take_int();
  stat.ephemeral_owner = in.take_long();
  stat.data_length = in.take_int();
  stat.num_children = in.take_int();
  stat.pzxid = in.take_long();
  return stat;
}

void put_open_access_list(std::string& out) {
  put_int(out, 1);
  put_int(out, kEveryPermission);
  put_text(out, "world");
  put_text(out, "anyone");
}

}  // namespace lockstep::models::zookeeper::wire
