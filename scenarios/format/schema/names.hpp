#pragma once

// Names of clients and servers: who is declared, who is mentioned, and whether everybody mentioned exists. A mention
// may stand above the declaration, so all of them are resolved at the end.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/format/toml/tree.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios::schema {

/// Whom a mention may mean.
enum class Who : std::uint8_t {
  client,
  server,
  thread,   ///< a client, one of its threads, or its background tasks
  service,  ///< a server or a sentinel
  process,  ///< a client, a server or a sentinel
  anyone,   ///< the same, or "resource" where there is one
  resource  ///< the name is "read" or "write": a step that exists only with a resource
};

/// Whether it is one of these.
bool contains(const std::vector<std::string_view>& names, std::string_view name);

/// Whether it is the name of a client, or of a part of one.
bool is_client(const Scenario& scenario, std::string_view name);

class Names {
 public:
  /// Throws `Bad` if it is no name, reserved, or taken.
  std::string declare_client(const Node& node);
  std::string declare_server(const Node& node);

  void mention(Who who, const Node& node) { mention(who, std::get<std::string>(node.value), node); }
  /// A name that is part of the string at `node`, `inside` bytes from its begin.
  void mention(Who who, std::string name, const Node& node, std::optional<std::size_t> inside = std::nullopt);

  /// Throws `Bad` with every mention of somebody who is not there.
  /// `has_background`: each client has background tasks besides.
  void resolve(const Scenario& scenario, bool has_background) const;

 private:
  struct Mention {
    Who who;
    std::string name;
    std::string key;
    Position at;
    std::optional<std::size_t> inside;
  };
  struct Declaration {
    std::string name;
    Position at;
  };
  std::string declare(const Node& node, const std::string& what);

  std::vector<Declaration> declared_;
  std::vector<Mention> mentions_;
};

}  // namespace lockstep::scenarios::schema
