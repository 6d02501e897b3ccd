#pragma once

// What the pages of algorithms tell in words: how each works, what it keeps on the server, which files it consists of.
// In both languages.

#include <span>
#include <string_view>
#include <vector>

namespace lockstep::reports::site {

/// A key on the server.
struct KeyLayout {
  std::string_view name;  ///< of a lock that is called "lock"
  std::string_view meaning, meaning_zh;
};

struct AlgorithmText {
  std::string_view id;
  std::string_view summary_zh;  ///< of `Entry::summary`
  std::string_view how, how_zh;
  std::vector<KeyLayout> keys;
  std::vector<std::string_view> files;  ///< within the program: `embedded_text`
};

/// Null: it is none of the catalogue's.
const AlgorithmText* find_algorithm_text(std::string_view id);

/// A parameter's meaning in Chinese; empty if there is none.
std::string_view parameter_meaning_zh(std::string_view meaning);

std::span<const AlgorithmText> texts_of_plain_locks();
std::span<const AlgorithmText> texts_of_redisson_locks();
std::span<const AlgorithmText> texts_of_sql_locks();
std::span<const AlgorithmText> texts_of_etcd_locks();
std::span<const AlgorithmText> texts_of_zookeeper_locks();
std::span<const AlgorithmText> texts_of_consul_locks();

}  // namespace lockstep::reports::site
