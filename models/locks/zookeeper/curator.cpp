#include "models/locks/zookeeper/curator.hpp"

namespace lockstep::models::locks::zk {

using namespace sim::literals;

namespace {

sim::Task<void> delete_in_background(Client& background, std::string path) {
  while (handle_of(background).state() != zookeeper::State::closed) {
    if (co_await remove(background, path, 1)) co_return;
    co_await background.tick(1_s);
  }
}

}  // namespace

sim::Task<std::optional<std::string>> create_for_curator(Client& client, std::string folder, std::string mark,
                                                         bool is_protected, zookeeper::CreateMode mode) {
  const std::string guid = "_c_" + client.unique_token().text() + "-";
  const std::string prefix = (is_protected ? guid : "") + mark;
  for (int tried = 0; tried < kCuratorTries; ++tried) {
    // Has an attempt that was not heard of created one?
    if (tried > 0) {
      const std::optional<std::string> found = co_await find(client, folder, guid);
      if (!found) continue;
      if (!found->empty()) co_return *found;
    }
    const Created created = co_await create(client, folder, prefix, mode);
    if (created.is_known && created.result.error == zookeeper::Error::none) co_return created.result.path;
    if (created.is_known || !is_protected) co_return std::nullopt;
  }
  co_return std::nullopt;
}

sim::Task<bool> delete_guaranteed(Client& client, std::string path) {
  const std::optional<zookeeper::Error> error = co_await remove(client, path, kCuratorTries);
  if (!error) client.run_in_background(delete_in_background(client.background(), path));
  co_return error.has_value();
}

sim::Task<Turn> wait_for_turn(Client& client, std::string own, std::string mark, Waits waits, Patience* patience) {
  zookeeper::Handle& handle = handle_of(client);
  const std::string folder(zookeeper::parent_of(own));
  while (true) {
    // Who is there, in the order of the numbers?
    const std::optional<Place> place =
        co_await place_of(client, folder, std::string(zookeeper::name_in_parent(own)), mark);
    if (!place) co_return Turn::is_unknown;
    if (!place->is_there) co_return Turn::is_gone;
    if (place->before == 0) co_return Turn::comes;
    if (patience == nullptr || patience->is_over()) co_return Turn::never_comes;

    // Watch that one with getData, which leaves no watch behind where there is no node.
    const std::string before =
        folder + "/" + (waits == Waits::for_next_before ? place->next_before : place->first_before);
    const std::optional<zookeeper::Answer> found =
        co_await handle.ask(client, zookeeper::GetData{.path = before, .watches = true});
    if (!found) co_return Turn::is_unknown;
    if (found->result.error != zookeeper::Error::none) continue;

    // Until something happens to it, or to the session.
    co_await handle.wait_for(client, handle.watch(zookeeper::Watch::Kind::data, before), *patience);
    if (patience->is_over()) co_return Turn::never_comes;
  }
}

}  // namespace lockstep::models::locks::zk
