#include "programs/tracer/clock_code.hpp"

// Before the code there are, in its page: 0 the monotonic clock, 8 the wall clock minus that, 16 how many readings are
// left before each becomes a call.
asm(R"(
  .pushsection .rodata
  .intel_syntax noprefix
  .set monotonic, lockstep_clock_code - 64
  .set wall_offset, lockstep_clock_code - 56
  .set readings_left, lockstep_clock_code - 48
lockstep_clock_code:

lockstep_clock_gettime:                 # edi clock, rsi timespec
  lock dec qword ptr [rip + readings_left]
  js 3f
  mov rax, [rip + monotonic]
  test edi, edi                         # CLOCK_REALTIME, its coarse one, TAI: wall clocks
  jz 1f
  cmp edi, 5
  je 1f
  cmp edi, 11
  jne 2f
1:
  add rax, [rip + wall_offset]
2:
  xor edx, edx
  mov ecx, 1000000000
  div rcx
  mov [rsi], rax
  mov [rsi + 8], rdx
  xor eax, eax
  ret
3:
  mov eax, 228
  syscall
  ret

lockstep_gettimeofday:                  # rdi timeval
  test rdi, rdi
  jz 1f
  lock dec qword ptr [rip + readings_left]
  js 2f
  mov rax, [rip + monotonic]
  add rax, [rip + wall_offset]
  xor edx, edx
  mov ecx, 1000000000
  div rcx
  mov [rdi], rax
  mov rax, rdx
  xor edx, edx
  mov ecx, 1000
  div rcx
  mov [rdi + 8], rax
1:
  xor eax, eax
  ret
2:
  mov eax, 96
  syscall
  ret

lockstep_time:                          # rdi seconds, or null
  mov rax, [rip + monotonic]
  add rax, [rip + wall_offset]
  xor edx, edx
  mov ecx, 1000000000
  div rcx
  test rdi, rdi
  jz 1f
  mov [rdi], rax
1:
  ret

lockstep_getcpu:                        # rdi processor, rsi node
  test rdi, rdi
  jz 1f
  mov dword ptr [rdi], 0
1:
  test rsi, rsi
  jz 2f
  mov dword ptr [rsi], 0
2:
  xor eax, eax
  ret

lockstep_clock_getres:                  # rsi timespec
  test rsi, rsi
  jz 1f
  mov qword ptr [rsi], 0
  mov qword ptr [rsi + 8], 1
1:
  xor eax, eax
  ret

lockstep_getrandom:                     # not here: so libraries make the call
  mov rax, -38
  ret
lockstep_clock_code_end:
  .att_syntax
  .popsection
)");

extern "C" {
extern const char lockstep_clock_code[];
extern const char lockstep_clock_code_end[];
extern const char lockstep_clock_gettime[];
extern const char lockstep_gettimeofday[];
extern const char lockstep_time[];
extern const char lockstep_getcpu[];
extern const char lockstep_clock_getres[];
extern const char lockstep_getrandom[];
}

namespace lockstep::programs::tracer {

std::string_view clock_code() {
  return {lockstep_clock_code, static_cast<std::size_t>(lockstep_clock_code_end - lockstep_clock_code)};
}

std::array<ClockFunction, 6> clock_functions() {
  const auto at = [](const char* label) { return static_cast<std::size_t>(label - lockstep_clock_code); };
  return {{{"clock_gettime", at(lockstep_clock_gettime)},
           {"gettimeofday", at(lockstep_gettimeofday)},
           {"time", at(lockstep_time)},
           {"getcpu", at(lockstep_getcpu)},
           {"clock_getres", at(lockstep_clock_getres)},
           {"getrandom", at(lockstep_getrandom)}}};
}

}  // namespace lockstep::programs::tracer
