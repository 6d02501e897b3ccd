#include "models/testing/registers/register_endpoint.hpp"

#include <utility>

#include "sim/worlds/world.hpp"

namespace lockstep::models::registers {

AskCall Endpoint::cas(std::string name, std::string expected, std::string desired, std::optional<sim::Duration> lease) {
  auto request = client_.world().make<Ask>();
  request->kind = Ask::Kind::cas;
  request->name_of_register = std::move(name);
  request->expected = std::move(expected);
  request->desired = std::move(desired);
  request->lease = lease;
  return ask(std::move(request));
}

AskCall Endpoint::fetch(std::string name) {
  auto request = client_.world().make<Ask>();
  request->name_of_register = std::move(name);
  return ask(std::move(request));
}

AskCall Endpoint::ask(sim::MessagePtrOf<Ask> request) {
  request->operation = client_.session().operation;
  return {client_.session(), client_, *server_, std::move(request), timeout_};
}

}  // namespace lockstep::models::registers
