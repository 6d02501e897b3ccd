#include <algorithm>

#include <fmt/format.h>

#include "reports/json/json.hpp"
#include "reports/play/request.hpp"

namespace lockstep::reports::play {
namespace {

bool is_our_host(std::string_view host, std::uint16_t port) {
  return host == fmt::format("127.0.0.1:{}", port) || host == fmt::format("localhost:{}", port);
}

bool is_our_origin(std::string_view origin, std::uint16_t port) {
  constexpr std::string_view kScheme = "http://";
  return origin.starts_with(kScheme) && is_our_host(origin.substr(kScheme.size()), port);
}

/// Takes as long whatever is wrong with it: nobody learns a token byte by byte.
bool is_token(std::string_view given, std::string_view token) {
  if (given.size() != token.size() || token.empty()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < token.size(); ++i)
    difference |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(token[i]);
  return difference == 0;
}

}  // namespace

Response refused(int status, std::string_view en, std::string_view zh) {
  const Json body = {{"problem", {{"en", en}, {"zh", zh}}}};
  return {.status = status, .body = body.dump()};
}

std::optional<Response> refusal(const Request& request, const Door& door) {
  if (request.hosts.size() != 1 || !is_our_host(request.hosts.front(), door.port))
    return refused(421, "this host is not served here", "此处不提供该主机");
  if (request.origins.size() > 1 || (!request.origins.empty() && !is_our_origin(request.origins.front(), door.port)))
    return refused(403, "pages of other origins are not answered", "不回答其他来源的页面");
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (!reads && request.method != "POST") return refused(405, "expected GET or POST", "只接受 GET 或 POST");
  if (!is_token(reads ? request.query_token : request.token, door.token))
    return refused(403, "the token is missing or wrong: open the address that lockstep play has printed",
                   "令牌缺失或错误：请打开 lockstep play 打印的地址");
  if (request.body.size() > kBodyBytesMax) return refused(413, "more than 16 MB", "超过 16 MB");
  return std::nullopt;
}

}  // namespace lockstep::reports::play
