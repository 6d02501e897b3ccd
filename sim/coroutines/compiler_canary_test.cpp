// The compiler itself, on the coroutine code that this project consists of. GCC 12 gets about half of such cases
// wrong: it rejects some (braced lists), and compiles others, without a warning, into programs that destroy a
// temporary twice or take the wrong branch. A simulator built like that gives wrong verdicts quietly. Nothing of
// Lockstep is used here: when only this file fails, the compiler is to blame.

#include <catch2/catch.hpp>
#include <coroutine>
#include <cstdint>
#include <deque>
#include <exception>
#include <initializer_list>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

/// Which objects are alive. An object that is destroyed twice, or never, is seen here.
class Ledger {
 public:
  int born() {
    alive_[next_] = true;
    return next_++;
  }
  void died(int id) {
    const auto found = alive_.find(id);
    if (found == alive_.end() || !found->second) {
      ++wrong_deaths_;
    } else {
      found->second = false;
    }
  }
  int births() const { return next_; }
  int survivors() const {
    int count = 0;
    for (const auto& [id, alive] : alive_) count += alive ? 1 : 0;
    return count;
  }
  int wrong_deaths() const { return wrong_deaths_; }

 private:
  std::map<int, bool> alive_;
  int next_ = 0;
  int wrong_deaths_ = 0;
};

class Probe {
 public:
  Probe(Ledger& ledger, std::string text) : ledger_(&ledger), id_(ledger.born()), text_(std::move(text)) {}
  Probe(const Probe& other) : ledger_(other.ledger_), id_(ledger_->born()), text_(other.text_) {}
  Probe(Probe&& other) noexcept : ledger_(other.ledger_), id_(ledger_->born()), text_(std::move(other.text_)) {}
  Probe& operator=(const Probe&) = delete;
  ~Probe() { ledger_->died(id_); }
  const std::string& text() const { return text_; }

 private:
  Ledger* ledger_;
  int id_;
  std::string text_;
};

/// Resumed in turn, never from within each other: the stack stays flat, as in the simulator.
using Ready = std::deque<std::coroutine_handle<>>;

template <typename T>
class Task {
 public:
  struct promise_type {
    std::optional<T> value;
    std::exception_ptr error;
    std::coroutine_handle<> waiter;
    Ready* ready = nullptr;

    Task get_return_object() { return Task(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct Final {
      bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<promise_type> self) const noexcept {
        if (self.promise().waiter) self.promise().ready->push_back(self.promise().waiter);
      }
      void await_resume() const noexcept {}
    };
    Final final_suspend() noexcept { return {}; }
    template <typename U>
    void return_value(U&& result) {
      value.emplace(std::forward<U>(result));
    }
    void unhandled_exception() { error = std::current_exception(); }
  };

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  template <typename Promise>
  void await_suspend(std::coroutine_handle<Promise> waiter) {
    handle_.promise().ready = waiter.promise().ready;
    handle_.promise().waiter = waiter;
    handle_.promise().ready->push_back(handle_);
  }
  T await_resume() { return result(); }

  /// Runs until everything that can run has run.
  void start() {
    Ready ready;
    handle_.promise().ready = &ready;
    ready.push_back(handle_);
    while (!ready.empty()) {
      const auto next = ready.front();
      ready.pop_front();
      next.resume();
    }
  }
  /// Requires: the task does not wait for ever.
  T run() {
    start();
    return result();
  }

 private:
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  T result() {
    if (handle_.promise().error) std::rethrow_exception(handle_.promise().error);
    return std::move(*handle_.promise().value);
  }
  std::coroutine_handle<promise_type> handle_;
};

/// One that suspends before it answers, so that the caller's temporaries have to outlive a suspension.
Task<bool> later() { co_return true; }

Task<std::size_t> length(std::string text) {
  co_await later();
  co_return text.size();
}
Task<std::size_t> length_of(const std::string& text) {
  co_await later();
  co_return text.size();
}
Task<std::string> text_by_value(Probe probe) {
  co_await later();
  co_return probe.text();
}
Task<std::string> text_by_reference(const Probe& probe) {
  co_await later();
  co_return probe.text();
}
Task<std::string> text_by_move(Probe&& probe) {
  co_await later();
  co_return probe.text();
}
Task<Probe> make_probe(Ledger& ledger, std::string text) {
  co_await later();
  co_return Probe(ledger, std::move(text));
}
Task<bool> answer(bool value) {
  co_await later();
  co_return value;
}
Task<bool> is_long(const Probe& probe) {
  co_await later();
  co_return probe.text().size() > 20;
}
Task<int> sum(std::initializer_list<int> numbers) {
  int total = 0;
  for (const int number : numbers) total += number;
  co_await later();
  co_return total;
}
Task<std::string> joined(std::vector<std::string> words) {
  co_await later();
  std::string all;
  for (const std::string& word : words) all += word;
  co_return all;
}
Task<std::string> joined_probes(std::vector<Probe> probes) {
  co_await later();
  std::string all;
  for (const Probe& probe : probes) all += probe.text();
  co_return all;
}
Task<int> refuse(Probe probe) {
  co_await later();
  throw std::runtime_error(probe.text());
  co_return 0;
}

struct SetOptions {
  bool nx = false;
  std::optional<std::int64_t> px_ms;
  std::string note;
};
Task<std::string> set(std::string key, std::string value, SetOptions options = {}) {
  co_await later();
  std::string out = key + "=" + value;
  if (options.nx) out += " NX";
  if (options.px_ms) out += " PX " + std::to_string(*options.px_ms);
  co_return out + options.note;
}

Task<bool> accepted(std::string key, SetOptions options) {
  const std::string reply = co_await set(key, options.note, options);
  co_return options.px_ms.value_or(0) > 0 && !reply.empty();
}

/// Longer than what a std::string holds in place, so that a second destruction frees memory twice.
const std::string long_text = "a text that is long enough to live on the heap";

void require_balanced(const Ledger& ledger) {
  REQUIRE(ledger.births() > 0);
  REQUIRE(ledger.wrong_deaths() == 0);
  REQUIRE(ledger.survivors() == 0);
}

}  // namespace

TEST_CASE("compiler: a temporary passed by value to an awaited function is destroyed exactly once") {
  Ledger ledger;
  const auto story = [](Ledger& l) -> Task<std::string> { co_return co_await text_by_value(Probe(l, long_text)); };
  REQUIRE(story(ledger).run() == long_text);
  require_balanced(ledger);
}

TEST_CASE("compiler: a temporary bound to a reference outlives the suspension and is destroyed exactly once") {
  Ledger ledger;
  const auto story = [](Ledger& l) -> Task<std::string> {
    std::string out = co_await text_by_reference(Probe(l, long_text));
    out += co_await text_by_move(Probe(l, long_text));
    co_return out;
  };
  REQUIRE(story(ledger).run() == long_text + long_text);
  require_balanced(ledger);
}

TEST_CASE("compiler: a temporary result of co_await can be used within its expression") {
  Ledger ledger;
  const auto story = [](Ledger& l) -> Task<std::size_t> {
    const std::size_t size = (co_await make_probe(l, long_text)).text().size();
    co_await make_probe(l, "ignored");
    co_return size;
  };
  REQUIRE(story(ledger).run() == long_text.size());
  require_balanced(ledger);
}

TEST_CASE("compiler: a negated co_await decides the branch") {
  const auto story = [](bool first, bool second) -> Task<std::string> {
    std::string path;
    if (!co_await answer(first)) path += "not-first ";
    if (!co_await answer(first) || !co_await answer(second)) {
      path += "not-both ";
    } else {
      path += "both ";
    }
    if (co_await answer(first) && co_await answer(second)) path += "and";
    co_return path;
  };
  CHECK(story(true, true).run() == "both and");
  CHECK(story(true, false).run() == "not-both ");
  CHECK(story(false, true).run() == "not-first not-both ");
  CHECK(story(false, false).run() == "not-first not-both ");
}

TEST_CASE("compiler: a negated co_await with a temporary argument decides the branch and destroys it once") {
  Ledger ledger;
  const auto story = [](Ledger& l) -> Task<std::string> {
    std::string path;
    if (!co_await is_long(Probe(l, "short"))) path += "short ";
    if (!co_await is_long(Probe(l, long_text))) path += "wrong ";
    if (co_await is_long(Probe(l, long_text))) path += "long";
    co_return path;
  };
  REQUIRE(story(ledger).run() == "short long");
  require_balanced(ledger);
}

TEST_CASE("compiler: braced lists can be arguments of an awaited function") {
  const auto numbers = []() -> Task<int> { co_return co_await sum({1, 2, 3}); };
  REQUIRE(numbers().run() == 6);
  const auto words = []() -> Task<std::string> { co_return co_await joined({long_text, "-", long_text}); };
  REQUIRE(words().run() == long_text + "-" + long_text);
}

TEST_CASE("compiler: objects in a braced list are destroyed exactly once") {
  Ledger ledger;
  const auto story = [](Ledger& l) -> Task<std::string> {
    co_return co_await joined_probes({Probe(l, long_text), Probe(l, "-"), Probe(l, long_text)});
  };
  REQUIRE(story(ledger).run() == long_text + "-" + long_text);
  require_balanced(ledger);
}

TEST_CASE("compiler: designated options can be arguments of an awaited function") {
  const auto story = []() -> Task<std::string> {
    const std::string key = "lock";
    std::string out = co_await set(key, "token", {.nx = true, .px_ms = 30'000});
    out += "; " + co_await set(key + ":2", std::to_string(7), {.px_ms = 5, .note = " " + long_text});
    out += "; " + co_await set("lock:3", "x");
    co_return out;
  };
  REQUIRE(story().run() == "lock=token NX PX 30000; lock:2=7 PX 5 " + long_text + "; lock:3=x");
}

TEST_CASE("compiler: a negated co_await whose argument is a braced list decides the branch") {
  const auto story = [](std::int64_t ttl_ms) -> Task<std::string> {
    if (!co_await accepted("lock", {.nx = true, .px_ms = ttl_ms, .note = long_text})) co_return "refused";
    if (const bool again = !co_await accepted("lock", {.note = long_text}); again) co_return "accepted once";
    co_return "accepted";
  };
  CHECK(story(0).run() == "refused");
  CHECK(story(5).run() == "accepted once");
}

TEST_CASE("compiler: string temporaries in arguments survive until the answer") {
  const auto story = [](const std::string& prefix) -> Task<std::size_t> {
    std::size_t size = co_await length(prefix + ":" + long_text);
    size += co_await length_of(prefix + ":" + long_text);
    size += co_await length_of(long_text.substr(2));
    co_return size;
  };
  REQUIRE(story("key").run() == 2 * (long_text.size() + 4) + long_text.size() - 2);
}

TEST_CASE("compiler: both arms of a conditional expression may wait, and only one does") {
  Ledger ledger;
  const auto story = [](Ledger& l, bool first) -> Task<std::string> {
    const std::string out =
        first ? co_await text_by_value(Probe(l, long_text)) : co_await text_by_reference(Probe(l, "other"));
    const std::string inner = co_await text_by_value(first ? Probe(l, "a") : Probe(l, "b"));
    co_return out + inner;
  };
  CHECK(story(ledger, true).run() == long_text + "a");
  CHECK(story(ledger, false).run() == "otherb");
  require_balanced(ledger);
}

TEST_CASE("compiler: one expression may wait several times") {
  Ledger ledger;
  const auto story = [](Ledger& l) -> Task<std::string> {
    co_return co_await text_by_value(Probe(l, long_text)) + co_await text_by_reference(Probe(l, "-")) +
        co_await text_by_value(Probe(l, co_await text_by_value(Probe(l, long_text))));
  };
  REQUIRE(story(ledger).run() == long_text + "-" + long_text);
  require_balanced(ledger);
}

TEST_CASE("compiler: a loop may wait in its condition and over a temporary range") {
  Ledger ledger;
  const auto story = [](Ledger& l) -> Task<std::string> {
    std::string out;
    while (co_await length(out + "x") < 4) out += "x";
    for (const char c : (co_await make_probe(l, "abc")).text() + long_text) out += c;
    if (const auto size = co_await length_of(out); size > 6) out += "!";
    co_return out;
  };
  REQUIRE(story(ledger).run() == "xxxabc" + long_text + "!");
  require_balanced(ledger);
}

TEST_CASE("compiler: an exception through co_await destroys the temporaries exactly once") {
  Ledger ledger;
  const auto story = [](Ledger& l) -> Task<std::string> {
    std::string caught;
    try {
      co_await refuse(Probe(l, long_text));
    } catch (const std::runtime_error& error) {
      caught = error.what();
    }
    co_return caught + co_await text_by_value(Probe(l, "."));
  };
  REQUIRE(story(ledger).run() == long_text + ".");
  require_balanced(ledger);
}

TEST_CASE("compiler: a coroutine that is dropped while it waits destroys what it holds exactly once") {
  Ledger ledger;
  struct Never {
    const Probe& held;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    std::string await_resume() const { return held.text(); }
  };
  const auto story = [](Ledger& l) -> Task<std::string> {
    const Probe local(l, long_text);
    co_return local.text() + co_await Never{Probe(l, long_text)};
  };
  {
    Task<std::string> task = story(ledger);
    task.start();
    REQUIRE(ledger.survivors() == 2);
  }
  require_balanced(ledger);
}
