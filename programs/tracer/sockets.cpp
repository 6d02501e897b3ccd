#include "programs/tracer/sockets.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "programs/tracer/filter.hpp"

namespace lockstep::programs::tracer {

namespace {

/// What clients of a TCP connection call themselves.
constexpr std::uint16_t kFirstClientPort = 40000;
/// The kernel's default, which a socket gets back when its connection stands.
constexpr int kUsualBuffer = 106496;

bool is_internet(std::uint64_t family) { return family == AF_INET || family == AF_INET6; }

/// Where a program wants to go; 127.0.0.1 is where everybody is.
std::optional<std::uint16_t> port_of(Tracee& tracee) {
  sockaddr_in6 address{};
  const std::size_t size = std::min<std::size_t>(tracee.registers.rdx, sizeof address);
  if (!tracee.space().read(tracee.registers.rsi, &address, size)) return std::nullopt;
  // Both families have their port at the same place.
  return ntohs(address.sin6_port);
}

}  // namespace

Turn Sockets::socket(Thread& thread) {
  const Registers& r = thread.tracee.registers;
  if (!is_internet(r.rdi)) return Turn::goes_on;
  // UDP and raw sockets: a resolver tries them, and does without.
  if ((r.rsi & 15) != SOCK_STREAM) return answered(thread, -EAFNOSUPPORT);
  return make_pair(thread);
}

Turn Sockets::make_pair(Thread& thread) {
  Tracee& tracee = thread.tracee;
  Registers asked = tracee.registers;
  // Below the red zone, which belongs to the function that calls.
  const std::uint64_t at = asked.rsp - 160;
  tracee.registers.orig_rax = SYS_socketpair;
  tracee.registers.rdi = AF_UNIX;
  tracee.registers.rdx = 0;
  tracee.registers.r10 = at;
  tracee.store();
  if (!tracee.finish_call()) return Turn::goes_on;
  const auto result = static_cast<std::int64_t>(tracee.registers.rax);
  const auto pair = tracee.read<std::array<int, 2>>(at);
  asked.rip = tracee.registers.rip;
  asked.rcx = tracee.registers.rcx;
  asked.r11 = tracee.registers.r11;
  asked.orig_rax = ~0ULL;
  asked.rax = static_cast<std::uint64_t>(result);
  tracee.registers = asked;
  if (result == 0 && pair) {
    keep(thread, (*pair)[0], (*pair)[1], asked);
  } else {
    tracee.store();
  }
  return Turn::goes_on;
}

void Sockets::keep(Thread& thread, int mine, int other, const Registers& asked) {
  Tracee& tracee = thread.tracee;
  auto socket = std::make_unique<Socket>();
  socket->id = static_cast<SocketId>(sockets_.size());
  socket->other_end = tracee.space().duplicate(other);
  if (socket->other_end.number() < 0) {
    throw TracerTrouble(
        "a program's sockets cannot be taken over (pidfd_getfd is refused); in a container: "
        "--cap-add=SYS_PTRACE");
  }
  ::fcntl(socket->other_end.number(), F_SETFL, O_NONBLOCK);
  socket->number = tracee.space().socket_number(mine);
  socket->is_version_6 = asked.rdi == AF_INET6;
  tracee.inject(SYS_close, {static_cast<std::uint64_t>(other)});
  const int duplicate = (asked.rsi & SOCK_CLOEXEC) != 0 ? F_DUPFD_CLOEXEC : F_DUPFD;
  const std::int64_t high =
      tracee.inject(SYS_fcntl, {static_cast<std::uint64_t>(mine), static_cast<std::uint64_t>(duplicate), kFirstSocket});
  tracee.inject(SYS_close, {static_cast<std::uint64_t>(mine)});
  tracee.replace_result(high);
  sockets_.push_back(std::move(socket));
}

Sockets::Socket* Sockets::find(Thread& thread) {
  const std::uint64_t number = thread.tracee.space().socket_number(static_cast<int>(thread.tracee.registers.rdi));
  if (number == 0) return nullptr;
  const auto mine = std::find_if(sockets_.begin(), sockets_.end(), [&](const auto& socket) {
    return socket->number == number && socket->state != Socket::State::gone;
  });
  return mine == sockets_.end() ? nullptr : mine->get();
}

Turn Sockets::connect(Thread& thread) {
  Socket* socket = find(thread);
  if (socket == nullptr) return Turn::goes_on;
  if (socket->state == Socket::State::connected) return answered(thread, -EISCONN);
  if (socket->state == Socket::State::connecting) return answered(thread, -EALREADY);
  const std::optional<std::uint16_t> port = port_of(thread.tracee);
  if (!port) return answered(thread, -EFAULT);
  socket->port = *port;
  socket->state = Socket::State::connecting;
  socket->space = thread.tracee.shared_space();
  socket->descriptor = static_cast<int>(thread.tracee.registers.rdi);
  const door::File own_end = socket->space->duplicate(socket->descriptor);
  fill(own_end.number());
  const bool is_blocking = (::fcntl(own_end.number(), F_GETFL) & O_NONBLOCK) == 0;
  Turn turn = Turn::goes_on;
  if (is_blocking) {
    socket->waiting = &thread;
    turn = threads_.hold(thread, std::nullopt, 0);
  } else {
    thread.tracee.answer(-EINPROGRESS);
  }
  outside_.connects(socket->id, *port);
  return turn;
}

void Sockets::fill(int own_end) {
  // Full, it is not writable: so poll and its like wait, as they do for a connection that does not stand yet.
  const int smallest = 1;
  ::setsockopt(own_end, SOL_SOCKET, SO_SNDBUF, &smallest, sizeof smallest);
  const std::array<char, 512> bytes{};
  for (const std::size_t size : {bytes.size(), std::size_t{1}}) {
    while (::send(own_end, bytes.data(), size, MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {
    }
  }
}

bool Sockets::is_given_up(const Socket& socket) {
  pollfd asked{socket.other_end.number(), 0, 0};
  return ::poll(&asked, 1, 0) == 1 && (asked.revents & POLLHUP) != 0;
}

void Sockets::finish_connect(SocketId id, int error) {
  Socket& socket = *sockets_[id];
  if (socket.state != Socket::State::connecting) return;
  std::array<char, 4096> bytes{};
  ::setsockopt(socket.space->duplicate(socket.descriptor).number(), SOL_SOCKET, SO_SNDBUF, &kUsualBuffer,
               sizeof kUsualBuffer);
  if (error != 0) ::shutdown(socket.other_end.number(), SHUT_RDWR);
  while (::recv(socket.other_end.number(), bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) {
  }
  socket.state = error == 0 ? Socket::State::connected : Socket::State::fresh;
  if (socket.waiting != nullptr) {
    threads_.release(*std::exchange(socket.waiting, nullptr), -error);
  } else {
    socket.error = error;
  }
}

void Sockets::collect() {
  for (std::size_t i = 0; i < sockets_.size(); ++i) collect(*sockets_[i]);
}

void Sockets::collect(Socket& socket) {
  if (socket.state == Socket::State::connecting && is_given_up(socket)) {
    socket.state = Socket::State::gone;
    return outside_.hung_up(socket.id);
  }
  if (socket.state != Socket::State::connected) return;
  std::array<char, 65536> bytes;
  ssize_t size = 0;
  while ((size = ::recv(socket.other_end.number(), bytes.data(), bytes.size(), MSG_DONTWAIT)) > 0) {
    outside_.sent(socket.id, {bytes.data(), static_cast<std::size_t>(size)});
  }
  if (size != 0 && (errno == EAGAIN || errno == EINTR)) return;
  socket.state = Socket::State::gone;
  outside_.hung_up(socket.id);
}

void Sockets::deliver(SocketId id, std::string_view bytes) {
  const Socket& socket = *sockets_[id];
  if (socket.state != Socket::State::connected) return;
  const ssize_t sent = ::send(socket.other_end.number(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent != static_cast<ssize_t>(bytes.size()) && errno == EAGAIN) {
    threads_.note_escape("a reply is longer than a program's socket holds, and was cut");
  }
}

void Sockets::close(SocketId id) {
  if (sockets_[id]->state == Socket::State::connected) ::shutdown(sockets_[id]->other_end.number(), SHUT_WR);
}

void Sockets::reset(SocketId id) {
  Socket& socket = *sockets_[id];
  if (socket.state == Socket::State::connecting) return finish_connect(id, ECONNREFUSED);
  if (socket.state != Socket::State::connected) return;
  ::shutdown(socket.other_end.number(), SHUT_RDWR);
  socket.error = ECONNRESET;
}

Turn Sockets::bind(Thread& thread) { return find(thread) == nullptr ? Turn::goes_on : answered(thread, 0); }

Turn Sockets::setsockopt(Thread& thread) {
  Socket* socket = find(thread);
  if (socket == nullptr) return Turn::goes_on;
  const Registers& r = thread.tracee.registers;
  if (r.rsi != SOL_SOCKET) return answered(thread, 0);
  if (r.rdx == SO_SNDTIMEO) return answered(thread, 0);
  if (r.rdx != SO_RCVTIMEO) return Turn::goes_on;
  const auto time = thread.tracee.read<timeval>(r.r10);
  if (!time) return answered(thread, -EFAULT);
  socket->receive_patience = time->tv_sec * 1'000'000'000 + time->tv_usec * 1000;
  return answered(thread, 0);
}

Turn Sockets::getsockopt(Thread& thread) {
  Socket* socket = find(thread);
  if (socket == nullptr) return Turn::goes_on;
  const Registers r = thread.tracee.registers;
  if (r.rsi == SOL_SOCKET && r.rdx != SO_ERROR) return Turn::goes_on;
  // TCP's own options are all on.
  const int value = r.rsi == SOL_SOCKET ? std::exchange(socket->error, 0) : 1;
  thread.tracee.write(r.r10, value);
  thread.tracee.write(r.r8, static_cast<std::uint32_t>(sizeof value));
  return answered(thread, 0);
}

Turn Sockets::getsockname(Thread& thread) {
  const Socket* socket = find(thread);
  if (socket == nullptr) return Turn::goes_on;
  tell_address(thread, *socket, static_cast<std::uint16_t>(kFirstClientPort + socket->id));
  return answered(thread, 0);
}

Turn Sockets::getpeername(Thread& thread) {
  const Socket* socket = find(thread);
  if (socket == nullptr) return Turn::goes_on;
  if (socket->state != Socket::State::connected) return answered(thread, -ENOTCONN);
  tell_address(thread, *socket, socket->port);
  return answered(thread, 0);
}

void Sockets::tell_address(Thread& thread, const Socket& socket, std::uint16_t port) {
  const Registers& r = thread.tracee.registers;
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(port);
  ::inet_pton(AF_INET6, "::ffff:127.0.0.1", &six.sin6_addr);
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_port = htons(port);
  four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const std::uint32_t size = socket.is_version_6 ? sizeof six : sizeof four;
  const auto room = thread.tracee.read<std::uint32_t>(r.rdx).value_or(0);
  const void* address = socket.is_version_6 ? static_cast<const void*>(&six) : &four;
  thread.tracee.space().write(r.rsi, address, std::min(size, room));
  thread.tracee.write(r.rdx, size);
}

std::optional<std::int64_t> Sockets::patience(Thread& thread) {
  const Socket* socket = find(thread);
  if (socket == nullptr || socket->receive_patience == 0) return std::nullopt;
  return socket->receive_patience;
}

}  // namespace lockstep::programs::tracer
