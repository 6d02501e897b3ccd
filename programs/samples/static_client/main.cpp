// Takes a lock three times at a server that answers lines: TAKE, GIVE. Linked statically. Arguments: its name, the
// port.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

namespace {

std::string ask(int server, const std::string& question) {
  if (::write(server, question.data(), question.size()) < 0) std::exit(1);
  std::string answer;
  for (char letter = 0; ::read(server, &letter, 1) == 1 && letter != '\n';) answer += letter;
  return answer;
}

void rest(long milliseconds) {
  const timespec time{0, milliseconds * 1'000'000};
  ::nanosleep(&time, nullptr);
}

}  // namespace

int main(int, char** arguments) {
  const int server = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(arguments[2])));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return 1;
  for (int turn = 0; turn < 3; ++turn) {
    std::uint32_t token = 0;
    do {
      if (::getrandom(&token, sizeof token, 0) < 0) return 1;
      if (ask(server, std::string("TAKE ") + arguments[1] + "-" + std::to_string(token) + "\n") == "OK") break;
      rest(10 + token % 20);
    } while (true);
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);  // tidy: a program of others
    std::printf("%ld.%09ld got %d\n", now.tv_sec, now.tv_nsec, turn);
    std::fflush(stdout);
    rest(20);
    ask(server, "GIVE\n");
  }
}
