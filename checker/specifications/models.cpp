#include "checker/specifications/models.hpp"

#include <array>

namespace lockstep::checker {

std::span<const Model* const> models() {
  namespace s = specifications;
  static const std::array<const Model*, 13> all = {&s::mutex(),
                                                   &s::owner_mutex(),
                                                   &s::reentrant_mutex(),
                                                   &s::fenced_mutex(),
                                                   &s::reentrant_fenced_mutex(),
                                                   &s::read_write_lock(),
                                                   &s::semaphore(),
                                                   &s::register_of_one_value(),
                                                   &s::cas_register(),
                                                   &s::multi_register(),
                                                   &s::key_value_map(),
                                                   &s::set(),
                                                   &s::fifo_queue()};
  return all;
}

const Model* find_model(std::string_view name) {
  for (const Model* model : models()) {
    if (model->name() == name) return model;
  }
  return nullptr;
}

}  // namespace lockstep::checker
