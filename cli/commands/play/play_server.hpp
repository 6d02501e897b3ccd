#pragma once

// The socket under reports/play: HTTP at 127.0.0.1 for one browser. Everybody on the machine may connect, so who has
// not shown the token gets no thread, little memory and little time: docs/decisions/strangers-at-play.md.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "reports/play/request.hpp"

namespace lockstep::cli {

struct PlayLimits {
  std::uint32_t head_bytes = 8 << 10;  ///< of a request without its body, whatever its lines are
  std::size_t body_bytes = reports::play::kBodyBytesMax;
  std::size_t connections = 64;               ///< one more, and the oldest that has not shown the token is closed
  std::chrono::milliseconds of_head{2'000};   ///< from connecting to the end of the head
  std::chrono::milliseconds of_body{30'000};  ///< from there to the end of the body, and the same for the answer
};

class PlayServer {
 public:
  explicit PlayServer(PlayLimits limits = {});
  ~PlayServer();

  /// Port 0: a free one. Returns the port; nothing if nobody can listen there.
  std::optional<std::uint16_t> listen(std::uint16_t port);

  /// `refusal` is asked with the head of each request, and what it refuses is not read on; `answer` with all of it,
  /// from several threads. Returns when `is_stopped`, which is asked often, and all answers are made that were begun.
  /// Requires: it listens.
  void serve(std::function<std::optional<reports::play::Response>(const reports::play::Request&)> refusal,
             std::function<reports::play::Response(const reports::play::Request&)> answer,
             const std::function<bool()>& is_stopped);

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace lockstep::cli
