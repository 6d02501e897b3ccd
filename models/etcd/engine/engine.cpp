#include "models/etcd/engine/engine.hpp"

#include <algorithm>
#include <string_view>
#include <variant>

namespace lockstep::models::etcd {
namespace {

const std::string& key_of(const Operation& operation) {
  if (const auto* put = std::get_if<Put>(&operation)) return put->key;
  if (const auto* range = std::get_if<Range>(&operation)) return range->span.key;
  return std::get<DeleteRange>(operation).span.key;
}

/// As checkIntervals has it, which takes the range end "\0" for a key before all others.
bool may_delete(const DeleteRange& range, const std::string& key) {
  return range.span.range_end.empty() ? key == range.span.key : key >= range.span.key && key < range.span.range_end;
}

/// Two puts of one key, or a put of a key that is deleted as well: the outcome would depend on their order.
bool writes_twice(const std::vector<Operation>& operations) {
  std::set<std::string_view> keys;
  for (const Operation& operation : operations) {
    const auto* put = std::get_if<Put>(&operation);
    if (put == nullptr) continue;
    if (!keys.insert(put->key).second) return true;
    for (const Operation& other : operations) {
      const auto* removed = std::get_if<DeleteRange>(&other);
      if (removed != nullptr && may_delete(*removed, put->key)) return true;
    }
  }
  return false;
}

template <class T>
bool compares(Compare::Is is, const T& found, const T& asked) {
  switch (is) {
    case Compare::Is::equal: return found == asked;
    case Compare::Is::greater: return found > asked;
    case Compare::Is::less: return found < asked;
    case Compare::Is::not_equal: break;
  }
  return found != asked;
}

bool holds_of(const Compare& compare, const KeyValue& kv) {
  switch (compare.target) {
    case Compare::Target::version: return compares(compare.is, kv.version, compare.number);
    case Compare::Target::create: return compares(compare.is, kv.create_revision, compare.number);
    case Compare::Target::mod: return compares(compare.is, kv.mod_revision, compare.number);
    case Compare::Target::value: break;
  }
  return compares(compare.is, kv.value, compare.value);
}

bool comes_before(const KeyValue& a, const KeyValue& b, SortBy target) {
  switch (target) {
    case SortBy::key: return a.key < b.key;
    case SortBy::version: return a.version < b.version;
    case SortBy::create: return a.create_revision < b.create_revision;
    case SortBy::mod: return a.mod_revision < b.mod_revision;
    case SortBy::value: break;
  }
  return a.value < b.value;
}

}  // namespace

const KeyValue* Engine::at(const History& history, Revision revision) {
  const auto later = std::find_if(history.begin(), history.end(),
                                  [&](const Change& change) { return change.event.kv.mod_revision > revision; });
  if (later == history.begin() || std::prev(later)->event.is_delete) return nullptr;
  return &std::prev(later)->event.kv;
}

const KeyValue* Engine::present(const std::string& key) const {
  const auto found = present_.find(key);
  return found == present_.end() ? nullptr : &found->second;
}

std::vector<KeyValue> Engine::present() const { return read({"", std::string(1, '\0')}, revision_); }

std::vector<KeyValue> Engine::read(const Span& span, Revision revision) const {
  std::vector<KeyValue> found;
  if (revision == current()) {
    for (auto each = present_.lower_bound(span.key); each != present_.end() && span.contains(each->first); ++each)
      found.push_back(each->second);
    return found;
  }
  for (auto each = keys_.lower_bound(span.key); each != keys_.end() && span.contains(each->first); ++each) {
    if (const KeyValue* kv = at(each->second, revision)) found.push_back(*kv);
  }
  return found;
}

bool Engine::holds(const Compare& compare) const {
  const std::vector<KeyValue> found = read(compare.span, revision_);
  if (found.empty()) return compare.target != Compare::Target::value && holds_of(compare, {});
  return std::all_of(found.begin(), found.end(), [&](const KeyValue& kv) { return holds_of(compare, kv); });
}

Error Engine::check_revision(Revision revision) const {
  if (revision > revision_) return Error::future_revision;
  return revision != 0 && revision < compacted_ ? Error::compacted : Error::none;
}

/// Before anything is carried out: first all puts, then all ranges.
Error Engine::check(const std::vector<Operation>& operations) const {
  for (const Operation& each : operations) {
    const auto* put = std::get_if<Put>(&each);
    if (put != nullptr && put->lease != 0 && !has_lease(put->lease)) return Error::lease_not_found;
  }
  for (const Operation& each : operations) {
    const auto* range = std::get_if<Range>(&each);
    const Error error = range == nullptr ? Error::none : check_revision(range->revision);
    if (error != Error::none) return error;
  }
  return Error::none;
}

Answer Engine::execute(const Operation& operation) {
  begin();
  if (key_of(operation).empty()) return {.error = Error::empty_key};
  if (const Error error = check({operation}); error != Error::none) return {.error = error};
  Answer answer{.responses = {apply(operation)}};
  finish();
  answer.revision = revision_;
  return answer;
}

Answer Engine::execute(const Txn& txn) {
  begin();
  const auto is_without_key = [](const auto& each) { return key_of(each).empty(); };
  const bool lacks_key =
      std::any_of(txn.compare.begin(), txn.compare.end(), [](const Compare& each) { return each.span.key.empty(); }) ||
      std::any_of(txn.success.begin(), txn.success.end(), is_without_key) ||
      std::any_of(txn.failure.begin(), txn.failure.end(), is_without_key);
  if (lacks_key) return {.error = Error::empty_key};
  if (writes_twice(txn.success) || writes_twice(txn.failure)) return {.error = Error::duplicate_key};

  Answer answer;
  answer.succeeded =
      std::all_of(txn.compare.begin(), txn.compare.end(), [&](const Compare& each) { return holds(each); });
  const std::vector<Operation>& branch = answer.succeeded ? txn.success : txn.failure;
  if (const Error error = check(branch); error != Error::none) return {.error = error};
  for (const Operation& each : branch) answer.responses.push_back(apply(each));
  finish();
  answer.revision = revision_;
  return answer;
}

OperationAnswer Engine::apply(const Operation& operation) {
  if (const auto* asked = std::get_if<Range>(&operation)) return range(*asked);
  if (const auto* asked = std::get_if<Put>(&operation)) return put(*asked);
  return delete_range(std::get<DeleteRange>(operation));
}

OperationAnswer Engine::range(const Range& asked) const {
  OperationAnswer answer{.revision = current()};
  answer.kvs = read(asked.span, asked.revision == 0 ? current() : asked.revision);
  answer.count = static_cast<std::int64_t>(answer.kvs.size());
  if (asked.max_create_revision != 0) {
    std::erase_if(answer.kvs, [&](const KeyValue& kv) { return kv.create_revision > asked.max_create_revision; });
  }
  // etcd looks no further than the limit, and one more, where nobody has asked for an order.
  const bool looks_at_all = asked.limit == 0 || asked.order != Order::none || asked.max_create_revision != 0;
  if (!looks_at_all && answer.kvs.size() > static_cast<std::size_t>(asked.limit) + 1)
    answer.kvs.resize(static_cast<std::size_t>(asked.limit) + 1);
  // Keys break ties, also downwards.
  std::sort(answer.kvs.begin(), answer.kvs.end(), [&](const KeyValue& a, const KeyValue& b) {
    const bool is_downwards = asked.order == Order::descend;
    if (comes_before(a, b, asked.sort_by)) return !is_downwards;
    if (comes_before(b, a, asked.sort_by)) return is_downwards;
    return a.key < b.key;
  });
  if (asked.limit > 0 && answer.kvs.size() > static_cast<std::size_t>(asked.limit)) {
    answer.kvs.resize(static_cast<std::size_t>(asked.limit));
    answer.more = true;
  }
  return answer;
}

OperationAnswer Engine::put(const Put& asked) {
  const Revision next = revision_ + 1;
  KeyValue kv{asked.key, next, next, 1, asked.value, asked.lease};
  if (const KeyValue* old = present(asked.key)) {
    kv.create_revision = old->create_revision;
    kv.version = old->version + 1;
    detach(*old);
  }
  if (asked.lease != 0) leases_.at(asked.lease).insert(asked.key);
  record({.kv = std::move(kv)});
  return {.revision = current()};
}

OperationAnswer Engine::delete_range(const DeleteRange& asked) {
  const std::vector<KeyValue> found = read(asked.span, current());
  for (const KeyValue& kv : found) remove(kv);
  return {.revision = current(), .deleted = static_cast<std::int64_t>(found.size())};
}

void Engine::detach(const KeyValue& kv) {
  const auto lease = leases_.find(kv.lease);
  if (lease != leases_.end()) lease->second.erase(kv.key);
}

void Engine::remove(const KeyValue& kv) {
  detach(kv);
  Event event;
  event.is_delete = true;
  event.kv.key = kv.key;
  event.kv.mod_revision = revision_ + 1;
  record(std::move(event));
}

void Engine::record(Event event) {
  if (event.is_delete) {
    present_.erase(event.kv.key);
  } else {
    present_[event.kv.key] = event.kv;
  }
  keys_[event.kv.key].push_back({event, changes_.size()});
  changes_.push_back(std::move(event));
}

/// The transaction is over: if it has changed anything, there is a new revision, and watches hear of it.
void Engine::finish() {
  if (changes_.empty()) return;
  ++revision_;
  for (auto& [id, watch] : watches_) {
    if (watch.start > revision_) continue;
    Notice notice{.watch = id};
    for (const Event& event : changes_) {
      if (watch.span.contains(event.kv.key)) notice.events.push_back(event);
    }
    if (!notice.events.empty()) notices_.push_back(std::move(notice));
  }
}

Answer Engine::compact(Revision revision) {
  begin();
  if (revision <= compacted_) return {.error = Error::compacted};
  if (revision > revision_) return {.error = Error::future_revision};
  compacted_ = revision;
  for (auto each = keys_.begin(); each != keys_.end();) {
    History& history = each->second;
    auto kept = std::find_if(history.begin(), history.end(),
                             [&](const Change& change) { return change.event.kv.mod_revision > revision; });
    // The latest one up to the revision is what is read there, unless it is a deletion.
    if (kept != history.begin() && !std::prev(kept)->event.is_delete) --kept;
    history.erase(history.begin(), kept);
    each = history.empty() ? keys_.erase(each) : std::next(each);
  }
  return {.revision = revision_};
}

Error Engine::grant(LeaseId id) {
  begin();
  return leases_.try_emplace(id).second ? Error::none : Error::lease_exists;
}

Error Engine::revoke(LeaseId id) {
  begin();
  const auto lease = leases_.find(id);
  if (lease == leases_.end()) return Error::lease_not_found;
  const std::set<std::string> keys = std::move(lease->second);
  leases_.erase(lease);
  for (const std::string& key : keys) remove(*present(key));
  finish();
  return Error::none;
}

std::vector<LeaseId> Engine::leases() const {
  std::vector<LeaseId> ids;
  for (const auto& [id, keys] : leases_) ids.push_back(id);
  return ids;
}

void Engine::watch(WatchId id, Span span, Revision start_revision) {
  begin();
  const Revision start = start_revision == 0 ? revision_ + 1 : start_revision;
  if (start < compacted_) {
    notices_.push_back({.watch = id, .compact_revision = compacted_});
    return;
  }
  std::map<std::pair<Revision, std::size_t>, Event> missed;
  for (auto each = keys_.lower_bound(span.key); each != keys_.end() && span.contains(each->first); ++each) {
    for (const auto& [event, number] : each->second) {
      if (event.kv.mod_revision >= start) missed.emplace(std::pair(event.kv.mod_revision, number), event);
    }
  }
  Notice notice{.watch = id};
  for (auto& [when, event] : missed) notice.events.push_back(std::move(event));
  if (!notice.events.empty()) notices_.push_back(std::move(notice));
  watches_[id] = {std::move(span), start};
}

}  // namespace lockstep::models::etcd
