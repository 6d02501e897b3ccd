// `lockstep serve` and the programs of Redis itself: redis-cli and redis-benchmark, if they are installed.

#include <catch2/catch.hpp>

#include <array>
#include <cstdio>
#include <iostream>
#include <optional>
#include <string>

#include "sim/testing/in_tree.hpp"

namespace lockstep::redis_cli_test {

using lockstep::built_program;
using lockstep::in_tree;

namespace {

/// What a shell command prints.
std::string output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string out;
  std::array<char, 4096> piece;
  while (fgets(piece.data(), piece.size(), pipe) != nullptr) out += piece.data();
  pclose(pipe);
  return out;
}

bool is_installed(const std::string& program) {
  if (!output_of("command -v " + program).empty()) return true;
  std::cout << "SKIPPED: no " << program << " is installed; nothing was tested\n";
  return false;
}

/// A shell that has $port, and a server there for as long as its commands run.
std::string with_server(const std::string& commands) {
  const std::string serve =
      built_program() + " serve " + in_tree("scenarios/stories/reference/set-nx-px-lua-3x2.toml") + " --step";
  return output_of("out=$(mktemp); " + serve +
                   " >\"$out\" & server=$!; trap 'kill $server; rm \"$out\"' EXIT; "
                   "for i in $(seq 200); do grep -q Ctrl \"$out\" && break; sleep 0.05; done; "
                   "port=$(sed -n 's/.*127.0.0.1://p' \"$out\"); exec 2>&1; " +
                   commands);
}

}  // namespace

TEST_CASE("redis-cli talks to a served node") {
  if (!is_installed("redis-cli")) return;
  CHECK(with_server("redis-cli -p $port SET lock me NX PX 30000") == "OK\n");
  CHECK(with_server("printf 'SET k v PX 1500\\nPTTL k\\nDEBUG STEP 1\\nPTTL k\\nMULTI\\nINCR n\\nINCR n\\nEXEC\\n' | "
                    "redis-cli -p $port") == "OK\n1500\nOK\n500\nOK\nQUEUED\nQUEUED\n1\n2\n");
  CHECK(with_server("redis-cli -p $port --eval " + in_tree("models/locks/redis/delete_if_mine.lua") +
                    " lock , token") == "0\n");
  CHECK(with_server("redis-cli -p $port -3 PING").find("PONG") != std::string::npos);
  // The pushing client has to end before the server does: it complains of a connection that closes under it.
  CHECK(with_server("(sleep 0.3; redis-cli -p $port RPUSH list x >/dev/null) & pushes=$!; "
                    "redis-cli -p $port BLPOP list 0; wait $pushes") == "list\nx\n");
}

TEST_CASE("redis-benchmark runs against a served node") {
  if (!is_installed("redis-benchmark")) return;
  const std::string out = with_server(
      "redis-benchmark -p $port -t set,get,incr,lpush,lpop,sadd,zadd,mset -n 2000 -P 8 -q | tr '\\r' '\\n'");
  for (const char* name : {"SET", "GET", "INCR", "LPUSH", "LPOP", "SADD", "ZADD", "MSET (10 keys)"}) {
    CHECK(out.find(std::string(name) + ": ") != std::string::npos);
  }
  CHECK(out.find("rror") == std::string::npos);
}

}  // namespace lockstep::redis_cli_test
