#pragma once

// What a browser asks of `lockstep play`, and what it is answered: values, without sockets.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::reports::play {

/// A request is at most so long, and a story (as in files) so long.
inline constexpr std::size_t kBodyBytesMax = std::size_t{16} << 20U;
inline constexpr std::size_t kStoryBytesMax = std::size_t{1} << 20U;

struct Request {
  std::string method;                ///< "GET"
  std::string path;                  ///< "/run", without what follows a question mark
  std::vector<std::string> hosts;    ///< all headers `Host`
  std::vector<std::string> origins;  ///< all headers `Origin`
  std::string token;                 ///< header `X-Lockstep-Token`; empty: none
  std::string query_token;           ///< `?token=`; empty: none
  std::string query_number;          ///< `?n=`; empty: none
  std::string body;
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  /// For the header `Content-Security-Policy`, beside what a page says itself.
  std::string policy = "default-src 'none'; frame-ancestors 'none'";
};

/// Who may ask.
struct Door {
  std::uint16_t port = 0;
  std::string token;
};

/// Nothing if the request may be answered. It may not if it names another host (a name of somebody else's that leads
/// here), comes from a page of another origin, or does not know the token. Only POST does anything, and its token is in
/// a header, which pages of other origins cannot send unasked.
std::optional<Response> refusal(const Request& request, const Door& door);

/// {"problem": …}
Response refused(int status, std::string_view en, std::string_view zh);

}  // namespace lockstep::reports::play
