#include "models/etcd/conformance/steps.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace lockstep::models::etcd::conformance {
namespace {

std::string random_key(sim::Random& random) { return std::string(1, static_cast<char>('a' + random.below(6))); }

Revision random_revision(sim::Random& random, Revision present, Revision compacted) {
  return random.between(std::max<Revision>(1, compacted - 2), present + 1);
}

Range random_range(sim::Random& random, Revision present, Revision compacted) {
  Range range{.span = random_span(random)};
  if (random.one_in(3)) range.limit = random.between(1, 4);
  if (random.one_in(3)) range.revision = random_revision(random, present, compacted);
  if (random.one_in(2)) {
    range.order = static_cast<Order>(random.below(3));
    range.sort_by = static_cast<SortBy>(random.below(5));
  }
  if (random.one_in(4)) range.max_create_revision = random_revision(random, present, compacted);
  return range;
}

Operation random_operation(sim::Random& random, Revision present, Revision compacted) {
  switch (random.below(6)) {
    case 0:
    case 1: return random_range(random, present, compacted);
    case 2: {
      if (random.one_in(3)) return DeleteRange{random_span(random)};
      return DeleteRange{{random_key(random)}};
    }
    default: break;
  }
  Put put{.key = random.one_in(60) ? "" : random_key(random), .value = std::string(random.below(3), 'x')};
  if (random.one_in(3)) put.lease = random.between(1, 4);
  return put;
}

Compare random_compare(sim::Random& random, Revision present) {
  Compare compare{.span = random.one_in(4) ? random_span(random) : Span{random_key(random)}};
  compare.target = static_cast<Compare::Target>(random.below(4));
  compare.is = static_cast<Compare::Is>(random.below(4));
  if (compare.target == Compare::Target::value) {
    compare.value = std::string(random.below(3), 'x');
  } else {
    const bool is_small = compare.target == Compare::Target::version || random.one_in(3);
    compare.number = is_small ? random.between(0, 2) : random.between(std::max<Revision>(1, present - 20), present);
  }
  return compare;
}

Txn random_txn(sim::Random& random, Revision present, Revision compacted) {
  Txn txn;
  for (std::uint64_t i = random.below(3); i > 0; --i) txn.compare.push_back(random_compare(random, present));
  for (std::vector<Operation>* branch : {&txn.success, &txn.failure}) {
    for (std::uint64_t i = random.below(4); i > 0; --i) branch->push_back(random_operation(random, present, compacted));
  }
  return txn;
}

}  // namespace

Span random_span(sim::Random& random) {
  Span span{random_key(random)};
  if (random.one_in(3)) return span;
  if (random.one_in(3)) {
    span.range_end = std::string(1, '\0');
  } else {
    span.range_end = std::string(1, static_cast<char>(span.key[0] + 1 + static_cast<char>(random.below(4))));
  }
  return span;
}

Step random_step(sim::Random& random, Revision present, Revision compacted) {
  Step step;
  const std::uint64_t drawn = random.below(100);
  step.lease = random.between(1, 4);
  if (drawn < 50) {
    step.operation = random_operation(random, present, compacted);
  } else if (drawn < 80) {
    step.kind = Step::Kind::txn;
    step.txn = random_txn(random, present, compacted);
  } else if (drawn < 83) {
    step.kind = Step::Kind::compact;
    step.revision = random_revision(random, present, compacted);
  } else if (drawn < 89) {
    step.kind = Step::Kind::grant;
  } else if (drawn < 93) {
    step.kind = Step::Kind::revoke;
  } else {
    step.kind = drawn < 96 ? Step::Kind::keep_alive : Step::Kind::time_to_live;
  }
  return step;
}

Outcome carry_out(Engine& engine, const Step& step) {
  switch (step.kind) {
    case Step::Kind::operation: return {engine.execute(step.operation)};
    case Step::Kind::txn: return {engine.execute(step.txn)};
    case Step::Kind::compact: return {engine.compact(step.revision)};
    case Step::Kind::grant:
    case Step::Kind::revoke: {
      const Error error = step.kind == Step::Kind::grant ? engine.grant(step.lease) : engine.revoke(step.lease);
      return {{.error = error, .revision = error == Error::none ? engine.revision() : 0}};
    }
    case Step::Kind::keep_alive:
    case Step::Kind::time_to_live: break;
  }
  Outcome outcome{{.revision = engine.revision()}, engine.has_lease(step.lease)};
  if (step.kind == Step::Kind::time_to_live && outcome.lease_lives) {
    const std::set<std::string>& keys = engine.keys_of(step.lease);
    outcome.lease_keys.assign(keys.begin(), keys.end());
  }
  return outcome;
}

std::string describe(const Step& step) {
  switch (step.kind) {
    case Step::Kind::operation: return describe(step.operation);
    case Step::Kind::compact: return fmt::format("compact {}", step.revision);
    case Step::Kind::grant: return fmt::format("grant {}", step.lease);
    case Step::Kind::revoke: return fmt::format("revoke {}", step.lease);
    case Step::Kind::keep_alive: return fmt::format("keep alive {}", step.lease);
    case Step::Kind::time_to_live: return fmt::format("time to live {}", step.lease);
    case Step::Kind::txn: break;
  }
  return describe(step.txn);
}

std::string describe(const Outcome& outcome) {
  std::string text = describe(outcome.answer);
  if (outcome.lease_lives) text += ", the lease lives";
  for (const std::string& key : outcome.lease_keys) text += " " + key;
  return text;
}

}  // namespace lockstep::models::etcd::conformance
