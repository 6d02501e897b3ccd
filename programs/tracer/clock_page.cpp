#include "programs/tracer/clock_page.hpp"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

#include "programs/tracer/clock_code.hpp"

namespace lockstep::programs::tracer {

namespace {

constexpr std::size_t kPageSize = 4096;
constexpr std::size_t kCodeAt = 64;
/// A helper thread of V8 that sweeps its heap in slices looks at the clock a thousand times a slice.
constexpr std::int64_t kReadingsAtOnce = 5000;

template <class T>
T read_or_throw(Tracee& tracee, std::uint64_t address) {
  const std::optional<T> value = tracee.read<T>(address);
  if (!value) throw TracerTrouble("a program's memory cannot be read after its start");
  return *value;
}

/// What the kernel hands to a program on its stack: AT_SYSINFO_EHDR and its like.
template <class Visit>
void visit_auxiliary_vector(Tracee& tracee, const Visit& visit) {
  std::uint64_t at = tracee.registers.rsp;
  at += 8 + 8 * (read_or_throw<std::uint64_t>(tracee, at) + 1);
  while (read_or_throw<std::uint64_t>(tracee, at) != 0) at += 8;
  for (at += 8;; at += sizeof(Elf64_auxv_t)) {
    const auto entry = read_or_throw<Elf64_auxv_t>(tracee, at);
    if (entry.a_type == AT_NULL) return;
    visit(entry);
  }
}

/// The kernel's library in a program's memory.
class Vdso {
 public:
  Vdso(Tracee& tracee, std::uint64_t start) : tracee_(tracee), start_(start) { find_dynamic_section(); }

  void replace_functions() {
    for (std::uint32_t i = 1; i < count_; ++i) {
      const auto symbol = read_or_throw<Elf64_Sym>(tracee_, symbols_ + i * sizeof(Elf64_Sym));
      replace(name_at(names_ + symbol.st_name), base_ + symbol.st_value);
    }
  }

 private:
  void find_dynamic_section() {
    const auto header = read_or_throw<Elf64_Ehdr>(tracee_, start_);
    std::uint64_t dynamic = 0;
    bool is_loaded = false;
    for (int i = 0; i < header.e_phnum; ++i) {
      const auto part = read_or_throw<Elf64_Phdr>(tracee_, start_ + header.e_phoff + i * sizeof(Elf64_Phdr));
      if (part.p_type == PT_DYNAMIC) dynamic = start_ + part.p_offset;
      if (part.p_type == PT_LOAD && !is_loaded) base_ = start_ + part.p_offset - part.p_vaddr;
      is_loaded = is_loaded || part.p_type == PT_LOAD;
    }
    if (dynamic != 0) read_dynamic_section(dynamic);
  }

  void read_dynamic_section(std::uint64_t at) {
    for (;; at += sizeof(Elf64_Dyn)) {
      const auto entry = read_or_throw<Elf64_Dyn>(tracee_, at);
      const std::uint64_t address = base_ + entry.d_un.d_ptr;
      if (entry.d_tag == DT_NULL) return;
      if (entry.d_tag == DT_SYMTAB) symbols_ = address;
      if (entry.d_tag == DT_STRTAB) names_ = address;
      // The second word of a hash table is how many symbols there are.
      if (entry.d_tag == DT_HASH) count_ = read_or_throw<std::uint32_t>(tracee_, address + 4);
    }
  }

  std::string name_at(std::uint64_t address) {
    std::string name;
    for (char letter = 0; name.size() < 64 && (letter = read_or_throw<char>(tracee_, address++)) != 0;) name += letter;
    constexpr std::string_view kPrefix = "__vdso_";
    return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
  }

  void replace(const std::string& name, std::uint64_t address) {
    const auto functions = clock_functions();
    const auto mine = std::find_if(functions.begin(), functions.end(), [&](const auto& f) { return f.name == name; });
    if (mine == functions.end()) return;
    // mov rax, target; jmp rax
    std::array<unsigned char, 12> jump{0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};
    const std::uint64_t target = ClockPage::kAddress + kCodeAt + mine->offset;
    std::memcpy(jump.data() + 2, &target, sizeof target);
    if (!tracee_.write(address, jump)) throw TracerTrouble("the kernel's clock functions cannot be replaced");
  }

  Tracee& tracee_;
  std::uint64_t start_;
  std::uint64_t base_ = 0;
  std::uint64_t symbols_ = 0;
  std::uint64_t names_ = 0;
  std::uint32_t count_ = 0;
};

}  // namespace

struct ClockPage::Layout {
  std::int64_t monotonic;
  std::int64_t wall_offset;
  std::int64_t readings_left;
};

ClockPage::ClockPage(const std::string& random_file) : file_(::memfd_create("clock", MFD_CLOEXEC)) {
  void* page = MAP_FAILED;
  if (::ftruncate(file_.number(), kPageSize) == 0) {
    page = ::mmap(nullptr, kPageSize, PROT_READ | PROT_WRITE, MAP_SHARED, file_.number(), 0);
  }
  if (page == MAP_FAILED) throw TracerTrouble("no memory for a program's clock");
  page_ = static_cast<Layout*>(page);
  const std::string_view code = clock_code();
  std::memcpy(static_cast<char*>(page) + kCodeAt, code.data(), code.size());
  std::memcpy(static_cast<char*>(page) + (kRandomFile - kAddress), random_file.c_str(), random_file.size() + 1);
  forget_readings();
}

ClockPage::~ClockPage() { ::munmap(page_, kPageSize); }

void ClockPage::set(Readings readings) {
  page_->monotonic = readings.monotonic;
  page_->wall_offset = readings.wall - readings.monotonic;
  forget_readings();
}

Readings ClockPage::readings() const { return {page_->monotonic, page_->monotonic + page_->wall_offset}; }

bool ClockPage::is_spun_on() const { return page_->readings_left < 0; }
void ClockPage::forget_readings() { page_->readings_left = kReadingsAtOnce; }

void ClockPage::put_into(Tracee& tracee, const std::array<std::uint64_t, 2>& random) const {
  std::uint64_t vdso = 0;
  visit_auxiliary_vector(tracee, [&](const Elf64_auxv_t& entry) {
    if (entry.a_type == AT_SYSINFO_EHDR) vdso = entry.a_un.a_val;
    if (entry.a_type == AT_RANDOM) tracee.write(entry.a_un.a_val, random);
  });

  // Nothing of the program has run, so there is no `syscall` in front of its next instruction: one is lent to it.
  const std::uint64_t entry = tracee.registers.rip;
  const auto instructions = read_or_throw<std::uint16_t>(tracee, entry);
  tracee.write(entry, std::uint16_t{0x050f});
  tracee.registers.rip += 2;
  const std::uint64_t name_at = tracee.registers.rsp - 1024;
  const std::string name = fmt::format("/proc/{}/fd/{}", ::getpid(), file_.number());
  tracee.space().write(name_at, name.c_str(), name.size() + 1);
  const auto file = static_cast<std::uint64_t>(tracee.inject(SYS_open, {name_at, O_RDWR}));
  const std::int64_t mapped = tracee.inject(
      SYS_mmap, {kAddress, kPageSize, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED | MAP_FIXED_NOREPLACE, file, 0});
  if (mapped != static_cast<std::int64_t>(kAddress)) throw TracerTrouble("a program's clock cannot be mapped into it");
  tracee.inject(SYS_close, {file});
  tracee.registers.rip -= 2;
  tracee.store();
  tracee.write(entry, instructions);
  if (vdso != 0) Vdso(tracee, vdso).replace_functions();
}

}  // namespace lockstep::programs::tracer
