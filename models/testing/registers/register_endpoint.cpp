#include "models/testing/registers/register_endpoint.hpp"

#include <utility>

#include "sim/coroutines/await.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::models::registers {

sim::Task<std::optional<Answer>> Endpoint::cas(std::string name, std::string expected, std::string desired,
                                               std::optional<sim::Duration> lease) {
  auto request = client_.world().make<Ask>();
  request->kind = Ask::Kind::cas;
  request->name_of_register = std::move(name);
  request->expected = std::move(expected);
  request->desired = std::move(desired);
  request->lease = lease;
  co_return co_await ask(std::move(request));
}

sim::Task<std::optional<Answer>> Endpoint::fetch(std::string name) {
  auto request = client_.world().make<Ask>();
  request->name_of_register = std::move(name);
  co_return co_await ask(std::move(request));
}

sim::Task<std::optional<Answer>> Endpoint::ask(sim::MessagePtrOf<Ask> request) {
  request->operation = client_.session().operation;
  std::optional<Answer> answer = co_await sim::Call<Told>(client_, *server_, std::move(request), timeout_);
  if (!answer) client_.session().missed_reply = true;
  co_return answer;
}

}  // namespace lockstep::models::registers
