// Feeds arbitrary bytes to both parsers, whole and in pieces: no crash, the same results, and what was read survives being
// written and read again.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "models/redis/wire/resp.hpp"

namespace {

using namespace lockstep::models::redis;

void require(bool condition) {
  if (!condition) std::abort();
}

/// Each result in turn, as text; an error ends the list, as it ends the connection.
template <class Parser, class Write>
std::vector<std::string> read_all(std::string_view bytes, std::size_t piece, Write write) {
  Parser parser({.line_bytes = 4096, .arguments = 1 << 20, .bulk_bytes = 1 << 20, .depth = 64});
  std::vector<std::string> results;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    parser.feed(bytes.substr(at, piece));
    while (true) {
      auto result = parser.next();
      if (std::holds_alternative<Incomplete>(result)) break;
      if (const auto* error = std::get_if<ProtocolError>(&result)) {
        results.push_back(error->message);
        return results;
      }
      results.push_back(write(std::get<1>(result)));
    }
  }
  return results;
}

std::string written(const Command& command) {
  require(!command.empty());
  std::string out;
  append_request(out, command);
  RequestParser parser;
  parser.feed(out);
  const auto again = parser.next();
  require(std::holds_alternative<Command>(again) && std::get<Command>(again) == command);
  return out;
}

std::string written(const Reply& reply) {
  const std::string out = reply.resp();
  ReplyParser parser({.line_bytes = 1 << 20});
  parser.feed(out);
  const auto again = parser.next();
  require(std::holds_alternative<Reply>(again) && std::get<Reply>(again) == reply);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto write = [](const auto& thing) { return written(thing); };
  // How far a too long line was let through depends on the pieces; below that length nothing may.
  if (size > 4096) return 0;
  const std::size_t piece = size > 0 ? 1 + data[0] % 7 : 1;
  require(read_all<RequestParser>(bytes, bytes.size(), write) == read_all<RequestParser>(bytes, piece, write));
  require(read_all<ReplyParser>(bytes, bytes.size(), write) == read_all<ReplyParser>(bytes, piece, write));
  return 0;
}
