// What a real redis-server 7.0.15 replied to whole conversations, byte by byte.

#include "models/redis/database/commands.hpp"
#include "models/redis/conformance/test_server.hpp"

namespace lockstep::models::redis::commands_test {

TEST_CASE("SET and its relatives reply as redis-server 7.0 does") {
  static constexpr Exchange kExchanges[] = {
      {"SET k v", "+OK\r\n"},
      {"SET k w NX", "$-1\r\n"},
      {"SET k w NX GET", "$1\r\nv\r\n"},
      {"GET k", "$1\r\nv\r\n"},
      {"SET k w XX", "+OK\r\n"},
      {"SET k x GET", "$1\r\nw\r\n"},
      {"GET k", "$1\r\nx\r\n"},
      {"SET fresh v XX", "$-1\r\n"},
      {"SET fresh v XX GET", "$-1\r\n"},
      {"SET fresh v GET", "$-1\r\n"},
      {"SET fresh v nx ex 10", "$-1\r\n"},
      {"SET k v XX NX", "-ERR syntax error\r\n"},
      {"SET k v EX 0", "-ERR invalid expire time in 'set' command\r\n"},
      {"SET k v EX -1", "-ERR invalid expire time in 'set' command\r\n"},
      {"SET k v EX abc", "-ERR value is not an integer or out of range\r\n"},
      {"SET k v EX 010", "-ERR value is not an integer or out of range\r\n"},
      {"SET k v EX 10 PX 10", "-ERR syntax error\r\n"},
      {"SET k v EX 10 KEEPTTL", "-ERR syntax error\r\n"},
      {"SET k v EX 10 EX 20", "+OK\r\n"},
      {"SET k v EX", "-ERR syntax error\r\n"},
      {"SET k v PXAT 0", "-ERR invalid expire time in 'set' command\r\n"},
      {"SET k v EX 9223372036854775807", "-ERR invalid expire time in 'set' command\r\n"},
      {"SET k v PX 9223372036854775807", "-ERR invalid expire time in 'set' command\r\n"},
      {"SET k v FOO", "-ERR syntax error\r\n"},
      {"SET k", "-ERR wrong number of arguments for 'set' command\r\n"},
      {"SET k v PXAT 1", "+OK\r\n"},
      {"GET k", "$-1\r\n"},
      {"SETNX n 1", ":1\r\n"},
      {"SETNX n 2", ":0\r\n"},
      {"GET n", "$1\r\n1\r\n"},
      {"SETEX e 0 v", "-ERR invalid expire time in 'setex' command\r\n"},
      {"SETEX e a v", "-ERR value is not an integer or out of range\r\n"},
      {"SETEX e 9223372036854775807 v", "-ERR invalid expire time in 'setex' command\r\n"},
      {"SETEX e 100 v", "+OK\r\n"},
      {"TTL e", ":100\r\n"},
      {"PSETEX e -1 v", "-ERR invalid expire time in 'psetex' command\r\n"},
      {"PSETEX e 2000 v", "+OK\r\n"},
      {"TTL e", ":2\r\n"},
      {"GETSET e new", "$1\r\nv\r\n"},
      {"TTL e", ":-1\r\n"},
      {"GETSET none v", "$-1\r\n"},
      {"GETSET none", "-ERR wrong number of arguments for 'getset' command\r\n"},
      {"GETDEL e", "$3\r\nnew\r\n"},
      {"GETDEL e", "$-1\r\n"},
      {"\"\" x", "-ERR unknown command '', with args beginning with: 'x' \r\n"},
      {"SET \"a b\" \"\"", "+OK\r\n"},
      {"GET \"a b\"", "$0\r\n\r\n"},
  };
  check_conversation(kExchanges);
}

TEST_CASE("counters and APPEND reply as redis-server 7.0 does") {
  static constexpr Exchange kExchanges[] = {
      {"INCR n", ":1\r\n"},
      {"INCRBY n 9223372036854775806", ":9223372036854775807\r\n"},
      {"INCR n", "-ERR increment or decrement would overflow\r\n"},
      {"DECRBY n 10", ":9223372036854775797\r\n"},
      {"INCRBY n abc", "-ERR value is not an integer or out of range\r\n"},
      {"INCRBY n 1.5", "-ERR value is not an integer or out of range\r\n"},
      {"INCRBY n \" 1\"", "-ERR value is not an integer or out of range\r\n"},
      {"INCRBY n -0", "-ERR value is not an integer or out of range\r\n"},
      {"INCRBY n +1", "-ERR value is not an integer or out of range\r\n"},
      {"DECRBY n -9223372036854775808", "-ERR decrement would overflow\r\n"},
      {"DECRBY n 9223372036854775807", ":-10\r\n"},
      {"DECR n", ":-11\r\n"},
      {"SET n abc", "+OK\r\n"},
      {"INCR n", "-ERR value is not an integer or out of range\r\n"},
      {"SET n \"\"", "+OK\r\n"},
      {"INCR n", "-ERR value is not an integer or out of range\r\n"},
      {"SET n 01", "+OK\r\n"},
      {"DECR n", "-ERR value is not an integer or out of range\r\n"},
      {"SET n -0", "+OK\r\n"},
      {"INCR n", "-ERR value is not an integer or out of range\r\n"},
      {"SET n 9223372036854775808", "+OK\r\n"},
      {"INCR n", "-ERR value is not an integer or out of range\r\n"},
      {"APPEND a 123", ":3\r\n"},
      {"APPEND a 45", ":5\r\n"},
      {"INCR a", ":12346\r\n"},
      {"STRLEN a", ":5\r\n"},
      {"STRLEN none", ":0\r\n"},
      {"APPEND a x", ":6\r\n"},
      {"GET a", "$6\r\n12346x\r\n"},
      {"INCR a", "-ERR value is not an integer or out of range\r\n"},
  };
  check_conversation(kExchanges);
}

TEST_CASE("DEL, TYPE and the expiry commands reply as redis-server 7.0 does") {
  static constexpr Exchange kExchanges[] = {
      {"SET a 1", "+OK\r\n"},
      {"SET b 2", "+OK\r\n"},
      {"EXISTS a", ":1\r\n"},
      {"EXISTS a a b none", ":3\r\n"},
      {"TYPE a", "+string\r\n"},
      {"TYPE none", "+none\r\n"},
      {"DEL a none", ":1\r\n"},
      {"DEL a", ":0\r\n"},
      {"UNLINK b none", ":1\r\n"},
      {"EXISTS b", ":0\r\n"},
      {"DEL", "-ERR wrong number of arguments for 'del' command\r\n"},
      {"PERSIST a", ":0\r\n"},
      {"SET a 1", "+OK\r\n"},
      {"PERSIST a", ":0\r\n"},
      {"TTL a", ":-1\r\n"},
      {"PTTL a", ":-1\r\n"},
      {"TTL none", ":-2\r\n"},
      {"PTTL none", ":-2\r\n"},
      {"EXPIRETIME a", ":-1\r\n"},
      {"PEXPIRETIME none", ":-2\r\n"},
      {"EXPIRE a 100", ":1\r\n"},
      {"TTL a", ":100\r\n"},
      {"PERSIST a", ":1\r\n"},
      {"TTL a", ":-1\r\n"},
      {"EXPIRE a 100 XX", ":0\r\n"},
      {"EXPIRE a 100 GT", ":0\r\n"},
      {"EXPIRE a 100 LT", ":1\r\n"},
      {"EXPIRE a 50 GT", ":0\r\n"},
      {"EXPIRE a 200 GT", ":1\r\n"},
      {"EXPIRE a 300 LT", ":0\r\n"},
      {"EXPIRE a 300 NX", ":0\r\n"},
      {"EXPIRE a 300 xx gt", ":1\r\n"},
      {"TTL a", ":300\r\n"},
      {"EXPIRE a 10 NX XX", "-ERR NX and XX, GT or LT options at the same time are not compatible\r\n"},
      {"EXPIRE a 10 NX GT", "-ERR NX and XX, GT or LT options at the same time are not compatible\r\n"},
      {"EXPIRE a 10 GT LT", "-ERR GT and LT options at the same time are not compatible\r\n"},
      {"EXPIRE a 10 FOO", "-ERR Unsupported option FOO\r\n"},
      {"EXPIRE none 10 FOO", "-ERR Unsupported option FOO\r\n"},
      {"EXPIRE none abc", "-ERR value is not an integer or out of range\r\n"},
      {"EXPIRE none 10", ":0\r\n"},
      {"EXPIRE a 9223372036854775807", "-ERR invalid expire time in 'expire' command\r\n"},
      {"EXPIRE a -9223372036854775808", "-ERR invalid expire time in 'expire' command\r\n"},
      {"PEXPIRE a 9223372036854775807", "-ERR invalid expire time in 'pexpire' command\r\n"},
      {"EXPIREAT a 9223372036854775807", "-ERR invalid expire time in 'expireat' command\r\n"},
      {"PEXPIREAT a x", "-ERR value is not an integer or out of range\r\n"},
      {"EXPIRE a -1", ":1\r\n"},
      {"EXISTS a", ":0\r\n"},
      {"SET a 1", "+OK\r\n"},
      {"PEXPIRE a 0", ":1\r\n"},
      {"EXISTS a", ":0\r\n"},
      {"SET a 1", "+OK\r\n"},
      {"EXPIREAT a -5", ":1\r\n"},
      {"GET a", "$-1\r\n"},
      {"SET a 1", "+OK\r\n"},
      {"PEXPIREAT a 1", ":1\r\n"},
      {"GET a", "$-1\r\n"},
  };
  check_conversation(kExchanges);
}

TEST_CASE("server commands and unknown ones reply as redis-server 7.0 does") {
  static constexpr Exchange kExchanges[] = {
      {"PING", "+PONG\r\n"},
      {"ping \"a b\"", "$3\r\na b\r\n"},
      {"PING a b", "-ERR wrong number of arguments for 'ping' command\r\n"},
      {"ECHO hi", "$2\r\nhi\r\n"},
      {"ECHO", "-ERR wrong number of arguments for 'echo' command\r\n"},
      {"TIME x", "-ERR wrong number of arguments for 'time' command\r\n"},
      {"SET a 1", "+OK\r\n"},
      {"FLUSHALL", "+OK\r\n"},
      {"EXISTS a", ":0\r\n"},
      {"FLUSHALL SYNC", "+OK\r\n"},
      {"flushall async", "+OK\r\n"},
      {"FLUSHALL FOO", "-ERR syntax error\r\n"},
      {"FLUSHALL SYNC SYNC", "-ERR syntax error\r\n"},
      {"foo a b", "-ERR unknown command 'foo', with args beginning with: 'a' 'b' \r\n"},
      {"foo", "-ERR unknown command 'foo', with args beginning with: \r\n"},
      {"FOO \"it's\"", "-ERR unknown command 'FOO', with args beginning with: 'it's' \r\n"},
      {"FOO "
       "ccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
       "ccccccccccccccccccccccc dd",
       "-ERR unknown command 'FOO', with args beginning with: "
       "'cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
       "cccccccccccccccccc' \r\n"},
      {"get", "-ERR wrong number of arguments for 'get' command\r\n"},
      {"GET a b", "-ERR wrong number of arguments for 'get' command\r\n"},
      {"\"script load\" x", "-ERR unknown command 'script load', with args beginning with: 'x' \r\n"},
  };
  check_conversation(kExchanges);
}

TEST_CASE("EVAL, EVALSHA and SCRIPT reply as redis-server 7.0 does") {
  static constexpr Exchange kExchanges[] = {
      {"SCRIPT", "-ERR wrong number of arguments for 'script' command\r\n"},
      {"SCRIPT FOO", "-ERR unknown subcommand 'FOO'. Try SCRIPT HELP.\r\n"},
      {"SCRIPT LOAD", "-ERR wrong number of arguments for 'script|load' command\r\n"},
      {"SCRIPT EXISTS", "-ERR wrong number of arguments for 'script|exists' command\r\n"},
      {"SCRIPT LOAD \"return 1\"", "$40\r\ne0e1f9fabfc9d4800c877a703b823ac0578ff8db\r\n"},
      {"SCRIPT EXISTS e0e1f9fabfc9d4800c877a703b823ac0578ff8db E0E1F9FABFC9D4800C877A703B823AC0578FF8DB abc",
       "*3\r\n:1\r\n:1\r\n:0\r\n"},
      {"EVALSHA E0E1F9FABFC9D4800C877A703B823AC0578FF8DB 0", ":1\r\n"},
      {"EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 1",
       "-ERR Number of keys can't be greater than number of args\r\n"},
      {"EVALSHA abc 0", "-NOSCRIPT No matching script. Please use EVAL.\r\n"},
      {"EVALSHA abc 1", "-NOSCRIPT No matching script. Please use EVAL.\r\n"},
      {"EVALSHA abc", "-ERR wrong number of arguments for 'evalsha' command\r\n"},
      {"SCRIPT FLUSH FOO", "-ERR SCRIPT FLUSH only support SYNC|ASYNC option\r\n"},
      {"SCRIPT FLUSH SYNC ASYNC", "-ERR SCRIPT FLUSH only support SYNC|ASYNC option\r\n"},
      {"SCRIPT FLUSH ASYNC", "+OK\r\n"},
      {"EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0", "-NOSCRIPT No matching script. Please use EVAL.\r\n"},
      {"EVAL \"return 1\" 0", ":1\r\n"},
      {"EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0", ":1\r\n"},
      {"SCRIPT FLUSH", "+OK\r\n"},
      {"EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0", "-NOSCRIPT No matching script. Please use EVAL.\r\n"},
      {"SCRIPT LOAD \"return return\"",
       "-ERR Error compiling script (new function): user_script:1: unexpected symbol near 'return'\r\n"},
      {"EVAL \"return return\" 0",
       "-ERR Error compiling script (new function): user_script:1: unexpected symbol near 'return'\r\n"},
      {"EVAL \"return 1\"", "-ERR wrong number of arguments for 'eval' command\r\n"},
      {"EVAL \"return 1\" a", "-ERR value is not an integer or out of range\r\n"},
      {"EVAL \"return 1\" 1", "-ERR Number of keys can't be greater than number of args\r\n"},
      {"EVAL \"return 1\" -1", "-ERR Number of keys can't be negative\r\n"},
      {"EVAL \"return {KEYS[1],KEYS[2],ARGV[1],#KEYS,#ARGV}\" 2 a b c",
       "*5\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n:2\r\n:1\r\n"},
  };
  check_conversation(kExchanges);
}

TEST_CASE("the table of commands is sorted and every entry can be found") {
  for (const CommandSpec& spec : command_table()) {
    INFO(spec.name);
    auto parsed = parse_command_line(spec.name);
    REQUIRE(std::holds_alternative<Command>(parsed));
    CHECK(std::get<Command>(parsed).spec() == &spec);
    CHECK_FALSE((spec.is(kReadOnly) && spec.is(kWrite)));
  }
}

}  // namespace lockstep::models::redis::commands_test
