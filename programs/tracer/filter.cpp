#include "programs/tracer/filter.hpp"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstddef>

namespace lockstep::programs::tracer {

namespace {

/// A program for the kernel. Of a fixed size: it is made between fork and exec, where nothing may be allocated.
class Rules {
 public:
  Rules() { load(offsetof(seccomp_data, nr)); }

  void add(const SeenCall& call) {
    const auto number = static_cast<std::uint32_t>(call.number);
    if (call.seen == Seen::always) {
      jump(BPF_JEQ, number, 0, 1);
      end(SECCOMP_RET_TRACE);
      return;
    }
    // What this call does with other descriptors is decided here: the accumulator holds its argument now.
    const bool is_output = call.seen == Seen::on_output;
    jump(BPF_JEQ, number, 0, is_output ? 5 : 4);
    load(offsetof(seccomp_data, args[0]));
    jump(BPF_JGE, is_output ? kFirstOutput : kFirstSocket, 0, is_output ? 2 : 1);
    if (is_output) jump(BPF_JGT, kLastOutput, 1, 0);
    end(SECCOMP_RET_TRACE);
    end(SECCOMP_RET_ALLOW);
  }
  bool install() {
    end(SECCOMP_RET_ALLOW);
    const sock_fprog program{static_cast<unsigned short>(size_), rules_.data()};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
  }

 private:
  void load(std::size_t field) { put(BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<std::uint32_t>(field)); }
  void jump(int condition, std::uint32_t value, int if_so, int if_not) {
    put(BPF_JMP | BPF_K | condition, if_so, if_not, value);
  }
  void end(std::uint32_t action) { put(BPF_RET | BPF_K, 0, 0, action); }
  void put(int code, int if_so, int if_not, std::uint32_t value) {
    rules_.at(size_++) = {static_cast<std::uint16_t>(code), static_cast<std::uint8_t>(if_so),
                          static_cast<std::uint8_t>(if_not), value};
  }

  std::array<sock_filter, 512> rules_{};
  std::size_t size_ = 0;
};

}  // namespace

bool install_filter(std::span<const SeenCall> calls) {
  Rules rules;
  for (const SeenCall& call : calls) rules.add(call);
  return rules.install();
}

}  // namespace lockstep::programs::tracer
