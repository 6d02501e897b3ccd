#include "models/redis/conformance/real_redis.hpp"

#include <catch2/catch.hpp>

namespace lockstep::models::redis::real_redis_test {

TEST_CASE("a real server answers, or is said to be missing") {
  std::string why;
  const auto server = RealRedis::start(why);
  REQUIRE((server != nullptr) == why.empty());
  if (server == nullptr) return;
  auto connection = server->connect();
  std::string request;
  append_request(request, Command{"SET", "k", "v"});
  append_request(request, Command{"GET", "k"});
  connection.send(request);
  CHECK(connection.receive().is_ok());
  CHECK(connection.receive() == Reply::bulk("v"));
  CHECK_FALSE(connection.receive_within(0));
}

}  // namespace lockstep::models::redis::real_redis_test
