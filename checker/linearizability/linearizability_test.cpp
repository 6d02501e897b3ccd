#include "checker/linearizability/linearizability.hpp"

#include <catch2/catch.hpp>
#include <optional>
#include <string>

#include "checker/testing/linearizability_generator.hpp"
#include "checker/testing/linearizability_oracle.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::checker::linearizability_test {
namespace {

const std::uint64_t histories_per_model = sim::cases<std::uint64_t>(7'800, 300);
const std::uint64_t long_histories_per_model = sim::cases<std::uint64_t>(250, 20);

std::string show(const OperationHistory& h, const Model& model) {
  std::string text;
  for (std::size_t i = 0; i < h.operations.size(); ++i) {
    const HistoryOperation& o = h.operations[i];
    text += std::to_string(i) + ": p" + std::to_string(o.process) + " key " + std::to_string(o.key) + " " +
            model.describe(h, o) + " " + std::to_string(o.invoked) + ".." + std::to_string(o.returned) +
            (o.is_unknown()                ? " info"
             : o.phase == sim::Phase::fail ? " fail"
                                           : "") +
            "\n";
  }
  return text;
}

std::string show(const std::vector<std::uint32_t>& positions) {
  std::string text;
  for (const std::uint32_t i : positions) text += " " + std::to_string(i);
  return text;
}

/// An answer with its proof, against the oracle.
void require_right(const OperationHistory& h, const Model& model, const LinearizabilityOptions& options,
                   const LinearizabilityResult& result, bool expected, bool is_thorough) {
  const std::string_view name = model.name();
  INFO(name << (options.check_failed ? ", failures checked" : "") << (options.search_only ? ", search" : "")
            << ", order" << show(result.order) << ", conflict" << show(result.conflict) << ", prefix"
            << show(result.prefix) << ", at " << (result.at ? std::to_string(*result.at) : "never") << "\n"
            << show(h, model));
  REQUIRE(result.verdict == (expected ? Verdict::holds : Verdict::violated));
  REQUIRE(result.bound == SearchBound::none);
  if (expected) {
    REQUIRE(oracle::is_linearization(h, name, options, result.order));
    return;
  }
  REQUIRE(result.at);
  REQUIRE(result.culprit);
  REQUIRE(h.operations[*result.culprit].returned == *result.at);
  REQUIRE(h.operations[*result.culprit].key == result.key);
  REQUIRE_FALSE(oracle::is_linearizable(oracle::until(h, *result.at), name, options));
  REQUIRE(oracle::is_linearizable(oracle::until(h, *result.at - 1), name, options));
  if (!(name == "set" && model.splits_by_argument(h))) {
    const std::optional<std::uint32_t> key = name == "multi-register" ? std::nullopt : std::optional(result.key);
    REQUIRE(oracle::is_linearization(h, name, options, result.prefix, key, *result.at));
  }
  REQUIRE_FALSE(result.conflict.empty());
  REQUIRE(oracle::is_conflict(h, name, options, result.conflict));
  for (const std::uint32_t i : result.conflict) REQUIRE(h.operations[i].returned <= *result.at);
  if (result.stretch) REQUIRE(oracle::is_overfull(h, *result.stretch, result.conflict));
  if (!is_thorough || !result.is_minimal) return;
  for (std::size_t i = 0; i < result.conflict.size(); ++i) {
    std::vector<std::uint32_t> fewer = result.conflict;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    REQUIRE_FALSE(oracle::is_conflict(h, name, options, fewer));
  }
}

/// What the random histories of one model came to.
struct Tally {
  std::uint64_t histories = 0;
  std::uint64_t held = 0;
  std::uint64_t violated = 0;
  std::uint64_t minimal = 0;
  std::uint64_t stretches = 0;
  std::uint64_t searched = 0;
  void add(const LinearizabilityResult& result) {
    ++histories;
    held += result.verdict == Verdict::holds ? 1 : 0;
    violated += result.verdict == Verdict::violated ? 1 : 0;
    minimal += result.is_minimal ? 1 : 0;
    stretches += result.stretch ? 1 : 0;
    searched += result.statistics.searched_keys != 0 ? 1 : 0;
  }
  std::string text(std::string_view name) const {
    return std::string(name) + ": " + std::to_string(histories) + " histories, " + std::to_string(held) + " hold, " +
           std::to_string(violated) + " violated (" + std::to_string(minimal) + " conflicts minimal, " +
           std::to_string(stretches) + " stretches), " + std::to_string(searched) + " searched";
  }
};

// Prints the figures: how many histories there are depends on the build.
TEST_CASE("linearizability: near-linear paths, search and brute force agree on random histories of all models") {
  std::uint64_t all = 0;
  for (const Model* model : models()) {
    Tally tally;
    for (std::uint64_t seed = 0; seed < histories_per_model; ++seed) {
      sim::Random random(seed);
      oracle::Shape shape;
      shape.operations = 1 + random.below(7);
      shape.processes = static_cast<std::uint32_t>(2 + random.below(3));
      shape.keys = random.one_in(5) ? 2 : 1;
      shape.width = random.between(1, 8);
      shape.unknown_one_in = random.one_in(3) ? 0 : 2 + random.below(6);
      shape.values = random.between(2, 8);
      shape.is_sequential = !random.one_in(5);
      shape.reads_sets = random.one_in(2);
      LinearizabilityOptions options;
      options.permits = random.between(1, 3);
      options.check_failed = random.one_in(3);
      if (random.one_in(4)) options.reentrancy_max = 2;
      OperationHistory h = oracle::true_history(*model, random, shape, options);
      const bool is_true = seed % 3 == 0;
      INFO("seed " << seed);
      for (std::uint64_t i = 0; !is_true && i < 1 + seed % 4; ++i) oracle::mutate(h, *model, random, shape);
      const bool expected = oracle::is_linearizable(h, model->name(), options);
      if (is_true) {
        INFO(model->name() << "\n" << show(h, *model));
        REQUIRE(expected);
      }
      const LinearizabilityResult fast = check_linearizable(h, *model, options);
      require_right(h, *model, options, fast, expected, seed % 4 == 0);
      options.search_only = true;
      require_right(h, *model, options, check_linearizable(h, *model, options), expected, seed % 4 == 0);
      options.looks_ahead = false;
      if (model->name() == "kv") {
        require_right(h, *model, options, check_linearizable(h, *model, options), expected, seed % 4 == 0);
      }
      tally.add(fast);
    }
    all += tally.histories;
    // Neither answer is rare, conflicts are minimal, and the near-linear path is the rule.
    WARN(tally.text(model->name()));
    CHECK(tally.held > histories_per_model / 3);
    CHECK(tally.violated > histories_per_model / 25);
    CHECK(tally.minimal == tally.violated);
    CHECK((model->name() != "mutex" || tally.stretches * 2 > tally.violated));
    CHECK((tally.searched < histories_per_model / 2 || model->near_linear_path() == NearLinearPath::none));
  }
  CHECK(all == 13 * histories_per_model);
  CHECK(all > sim::cases<std::uint64_t>(100'000, 1'000));
}

TEST_CASE("linearizability: on long histories the near-linear path and the search agree, and each order is proved") {
  for (const Model* model : models()) {
    for (std::uint64_t seed = 0; seed < long_histories_per_model; ++seed) {
      sim::Random random(seed);
      oracle::Shape shape;
      shape.operations = 40 + random.below(200);
      shape.processes = static_cast<std::uint32_t>(2 + random.below(5));
      shape.keys = 1 + static_cast<std::uint32_t>(random.below(3));
      shape.width = random.between(1, 8);
      shape.unknown_one_in = random.one_in(3) ? 0 : 20 + random.below(60);
      shape.values = random.one_in(2) ? 1'000'000 : 5;
      shape.reads_sets = random.one_in(2);
      LinearizabilityOptions options;
      options.permits = random.between(1, 3);
      options.check_failed = random.one_in(6);
      if (model->name() == "fifo-queue") {
        // The order of concurrent enqueues shows only much later.
        shape.operations = 20 + random.below(30);
        shape.processes = 3;
      }
      OperationHistory h = oracle::true_history(*model, random, shape, options);
      const bool is_true = seed % 2 == 0;
      if (!is_true) oracle::mutate(h, *model, random, shape);
      INFO("seed " << seed << ", " << model->name());
      const LinearizabilityResult fast = check_linearizable(h, *model, options);
      options.search_only = true;
      options.looks_ahead = false;
      const LinearizabilityResult slow = check_linearizable(h, *model, options);
      INFO("at " << fast.at.value_or(-1) << " and " << slow.at.value_or(-1) << "\n" << show(h, *model));
      REQUIRE((fast.verdict != Verdict::unknown && fast.verdict == slow.verdict));
      REQUIRE(fast.at == slow.at);
      for (const LinearizabilityResult* result : {&fast, &slow}) {
        if (is_true) REQUIRE(result->verdict == Verdict::holds);
        if (result->verdict == Verdict::holds) {
          INFO("order" << show(result->order));
          REQUIRE(oracle::is_linearization(h, model->name(), options, result->order));
        }
      }
    }
  }
}

TEST_CASE("linearizability: a queue of distinct values is decided without a search, and as brute force does") {
  const Model& model = *find_model("fifo-queue");
  std::uint64_t violated = 0;
  std::uint64_t searched = 0;
  for (std::uint64_t seed = 0; seed < histories_per_model; ++seed) {
    sim::Random random(seed);
    oracle::Shape shape;
    shape.operations = 3 + random.below(5);
    shape.processes = 4;
    shape.width = random.between(2, 8);
    shape.unknown_one_in = random.one_in(2) ? 0 : 4;
    shape.values = 1'000'000;
    const LinearizabilityOptions options{.check_failed = random.one_in(3)};
    OperationHistory h = oracle::true_history(model, random, shape, options);
    // Results are mixed up among the dequeues, and times among all.
    for (HistoryOperation& o : h.operations) {
      const HistoryOperation& other = h.operations[random.below(h.operations.size())];
      if (o.out_known && random.one_in(4)) o.out = other.function == 0 ? other.a : other.out;
      if (random.one_in(6)) o.returned = o.invoked + random.between(0, 2);
    }
    INFO("seed " << seed);
    const bool expected = oracle::is_linearizable(h, model.name(), options);
    const LinearizabilityResult result = check_linearizable(h, model, options);
    require_right(h, model, options, result, expected, true);
    violated += expected ? 0 : 1;
    searched += result.statistics.searched_keys;
  }
  CHECK(violated * 8 > histories_per_model);
  CHECK(searched * 5 < histories_per_model);
}

TEST_CASE(
    "linearizability: a queue of 1,000 operations of 8 clients is proved, and two values out of order are found") {
  const Model& model = *find_model("fifo-queue");
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    sim::Random random(seed);
    const oracle::Shape shape{
        .operations = 1'000, .processes = 8, .width = 20, .unknown_one_in = 0, .values = std::int64_t{1} << 60};
    OperationHistory h = oracle::true_history(model, random, shape, {});
    HistoryOperation* first = nullptr;
    HistoryOperation* last = nullptr;
    for (HistoryOperation& o : h.operations) {
      o.out_known = o.function == 1;
      if (!o.out_known || o.out == nil) continue;
      if (first == nullptr) first = &o;
      last = &o;
    }
    LinearizabilityResult result = check_linearizable(h, model, {});
    REQUIRE(result.verdict == Verdict::holds);
    CHECK(result.statistics.searched_keys == 0);
    CHECK(oracle::is_linearization(h, model.name(), {}, result.order));
    std::swap(first->out, last->out);
    result = check_linearizable(h, model, {});
    REQUIRE(result.verdict == Verdict::violated);
    CHECK(result.conflict.size() <= 2);
    CHECK(result.statistics.searched_keys == 0);
    CHECK(oracle::is_linearization(h, model.name(), {}, result.prefix, 0, *result.at));
  }
}

// Known answers, one by one. `at(invoked, returned)` and then what was done.

constexpr auto info = sim::Phase::info;
constexpr auto fail = sim::Phase::fail;

class Script {
 public:
  explicit Script(std::string_view model) : model_(*find_model(model)) {}

  Script& op(std::uint32_t process, std::string_view function, std::int64_t invoked, std::int64_t returned,
             std::optional<std::int64_t> a = {}, std::optional<std::int64_t> out = {}) {
    history_.operations.push_back({.invoked = invoked,
                                   .returned = returned,
                                   .a = a.value_or(nil),
                                   .out = out.value_or(nil),
                                   .process = process,
                                   .function = model_.find_function(function).value(),
                                   .out_known = out.has_value()});
    return *this;
  }
  Script& b(std::int64_t b) { return last(&HistoryOperation::b, b); }
  Script& key(std::uint32_t key) { return last(&HistoryOperation::key, key); }
  Script& phase(sim::Phase phase) { return last(&HistoryOperation::phase, phase); }

  /// Both ways, which have to agree.
  LinearizabilityResult check(LinearizabilityOptions options = {}) const {
    const LinearizabilityResult result = check_linearizable(history_, model_, options);
    options.search_only = true;
    const LinearizabilityResult searched = check_linearizable(history_, model_, options);
    INFO(show(history_, model_));
    CHECK(result.verdict == searched.verdict);
    CHECK(result.at == searched.at);
    return result;
  }

  OperationHistory& history() { return history_; }
  const Model& model() const { return model_; }

 private:
  template <class T>
  Script& last(T HistoryOperation::* member, T value) {
    history_.operations.back().*member = value;
    return *this;
  }
  const Model& model_;
  OperationHistory history_;
};

TEST_CASE("linearizability: a stale read is a violation, and the conflict names the write that it should have seen") {
  Script script("register");
  script.op(0, "write", 1, 2, 1).op(0, "write", 3, 4, 2).op(1, "read", 5, 6, {}, 1);
  const LinearizabilityResult result = script.check();
  REQUIRE(result.verdict == Verdict::violated);
  CHECK(result.at == 6);
  CHECK(result.culprit == 2U);
  CHECK(result.conflict == std::vector<std::uint32_t>{1, 2});
  CHECK(result.prefix == std::vector<std::uint32_t>{0, 1});
  CHECK(describe_states(script.history(), script.model(), result.prefix) == std::vector<std::string>{"1", "2"});
}

TEST_CASE("linearizability: an unknown write may take effect long after, but not before it was invoked") {
  Script late("register");
  late.op(0, "write", 1, 2, 1).phase(info).op(1, "read", 50, 51, {}, nil).op(1, "read", 52, 53, {}, 1);
  CHECK(late.check().verdict == Verdict::holds);
  Script early("register");
  early.op(1, "read", 1, 2, {}, 1).op(0, "write", 3, 4, 1).phase(info);
  CHECK(early.check().verdict == Verdict::violated);
  Script twice("register");
  twice.op(0, "write", 1, 2, 1).phase(info).op(1, "write", 3, 4, 2).op(1, "read", 5, 6, {}, 1);
  twice.op(1, "write", 7, 8, 3).op(1, "read", 9, 10, {}, 1);
  CHECK(twice.check().verdict == Verdict::violated);
}

TEST_CASE("linearizability: hidden writes are put where nobody sees them") {
  Script script("register");
  for (std::uint32_t p = 0; p < 40; ++p) script.op(p, "write", 1, 100 + p, p);
  script.op(50, "read", 50, 51, {}, 7).op(50, "read", 52, 53, {}, 30).op(50, "read", 54, 55, {}, 11);
  script.op(50, "read", 190, 195, {}, 22);
  LinearizabilityOptions options;
  options.search_only = true;
  const LinearizabilityResult result = check_linearizable(script.history(), script.model(), options);
  REQUIRE(result.verdict == Verdict::holds);
  CHECK(oracle::is_linearization(script.history(), "register", options, result.order));
  CHECK(result.statistics.configurations < 2'000);
}

TEST_CASE("linearizability: a failed cas says something only if failures are checked") {
  Script script("cas-register");
  script.op(0, "write", 1, 2, 5).op(1, "cas", 3, 4, 5).b(6).phase(fail);
  CHECK(script.check().verdict == Verdict::holds);
  CHECK(script.check({.check_failed = true}).verdict == Verdict::violated);
  script.op(2, "write", 1, 9, 7);
  CHECK(script.check({.check_failed = true}).verdict == Verdict::holds);
}

TEST_CASE("linearizability: a failed try-lock needs a moment at which the lock was taken") {
  for (const std::string_view model : {"mutex", "owner-mutex", "reentrant-mutex", "fenced-mutex", "semaphore"}) {
    INFO(model);
    Script script(model);
    script.op(0, "acquire", 1, 2).op(0, "release", 3, 6).op(1, "acquire", 5, 8).phase(fail);
    CHECK(script.check({.check_failed = true}).verdict == Verdict::holds);
    Script too_late(model);
    too_late.op(0, "acquire", 1, 2).op(0, "release", 3, 4).op(1, "acquire", 5, 8).phase(fail);
    CHECK(too_late.check().verdict == Verdict::holds);
    CHECK(too_late.check({.check_failed = true}).verdict == Verdict::violated);
  }
}

TEST_CASE("linearizability: one hold too many is named, however many clients there are") {
  Script script("semaphore");
  for (std::uint32_t p = 0; p < 6; ++p)
    script.op(p, "acquire", 10 * p, 10 * p + 1).op(p, "release", 10 * p + 35, 99 + p);
  CHECK(script.check({.permits = 4}).verdict == Verdict::holds);
  const LinearizabilityResult result = script.check({.permits = 3});
  REQUIRE(result.verdict == Verdict::violated);
  CHECK(result.conflict == std::vector<std::uint32_t>{0, 2, 4, 6});
  CHECK(result.is_minimal);
}

TEST_CASE("linearizability: readers share a lock, a writer does not; tokens grow; a hold can be repeated") {
  Script shared("read-write-lock");
  shared.op(0, "acquire-read", 1, 2).op(1, "acquire-read", 3, 4).op(0, "release-read", 5, 6);
  CHECK(shared.check().verdict == Verdict::holds);
  shared.op(2, "acquire-write", 7, 8);
  CHECK(shared.check().conflict == std::vector<std::uint32_t>{1, 3});

  Script tokens("fenced-mutex");
  tokens.op(0, "acquire", 1, 2, {}, 7).op(0, "release", 3, 4).op(1, "acquire", 5, 6, {}, 7);
  CHECK(tokens.check().conflict == std::vector<std::uint32_t>{0, 2});

  Script again("reentrant-mutex");
  again.op(0, "acquire", 1, 2).op(0, "acquire", 3, 4).op(0, "release", 5, 6);
  CHECK(again.check().verdict == Verdict::holds);
  CHECK(again.check({.reentrancy_max = 1}).verdict == Verdict::violated);
  again.op(1, "acquire", 7, 8);
  CHECK(again.check().conflict == std::vector<std::uint32_t>{0, 1, 3});
}

TEST_CASE("linearizability: keys are judged apart, and the one that fails first is shown") {
  Script script("register");
  script.op(0, "write", 1, 2, 1).key(0).op(1, "read", 8, 9, {}, 2).key(0);
  script.op(2, "write", 1, 2, 1).key(3).op(1, "read", 3, 4, {}, 5).key(3).op(1, "read", 5, 6, {}, 1).key(2);
  const LinearizabilityResult result = script.check();
  CHECK(result.verdict == Verdict::violated);
  CHECK(result.key == 3);
  CHECK(result.at == 4);
  REQUIRE(result.violated_keys.size() == 3);
  CHECK(result.violated_keys[0].key == 3);
  CHECK(result.violated_keys[1].key == 2);
  CHECK(result.violated_keys[1].culprit == 4);
  CHECK(result.violated_keys[2].key == 0);
  CHECK(result.violated_keys[2].at == 9);
  CHECK(result.statistics.keys == 3);
}

TEST_CASE("linearizability: a queue, a set and a map say what they remember") {
  const auto last_state = [](const Script& script, OperationHistory& history) {
    const LinearizabilityResult result = script.check();
    REQUIRE(result.verdict == Verdict::holds);
    return describe_states(history, script.model(), result.order).back();
  };
  Script queue("fifo-queue");
  queue.op(0, "dequeue", 0, 1, {}, nil).op(0, "enqueue", 1, 2, 4).op(0, "enqueue", 3, 4, 5).op(0, "enqueue", 5, 6, 6);
  queue.op(1, "dequeue", 7, 8, {}, 4);
  CHECK(last_state(queue, queue.history()) == "[5, 6]");
  queue.op(1, "dequeue", 9, 10, {}, 6);
  CHECK(queue.check().verdict == Verdict::violated);

  Script set("set");
  set.op(0, "add", 1, 2, 4).op(0, "add", 3, 4, 9, 1).op(0, "remove", 5, 6, 4, 1).op(0, "read", 7, 8, 0, 1).b(1);
  set.history().elements = {9};
  CHECK(last_state(set, set.history()) == "{9}");
  set.history().elements = {4};
  CHECK(set.check().verdict == Verdict::violated);

  Script map("kv");
  map.history().values_are_texts = true;
  map.history().texts = {"a", "bc", "abc", "ab"};
  map.op(0, "put", 1, 2, 0).op(0, "append", 3, 4, 1).op(1, "get", 5, 6, {}, 2);
  CHECK(last_state(map, map.history()) == "\"abc\"");
  map.op(1, "get", 7, 8, {}, 3);
  CHECK(map.check().verdict == Verdict::violated);
  CHECK(map.model().describe(map.history(), map.history().operations[3]) == "get -> \"ab\"");
}

TEST_CASE("linearizability: a bound on memory or time gives the answer unknown, and says which it was") {
  Script script("fifo-queue");
  for (std::uint32_t p = 0; p < 12; ++p) script.op(p, "enqueue", 1, 100, p);
  script.op(20, "dequeue", 200, 201, {}, 99);
  const LinearizabilityResult no_memory =
      check_linearizable(script.history(), script.model(), {.max_memory = std::size_t{16} << 20, .search_only = true});
  CHECK(no_memory.verdict == Verdict::unknown);
  CHECK(no_memory.bound == SearchBound::memory);
  CHECK(no_memory.statistics.search_bytes_max < std::size_t{40} << 20);
  int asked = 0;
  const LinearizabilityResult no_time = check_linearizable(
      script.history(), script.model(), {.is_out_of_time = [&asked] { return ++asked == 2; }, .search_only = true});
  CHECK(no_time.verdict == Verdict::unknown);
  CHECK(no_time.bound == SearchBound::time);
}

TEST_CASE("linearizability: nothing happened, and that is linearizable") {
  for (const Model* model : models()) {
    CHECK(check_linearizable({}, *model).verdict == Verdict::holds);
    CHECK(find_model(model->name()) == model);
  }
  CHECK(models().size() == 13);
  CHECK(find_model("mutexx") == nullptr);
}

}  // namespace
}  // namespace lockstep::checker::linearizability_test
