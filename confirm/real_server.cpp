#include "confirm/real_server.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <system_error>

namespace lockstep::confirm {
namespace {

/// What a program writes.
std::string output_of(const char* command) {
  FILE* pipe = popen(command, "r");
  if (pipe == nullptr) return {};
  std::string out;
  std::array<char, 256> piece;
  while (fgets(piece.data(), piece.size(), pipe) != nullptr) out += piece.data();
  pclose(pipe);
  return out;
}

/// Beside the program, or where it was installed with it; empty: nowhere.
std::string shifted_clock_library() {
  std::error_code failed;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failed).parent_path();
  for (const char* folder : {".", "..", "../lib/lockstep"}) {
    const std::filesystem::path file = program / folder / "liblockstep_shifted_clock.so";
    if (std::filesystem::exists(file, failed)) return file.lexically_normal().string();
  }
  return {};
}

}  // namespace

bool can_shift_clocks() { return !shifted_clock_library().empty(); }

std::string installed_redis_version() {
  const std::string text = output_of("redis-server --version 2>/dev/null");
  const std::size_t begin = text.find("v=");
  if (begin == std::string::npos) return {};
  return text.substr(begin + 2, text.find(' ', begin) - begin - 2);
}

TemporaryFolder::TemporaryFolder()
    : path_((std::filesystem::temp_directory_path() / "lockstep-confirm-XXXXXX").string()) {
  if (mkdtemp(path_.data()) == nullptr)
    throw ServerTrouble("cannot make a folder in " + std::filesystem::temp_directory_path().string());
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

RealServer::RealServer(std::string folder, std::vector<std::string> arguments, Clock clock)
    : RealServer(std::move(folder)) {
  std::filesystem::create_directories(folder_);
  words_ = {"redis-server", "--port", std::to_string(port_), "--bind", "127.0.0.1", "--unixsocket", endpoint().host,
            "--dir", folder_, "--save", "", "--daemonize", "no",
            // A blocked client's time is looked at as often as that: the default is a tenth of a second.
            "--hz", "500", "--dynamic-hz", "no", "--repl-diskless-sync-delay", "0"};
  words_.insert(words_.end(), arguments.begin(), arguments.end());
  if (clock == Clock::shifted) {
    const std::string file = folder_ + "/clock";
    const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void* memory = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, sizeof *shift_) == 0)
      memory = mmap(nullptr, sizeof *shift_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0) close(fd);
    if (memory == MAP_FAILED) throw ServerTrouble("cannot write " + file);
    shift_ = static_cast<std::int64_t*>(memory);
    environment_ = {"LD_PRELOAD=" + shifted_clock_library(), "LOCKSTEP_CLOCK_SHIFT=" + file};
  }
  launch();
}

/// It writes its configuration anew, so there must be a file of it.
std::unique_ptr<RealServer> RealServer::sentinel(std::string folder, const std::string& configuration) {
  std::unique_ptr<RealServer> server(new RealServer(std::move(folder)));
  std::filesystem::create_directories(server->folder_);
  const std::string file = server->folder_ + "/sentinel.conf";
  std::ofstream(file) << "port " << server->port_ << "\nbind 127.0.0.1\nunixsocket " << server->endpoint().host
                      << "\ndir " << server->folder_ << '\n'
                      << configuration;
  server->words_ = {"redis-server", file, "--sentinel"};
  server->launch();
  return server;
}

RealServer::~RealServer() {
  kill();
  if (shift_ != nullptr) munmap(shift_, sizeof *shift_);
}

void RealServer::shift_clock(std::int64_t nanoseconds) { std::atomic_ref(*shift_).store(nanoseconds); }

void RealServer::launch() {
  std::filesystem::remove(endpoint().host);
  std::vector<char*> pointers;
  for (std::string& word : words_) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  std::vector<char*> environment;
  for (std::string& each : environment_) environment.push_back(each.data());
  for (char** each = environ; *each != nullptr; ++each) environment.push_back(*each);
  environment.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw ServerTrouble("cannot start another process");
  if (child == 0) {
    // Ctrl-C is for this program, and not for its servers; when it is gone, so are they.
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    const int nowhere = open("/dev/null", O_RDWR);
    for (const int fd : {0, 1, 2}) dup2(nowhere, fd);
    execvpe("redis-server", pointers.data(), environment.data());
    _exit(127);
  }
  pid_ = child;
  is_stopped_ = false;
}

void RealServer::await_ready() const {
  constexpr int kTries = 5'000;
  for (int i = 0; i < kTries; ++i) {
    if (waitpid(pid_, nullptr, WNOHANG) != 0) break;
    std::optional<Wire> wire;
    try {
      wire.emplace(endpoint());
    } catch (const ServerTrouble&) {
      usleep(2'000);
      continue;
    }
    if (wire->ask(models::redis::Command{"PING"}).is_status("PONG")) return;
    usleep(2'000);
  }
  throw ServerTrouble("redis-server does not come up (redis-server is in the package redis-server)");
}

void RealServer::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = 0;
  is_stopped_ = false;
}

void RealServer::stop() {
  if (pid_ > 0 && !is_stopped_ && ::kill(pid_, SIGSTOP) == 0) is_stopped_ = true;
}

void RealServer::go_on() {
  if (pid_ > 0 && is_stopped_ && ::kill(pid_, SIGCONT) == 0) is_stopped_ = false;
}

std::string RealServer::log_file() const {
  std::error_code ignored;
  for (const auto& each : std::filesystem::directory_iterator(folder_ + "/appendonlydir", ignored)) {
    if (each.path().string().ends_with(".incr.aof")) return each.path().string();
  }
  return {};
}

std::uint64_t RealServer::log_size() const {
  std::error_code failed;
  const std::uint64_t size = std::filesystem::file_size(log_file(), failed);
  return failed ? 0 : size;
}

void RealServer::cut_log(std::uint64_t size) const {
  if (size < log_size()) std::filesystem::resize_file(log_file(), size);
}

}  // namespace lockstep::confirm
