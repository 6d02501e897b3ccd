#pragma once

// All models, one for each file of this folder that has a specification.

#include <span>
#include <string_view>

#include "checker/linearizability/model/model.hpp"

namespace lockstep::checker {

namespace specifications {

const Model& mutex();
const Model& owner_mutex();
const Model& reentrant_mutex();
const Model& fenced_mutex();
const Model& reentrant_fenced_mutex();
const Model& read_write_lock();
const Model& semaphore();
const Model& register_of_one_value();
const Model& cas_register();
const Model& multi_register();
const Model& key_value_map();
const Model& set();
const Model& fifo_queue();

}  // namespace specifications

/// All models, in the order of the documentation.
std::span<const Model* const> models();
/// nullptr if there is none of this name.
const Model* find_model(std::string_view name);

}  // namespace lockstep::checker
