// Every timer that the system has, and what it interrupts: a line for each, with the milliseconds that have gone by.
// With "die": a signal that nobody handles.

#include <poll.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <mutex>

namespace {

/// What the handler has seen.
struct Signals {
  volatile sig_atomic_t count = 0;
  volatile sig_atomic_t last = 0;
  volatile sig_atomic_t value = 0;
};

Signals& signals() {
  static Signals seen;  // tidy: a program of others
  return seen;
}

void handle(int signal, siginfo_t* info, void*) {
  Signals& seen = signals();
  seen.last = signal;
  seen.value = info->si_code == SI_TIMER ? info->si_value.sival_int : -1;
  seen.count = seen.count + 1;
}

long now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);  // tidy: a program of others
  return time.tv_sec * 1000 + time.tv_nsec / 1'000'000;
}

class Stopwatch {
 public:
  void say(const char* what, long number) const { std::printf("%s %ld after %ld\n", what, number, now() - begin_); }

 private:
  long begin_ = now();
};

timespec milliseconds(long count) { return {count / 1000, count % 1000 * 1'000'000}; }

/// By epoll once, every 10ms by reading, and what is left of it.
void by_descriptor() {
  const int timer = ::timerfd_create(CLOCK_MONOTONIC, 0);
  const int set = ::epoll_create1(0);
  epoll_event wanted{.events = EPOLLIN, .data = {.fd = timer}};
  ::epoll_ctl(set, EPOLL_CTL_ADD, timer, &wanted);
  itimerspec setting{{}, milliseconds(50)};
  ::timerfd_settime(timer, 0, &setting, nullptr);
  const Stopwatch first;
  epoll_event seen{};
  first.say("epoll", ::epoll_wait(set, &seen, 1, -1));
  std::uint64_t times = 0;
  first.say("read", ::read(timer, &times, sizeof times) == sizeof times ? static_cast<long>(times) : -1);
  setting = {milliseconds(10), milliseconds(10)};
  ::timerfd_settime(timer, 0, &setting, nullptr);
  const Stopwatch watch;
  for (int i = 0; i < 3; ++i)
    watch.say("tick", ::read(timer, &times, sizeof times) == sizeof times ? static_cast<long>(times) : -1);
  const timespec rest = milliseconds(35);
  ::nanosleep(&rest, nullptr);
  watch.say("ticks", ::read(timer, &times, sizeof times) == sizeof times ? static_cast<long>(times) : -1);
  ::timerfd_gettime(timer, &setting);
  watch.say("left", setting.it_value.tv_nsec / 1'000'000);
  ::close(timer);
  ::close(set);
}

void by_alarm() {
  const itimerval setting{{}, {0, 30'000}};
  ::setitimer(ITIMER_REAL, &setting, nullptr);
  const Stopwatch sleeping;
  const timespec second = milliseconds(1000);
  timespec left{};
  const int result = ::nanosleep(&second, &left);
  sleeping.say("nanosleep", result == -1 && errno == EINTR ? left.tv_nsec / 1'000'000 : -1);
  ::alarm(2);
  const Stopwatch polling;
  polling.say("poll", ::poll(nullptr, 0, -1) == -1 && errno == EINTR ? signals().last : -1);
}

void by_made_timer() {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGUSR1;
  event.sigev_value.sival_int = 42;
  timer_t timer{};
  ::timer_create(CLOCK_MONOTONIC, &event, &timer);
  const itimerspec setting{{}, milliseconds(20)};
  ::timer_settime(timer, 0, &setting, nullptr);
  const Stopwatch watch;
  ::poll(nullptr, 0, 1000);
  watch.say("made", signals().value);
  ::timer_settime(timer, 0, &setting, nullptr);
  ::timer_delete(timer);
  const int before = signals().count;
  const timespec rest = milliseconds(50);
  ::nanosleep(&rest, nullptr);
  watch.say("deleted", signals().count - before);
}

/// A signal in between does not end it.
void by_condition() {
  const itimerval setting{{}, {0, 40'000}};
  ::setitimer(ITIMER_REAL, &setting, nullptr);
  const Stopwatch watch;
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock(mutex);
  const int before = signals().count;
  never.wait_for(lock, std::chrono::milliseconds(100));
  watch.say("condition", signals().count - before);
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1 && std::strcmp(arguments[1], "die") == 0) {
    ::alarm(1);
    ::pause();
  }
  struct sigaction action{};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGALRM, &action, nullptr);
  ::sigaction(SIGUSR1, &action, nullptr);
  by_descriptor();
  by_alarm();
  by_made_timer();
  by_condition();
  std::fflush(stdout);
  return 7;
}
