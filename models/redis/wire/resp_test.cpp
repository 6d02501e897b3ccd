#include "models/redis/wire/resp.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck/catch.h>

namespace lockstep::models::redis::resp_test {
namespace {

/// What a server would answer to these bytes: the requests, and how it ends.
std::string requests_in(std::string_view bytes, RespLimits limits = {}) {
  RequestParser parser(limits);
  parser.feed(bytes);
  std::string out;
  while (true) {
    const auto result = parser.next();
    if (std::holds_alternative<Incomplete>(result)) return out + "...";
    if (const auto* error = std::get_if<ProtocolError>(&result)) return out + error->message;
    for (const Value& value : std::get<Command>(result).values()) out += value.text() + ",";
    out += "; ";
  }
}

std::string replies_in(std::string_view bytes, RespLimits limits = {}) {
  ReplyParser parser(limits);
  parser.feed(bytes);
  std::string out;
  while (true) {
    const auto result = parser.next();
    if (std::holds_alternative<Incomplete>(result)) return out + "...";
    if (const auto* error = std::get_if<ProtocolError>(&result)) return out + error->message;
    out += std::get<Reply>(result).describe() + "; ";
  }
}

rc::Gen<Reply> any_reply(int depth) {
  return rc::gen::mapcat(rc::gen::inRange(0, depth > 0 ? 8 : 6), [depth](int kind) -> rc::Gen<Reply> {
    switch (kind) {
      case 0: return rc::gen::just(Reply::nil());
      case 1: return rc::gen::just(Reply::null_array());
      case 2: return rc::gen::map(rc::gen::arbitrary<std::int64_t>(), [](std::int64_t n) { return Reply::integer(n); });
      case 3: return rc::gen::map<std::string>([](std::string s) { return Reply::status(std::move(s)); });
      case 4: return rc::gen::map<std::string>([](std::string s) { return Reply::error(std::move(s)); });
      case 5: return rc::gen::map<std::string>([](std::string s) { return Reply::bulk(std::move(s)); });
      default:
        return rc::gen::map(rc::gen::container<std::vector<Reply>>(any_reply(depth - 1)),
                            [](std::vector<Reply> items) { return Reply::array(std::move(items)); });
    }
  });
}

}  // namespace

TEST_CASE("requests are arrays of bulk strings, or lines") {
  CHECK(requests_in("*2\r\n$3\r\nGET\r\n$1\r\nk\r\n") == "GET,k,; ...");
  CHECK(requests_in("GET k\r\nSET \"a b\" 'c'\n") == "GET,k,; SET,a b,c,; ...");
  CHECK(requests_in("\r\n  \r\n*0\r\n*-1\r\nPING\r\n") == "PING,; ...");
  CHECK(requests_in("*1\r\n$4\r\na\r\nb\r\n") == "a\r\nb,; ...");
  CHECK(requests_in("*1\r\n$0\r\n\r\n") == ",; ...");
  // Where a C string ends, no line does.
  CHECK(requests_in(std::string_view("\0PING\r\nPING\r\n", 13)) == "...");
  CHECK(requests_in(std::string_view("GET k\r\nPING\0\r\nPING\r\n", 20)) == "GET,k,; ...");
  CHECK(requests_in(std::string_view("*1\r\n$3\r\na\0b\r\n", 13)) == std::string("a\0b,; ...", 9));
  CHECK(requests_in(std::string(70'000, '\0')) == "Protocol error: too big inline request");
  CHECK(requests_in("\v\fECHO\v a\fb\r\n") == "ECHO\v,a\fb,; ...");
  CHECK(requests_in("*2\r\n$3\r\nGET\r\n$1\r\n") == "...");
}

TEST_CASE("what is no request gets the error that redis-server 7.0.15 sends") {
  CHECK(requests_in("*a\r\n") == "Protocol error: invalid multibulk length");
  CHECK(requests_in("*2147483648\r\n") == "Protocol error: invalid multibulk length");
  CHECK(requests_in("*1\r\n$-1\r\n") == "Protocol error: invalid bulk length");
  CHECK(requests_in("*1\r\n$536870913\r\n") == "Protocol error: invalid bulk length");
  CHECK(requests_in("*1\r\n:1\r\n") == "Protocol error: expected '$', got ':'");
  CHECK(requests_in("SET \"a\r\n") == "Protocol error: unbalanced quotes in request");
  CHECK(requests_in("PING\r\nSET 'a'b\r\nPING\r\n") == "PING,; Protocol error: unbalanced quotes in request");
  CHECK(requests_in(std::string(70'000, 'x')) == "Protocol error: too big inline request");
  CHECK(requests_in("*" + std::string(70'000, '1')) == "Protocol error: too big mbulk count string");
  CHECK(requests_in("*1\r\n$" + std::string(70'000, '1')) == "Protocol error: too big bulk count string");
}

TEST_CASE("an announced length costs nothing until its bytes arrive") {
  CHECK(requests_in("*2147483647\r\n$536870912\r\nx") == "...");
  CHECK(replies_in("*2147483647\r\n$536870912\r\nx") == "...");
}

TEST_CASE("replies of every type are read") {
  CHECK(replies_in("+OK\r\n-ERR no\r\n:-7\r\n$2\r\nab\r\n$-1\r\n*-1\r\n*0\r\n*2\r\n:1\r\n*1\r\n$0\r\n\r\n") ==
        "OK; (error) ERR no; (integer) -7; \"ab\"; (nil); (nil); (empty array); 1) (integer) 1 2) [1) \"\"]; ...");
}

TEST_CASE("what is no reply is refused") {
  CHECK(replies_in("?\r\n") == "Protocol error: unknown type '?'");
  CHECK(replies_in("\r\n") == "Protocol error: an empty line where a reply begins");
  CHECK(replies_in(":x\r\n") == "Protocol error: invalid integer");
  CHECK(replies_in("$-2\r\n") == "Protocol error: invalid bulk length");
  CHECK(replies_in("*-2\r\n") == "Protocol error: invalid multibulk length");
  std::string deep;
  for (int i = 0; i < 2000; ++i) deep += "*1\r\n";
  CHECK(replies_in(deep) == "Protocol error: too many arrays in arrays");
}

TEST_CASE("what is written is read again, in pieces of any size") {
  rc::prop("replies", [] {
    const auto replies = *rc::gen::container<std::vector<Reply>>(any_reply(3));
    std::string bytes;
    for (const Reply& reply : replies) reply.append_resp(bytes);
    const auto piece = *rc::gen::inRange<std::size_t>(1, 20);
    ReplyParser parser;
    std::vector<Reply> read;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      parser.feed(std::string_view(bytes).substr(at, piece));
      for (auto result = parser.next(); !std::holds_alternative<Incomplete>(result); result = parser.next()) {
        read.push_back(std::get<Reply>(result));
      }
    }
    RC_ASSERT(read == replies);
  });
  rc::prop("requests", [](const std::vector<std::vector<std::string>>& requests) {
    std::string bytes;
    std::vector<Command> sent;
    for (const auto& words : requests) {
      Command command;
      for (const std::string& word : words) command.push_back(word);
      append_request(bytes, command);
      if (!command.empty()) sent.push_back(command);
    }
    const auto piece = *rc::gen::inRange<std::size_t>(1, 20);
    RequestParser parser;
    std::vector<Command> read;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      parser.feed(std::string_view(bytes).substr(at, piece));
      for (auto result = parser.next(); !std::holds_alternative<Incomplete>(result); result = parser.next()) {
        read.push_back(std::get<Command>(result));
      }
    }
    RC_ASSERT(read == sent);
  });
}

}  // namespace lockstep::models::redis::resp_test
