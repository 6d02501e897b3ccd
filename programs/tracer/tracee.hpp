#pragma once

// One thread of a program, as its tracer sees it: registers, memory, and how it is stopped and let go.
// The only file that says ptrace.

#include <sys/types.h>
#include <sys/user.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "door/file.hpp"

namespace lockstep::programs::tracer {

using Registers = ::user_regs_struct;

/// Programs cannot be traced here, or one did what cannot be followed. The message is a sentence.
class TracerTrouble : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What the threads of one process share.
class AddressSpace {
 public:
  explicit AddressSpace(pid_t process);
  pid_t process() const { return process_; }
  /// After exec the old memory is gone.
  void reopen();
  bool read(std::uint64_t address, void* bytes, std::size_t size) const;
  bool write(std::uint64_t address, const void* bytes, std::size_t size) const;
  /// A duplicate of one of its open files; -1: not open, or not permitted.
  door::File duplicate(int descriptor) const;
  /// What one of its descriptors refers to, as /proc names it; empty: nothing.
  std::string target(int descriptor) const;
  /// By which the system tells one socket from another. 0: it is none.
  std::uint64_t socket_number(int descriptor) const;

 private:
  pid_t process_;
  door::File memory_;
  door::File handle_;
};

/// A program begins with a file of this name for each of its outputs (1, 2 and 3), so that one can tell them from what
/// it, or a child of it, puts in their places.
std::string output_name(int descriptor);
/// Which output this descriptor of a process is now. 0: none, since it was redirected.
int output_of(const AddressSpace& space, int descriptor);

/// Why a thread came to a stop.
enum class StopKind : std::uint8_t {
  before_call,  ///< one that the filter shows
  after_call,
  made_thread,  ///< or a process
  made_process_and_waits,
  executed,
  is_dying,
  was_interrupted,
  signal
};

/// What waiting for a stop can end with.
enum class Wait : std::uint8_t {
  stopped,
  dead,
  asleep,    ///< in a call that the filter does not show
  computing  ///< for a second of processor time, without a call
};

class Tracee {
 public:
  Tracee(pid_t id, std::shared_ptr<AddressSpace> space);

  pid_t id() const { return id_; }
  AddressSpace& space() { return *space_; }
  const std::shared_ptr<AddressSpace>& shared_space() const { return space_; }
  bool is_leader() const { return id_ == space_->process(); }

  /// As they were at `fetch`; `store` writes them back. Requires of both: it is stopped.
  Registers registers{};
  void fetch();
  void store();
  /// Answers the call before which it stands, which then does not take place.
  void answer(std::int64_t result);
  /// Replaces the result of the call after which it stands.
  void replace_result(std::int64_t result);

  template <class T>
  std::optional<T> read(std::uint64_t address) {
    T value;
    return space_->read(address, &value, sizeof value) ? std::optional<T>(value) : std::nullopt;
  }
  template <class T>
  bool write(std::uint64_t address, const T& value) {
    return space_->write(address, &value, sizeof value);
  }

  enum class Until : std::uint8_t { next_event, end_of_call };
  void resume(Until until);
  /// The next `resume` hands it this signal.
  void pass_on(int signal) { signal_ = signal; }
  /// Lets the call end before which it stands. False: the thread died.
  bool finish_call();
  void interrupt();
  Wait wait();
  /// Waits on, whatever it sleeps in. False: it died.
  bool wait_patiently();
  /// Whether it came to a stop, died, or fell asleep in a call. Returns as soon as one of these is so.
  Wait settle();
  /// Requires: stopped.
  StopKind stop_kind() const;
  int stop_signal() const;
  /// The thread or process that was made.
  pid_t made() const;

  using Arguments = std::array<std::uint64_t, 6>;
  /// Lets it make a call that its program does not. Requires: the instruction before the next one is `syscall`.
  std::int64_t inject(long call, const Arguments& arguments);

  /// Waits for the end of a thread that dies, so that the kernel has written what it writes then. Of a leader, only
  /// that it is a zombie, unless it is the last of its process.
  enum class Rest : std::uint8_t { may_live, is_dead };
  void await_death(Rest of_its_process);

 private:
  bool look_for_stop();
  bool is_asleep() const;
  bool is_blocked() const;
  char state_letter() const;
  std::uint64_t processor_time() const;

  pid_t id_;
  std::shared_ptr<AddressSpace> space_;
  door::File where_;  ///< /proc/ID/wchan
  door::File stat_;   ///< /proc/ID/stat
  int status_ = 0;
  int signal_ = 0;
  bool is_dead_ = false;
};

/// Seizes a child that waits, stops it, and sees to it that it dies with its tracer. It and all that it makes are
/// traced from now on.
void seize(pid_t process);

}  // namespace lockstep::programs::tracer
