// Coroutines on the arena: frames are freed, values are moved, and a suspended task dies with all it holds.

#include "sim/coroutines/task.hpp"

#include <array>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace lockstep::sim::task_test {
namespace {

/// Counts how many of its kind are alive.
class Token {
 public:
  explicit Token(int& alive) : alive_(&alive) { ++*alive_; }
  Token(Token&& other) noexcept : alive_(std::exchange(other.alive_, nullptr)) {}
  Token& operator=(Token&&) = delete;
  ~Token() {
    if (alive_ != nullptr) --*alive_;
  }

 private:
  int* alive_;
};

/// Suspends until somebody opens it.
class Gate {
 public:
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> program) { program_ = program; }
  void await_resume() const {}
  void open(Executor& executor) { executor.make_ready(program_); }

 private:
  std::coroutine_handle<> program_;
};

Task<int> add(Executor&, int a, int b) { co_return a + b; }
Task<int> sum_to(Executor& executor, int n) {
  if (n == 0) co_return 0;
  const int rest = co_await sum_to(executor, n - 1);
  co_return co_await add(executor, n, rest);
}
Task<void> store(Executor& executor, int n, int& result) { result = co_await sum_to(executor, n); }

TEST_CASE("task: it runs only when it is started, and nested tasks return their values") {
  Executor executor;
  int result = -1;
  Task<void> task = store(executor, 10, result);
  executor.drain();
  CHECK(result == -1);
  CHECK_FALSE(task.done());
  task.start();
  executor.drain();
  CHECK(result == 55);
  CHECK(task.done());
}

TEST_CASE("task: a thousand levels deep, the stack does not grow") {
  Executor executor;
  int result = 0;
  Task<void> task = store(executor, 20'000, result);
  task.start();
  executor.drain();
  CHECK(result == 20'000 * 20'001 / 2);
}

TEST_CASE("task: frames are freed, so doing the same again asks the system for nothing") {
  Executor executor;
  int result = 0;
  const auto once = [&] {
    Task<void> task = store(executor, 50, result);
    task.start();
    executor.drain();
  };
  once();
  const std::uint64_t asked = executor.arena().system_allocations();
  for (int i = 0; i < 1'000; ++i) once();
  CHECK(executor.arena().system_allocations() == asked);
}

Task<void> loop(Executor& executor, int rounds, std::uint64_t& asked_after_first_round) {
  for (int i = 0; i < rounds; ++i) {
    const int n = co_await sum_to(executor, 3);
    if (n != 6) co_return;
    if (i == 0) asked_after_first_round = executor.arena().system_allocations();
  }
}

TEST_CASE("task: a loop that awaits does not grow either") {
  Executor executor;
  std::uint64_t asked = 0;
  Task<void> task = loop(executor, 100'000, asked);
  task.start();
  executor.drain();
  CHECK(task.done());
  CHECK(executor.arena().system_allocations() == asked);
}

Task<std::unique_ptr<int>> make(Executor&, std::unique_ptr<int> value) { co_return value; }
Task<void> pass_on(Executor& executor, std::unique_ptr<int>& result) {
  result = co_await make(executor, std::make_unique<int>(7));
}

TEST_CASE("task: results and arguments are moved, never copied") {
  Executor executor;
  std::unique_ptr<int> result;
  Task<void> task = pass_on(executor, result);
  task.start();
  executor.drain();
  REQUIRE(result);
  CHECK(*result == 7);
}

Task<void> inner(Executor&, Gate& gate, int& alive) {
  const Token local(alive);
  co_await gate;
}
Task<void> outer(Executor& executor, Gate& gate, int& alive, Token) {
  const Token local(alive);
  co_await inner(executor, gate, alive);
}

TEST_CASE("task: destroying a suspended task destroys its locals, its arguments and what it awaits") {
  Executor executor;
  Gate gate;
  int alive = 0;
  {
    Task<void> task = outer(executor, gate, alive, Token(alive));
    task.start();
    executor.drain();
    CHECK(alive == 3);
  }
  CHECK(alive == 0);
}

TEST_CASE("task: destroying one that never ran destroys its arguments") {
  Executor executor;
  Gate gate;
  int alive = 0;
  {
    const Task<void> task = outer(executor, gate, alive, Token(alive));
  }
  CHECK(alive == 0);
}

TEST_CASE("task: one that ends leaves nothing behind") {
  Executor executor;
  Gate gate;
  int alive = 0;
  Task<void> task = outer(executor, gate, alive, Token(alive));
  task.start();
  executor.drain();
  gate.open(executor);
  executor.drain();
  CHECK(task.done());
  task = Task<void>();
  CHECK(alive == 0);
}

Task<void> append(Executor&, Gate& gate, std::string& text, std::string word) {
  co_await gate;
  text += word;
}

TEST_CASE("task: who is ready first goes on first") {
  Executor executor;
  std::array<Gate, 3> gates;
  std::string text;
  std::vector<Task<void>> tasks;
  for (std::size_t i = 0; i < 3; ++i) tasks.push_back(append(executor, gates[i], text, std::to_string(i)));
  for (Task<void>& task : tasks) task.start();
  executor.drain();
  for (const std::size_t i : {2UL, 0UL, 1UL}) gates[i].open(executor);
  executor.drain();
  CHECK(text == "201");
}

struct Owner {
  Executor& executor() { return executor_; }
  Executor executor_;
};
class Program {
 public:
  Task<int> run(int before, Owner& owner, int after) {
    static_cast<void>(owner);
    co_return before + after + own_;
  }

 private:
  int own_ = 1;
};
Task<void> store_run(Owner& owner, Program& program, int& result) { result = co_await program.run(10, owner, 20); }

TEST_CASE("task: the executor is found behind any parameter, also of a member function") {
  Owner owner;
  Program program;
  int result = 0;
  Task<void> task = store_run(owner, program, result);
  task.start();
  owner.executor().drain();
  CHECK(result == 31);
}

}  // namespace
}  // namespace lockstep::sim::task_test
