#include "models/locks/zookeeper/queue.hpp"

#include <utility>

namespace lockstep::models::locks::zk {
namespace {

constexpr std::size_t kDigits = 10;

std::string_view number_of(std::string_view name) {
  return name.size() < kDigits ? name : name.substr(name.size() - kDigits);
}

}  // namespace

std::string folder_of(const Value& key) { return "/locks/" + key.text(); }

sim::Task<Created> create(Client& client, std::string folder, std::string prefix, zookeeper::CreateMode mode) {
  zookeeper::Handle& handle = handle_of(client);
  const zookeeper::Create wanted{.path = folder + "/" + prefix, .mode = mode, .asks_for_stat = true};
  std::optional<zookeeper::Answer> answer = co_await handle.ask(client, wanted);
  if (answer && answer->result.error == zookeeper::Error::no_node) {
    // Whoever comes first makes the nodes above. That somebody else was faster does no harm.
    for (std::size_t slash = folder.find('/', 1);; slash = folder.find('/', slash + 1)) {
      static_cast<void>(co_await handle.ask(client, zookeeper::Create{.path = folder.substr(0, slash)}));
      if (slash == std::string::npos) break;
    }
    answer = co_await handle.ask(client, wanted);
  }
  if (!answer) co_return Created{};
  co_return Created{true, std::move(answer->result)};
}

sim::Task<std::optional<std::string>> find(Client& client, std::string folder, std::string prefix) {
  const std::optional<zookeeper::Answer> listed =
      co_await handle_of(client).ask(client, zookeeper::GetChildren{.path = folder});
  if (!listed) co_return std::nullopt;
  for (const std::string& child : listed->result.children) {
    if (child.starts_with(prefix)) co_return folder + "/" + child;
  }
  co_return std::string();
}

sim::Task<std::optional<Place>> place_of(Client& client, std::string folder, std::string name, std::string mark) {
  const std::optional<zookeeper::Answer> listed =
      co_await handle_of(client).ask(client, zookeeper::GetChildren{.path = folder});
  if (!listed) co_return std::nullopt;
  Place place;
  for (const std::string& child : listed->result.children) {
    if (child == name) place.is_there = true;
    const bool is_in_queue = child.size() >= mark.size() + kDigits &&
                             std::string_view(child).substr(child.size() - kDigits - mark.size(), mark.size()) == mark;
    if (!is_in_queue || number_of(child) >= number_of(name)) continue;
    ++place.before;
    if (place.next_before.empty() || number_of(place.next_before) < number_of(child)) place.next_before = child;
    if (place.first_before.empty() || number_of(child) < number_of(place.first_before)) place.first_before = child;
  }
  co_return place;
}

sim::Task<std::optional<zookeeper::Error>> remove(Client& client, std::string path, int attempts) {
  std::optional<zookeeper::Answer> answer;
  for (int i = 0; !answer && i < attempts; ++i)
    answer = co_await handle_of(client).ask(client, zookeeper::Delete{.path = path});
  if (!answer) co_return std::nullopt;
  co_return answer->result.error;
}

}  // namespace lockstep::models::locks::zk
