#include "cli/commands/play/play_server.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep::cli {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using reports::play::refused;
using reports::play::Request;
using reports::play::Response;
using Head = http::request<http::string_body>;

constexpr std::size_t kAnswerers = 4;
constexpr std::chrono::milliseconds kBetweenLooks{50};

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

std::vector<std::string> all_of(const Head& head, beast::string_view name) {
  std::vector<std::string> values;
  const auto [first, last] = head.equal_range(name);
  for (auto it = first; it != last; ++it) values.emplace_back(view(it->value()));
  return values;
}

/// Of "/history?token=5b0c&n=2" what stands behind "n="; empty: nothing.
std::string parameter(std::string_view target, std::string_view name) {
  std::string_view rest = target.substr(std::min(target.find('?'), target.size()));
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string_view one = rest.substr(0, rest.find('&'));
    if (one.starts_with(name) && one.substr(name.size()).starts_with('='))
      return std::string(one.substr(name.size() + 1));
    rest.remove_prefix(one.size());
  }
  return "";
}

Request request_of(const Head& head) {
  const std::string_view target = view(head.target());
  const std::vector<std::string> tokens = all_of(head, "X-Lockstep-Token");
  Request request;
  request.method = view(head.method_string());
  request.path = target.substr(0, target.find('?'));
  request.hosts = all_of(head, "Host");
  request.origins = all_of(head, "Origin");
  if (tokens.size() == 1) request.token = tokens.front();
  request.query_token = parameter(target, "token");
  request.query_number = parameter(target, "n");
  return request;
}

/// Why a body is not read: one length that is said before is all that is believed.
std::optional<Response> objection_to_body(const Head& head, boost::optional<std::uint64_t> length, std::size_t most) {
  if (head.count("Content-Encoding") + head.count("Transfer-Encoding") > 0)
    return refused(415, "expected a body as it is: not packed, and not in chunks", "请求体不得压缩或分块");
  const std::vector<std::string> lengths = all_of(head, "Content-Length");
  if (lengths.size() > 1 || (lengths.size() == 1 && lengths.front().find(',') != std::string::npos))
    return refused(400, "expected one Content-Length", "只应有一个 Content-Length");
  if (lengths.empty() && head.method() == http::verb::post)
    return refused(411, "expected a Content-Length", "缺少 Content-Length");
  if (length.value_or(0) > most) return refused(413, "more than 16 MB", "超过 16 MB");
  return std::nullopt;
}

http::response<http::string_body> answer_of(const Response& response) {
  http::response<http::string_body> answer;
  answer.result(static_cast<unsigned>(response.status));
  answer.set("X-Content-Type-Options", "nosniff");
  answer.set("Cache-Control", "no-store");
  answer.set("Referrer-Policy", "no-referrer");
  answer.set("Cross-Origin-Resource-Policy", "same-origin");
  answer.set("Content-Security-Policy", response.policy);
  answer.set("Content-Type", response.content_type);
  answer.body() = response.body;
  answer.keep_alive(false);
  answer.prepare_payload();
  return answer;
}

}  // namespace

struct PlayServer::Inside {
  /// One request and its answer. The thread of `serve` alone touches it.
  class Connection : public std::enable_shared_from_this<Connection> {
   public:
    Connection(tcp::socket socket, Inside& server) : server_(server), stream_(std::move(socket)) {}

    bool is_strange() const { return is_strange_; }

    /// The time for the head does not begin anew with each byte.
    void begin() {
      parser_.header_limit(server_.limits.head_bytes);
      parser_.body_limit(std::numeric_limits<std::uint64_t>::max());  // objection_to_body has a better one
      stream_.expires_after(server_.limits.of_head);
      http::async_read_header(stream_, buffer_, parser_,
                              [self = shared_from_this()](error_code trouble, std::size_t) { self->judge(trouble); });
    }
    void close() { stream_.close(); }

   private:
    void judge(error_code trouble) {
      if (trouble == http::error::header_limit)
        return send(refused(431, "a head of more than 8 KB", "请求头超过 8 KB"));
      if (trouble && trouble.category() == http::make_error_code(http::error::bad_value).category())
        return send(refused(400, "this is not HTTP as it should be", "这不是合乎规范的 HTTP"));
      if (trouble) return end();
      const Head& head = parser_.get();
      request_ = request_of(head);
      std::optional<Response> no = server_.refusal(request_);
      if (!no) no = objection_to_body(head, parser_.content_length(), server_.limits.body_bytes);
      if (no) return send(*no);
      is_strange_ = false;
      stream_.expires_after(server_.limits.of_body);
      http::async_read(stream_, buffer_, parser_,
                       [self = shared_from_this()](error_code trouble, std::size_t) { self->answer(trouble); });
    }

    void answer(error_code trouble) {
      if (trouble) return end();
      request_.body = std::move(parser_.get().body());
      stream_.expires_never();
      asio::post(server_.answerers, [self = shared_from_this()] {
        Response response = self->server_.answer(self->request_);
        asio::post(self->server_.context, [self, response = std::move(response)] { self->send(response); });
      });
    }

    void send(const Response& response) {
      answer_ = answer_of(response);
      if (parser_.get().method() == http::verb::head) answer_.body().clear();
      stream_.expires_after(server_.limits.of_body);
      http::async_write(stream_, answer_, [self = shared_from_this()](error_code trouble, std::size_t) {
        if (trouble) return self->end();
        self->stream_.socket().shutdown(tcp::socket::shutdown_send, trouble);
        self->is_strange_ = true;
        self->stream_.expires_after(self->server_.limits.of_head);
        self->drain();
      });
    }

    /// Whoever still sends would not hear the answer if the connection ended before.
    void drain() {
      stream_.async_read_some(asio::buffer(unread_), [self = shared_from_this()](error_code trouble, std::size_t) {
        trouble ? self->end() : self->drain();
      });
    }

    void end() {
      close();
      std::erase_if(server_.connections, [this](const auto& one) { return one.get() == this; });
    }

    Inside& server_;
    beast::tcp_stream stream_;
    beast::flat_buffer buffer_{std::size_t{32} << 10U};
    http::request_parser<http::string_body> parser_;
    Request request_;
    http::response<http::string_body> answer_;
    std::array<char, 4096> unread_{};
    bool is_strange_ = true;  ///< it has not shown the token, or has been answered
  };

  explicit Inside(PlayLimits l) : limits(l) {}

  /// Room for one more, if there is any to be had.
  bool make_room() {
    if (connections.size() < limits.connections) return true;
    const auto oldest = std::find_if(connections.begin(), connections.end(), [](auto& c) { return c->is_strange(); });
    if (oldest == connections.end()) return false;
    (*oldest)->close();
    connections.erase(oldest);
    return true;
  }

  void accept() {
    acceptor.async_accept([this](error_code trouble, tcp::socket socket) {
      if (trouble) {
        // No file is left, say: strangers give theirs back in a moment.
        pause.expires_after(kBetweenLooks);
        return pause.async_wait([this](error_code) { accept(); });
      }
      if (make_room()) connections.emplace_back(std::make_shared<Connection>(std::move(socket), *this))->begin();
      accept();
    });
  }

  PlayLimits limits;
  std::function<std::optional<Response>(const Request&)> refusal;
  std::function<Response(const Request&)> answer;
  asio::io_context context;
  tcp::acceptor acceptor{context};
  asio::steady_timer pause{context};
  std::vector<std::shared_ptr<Connection>> connections;  ///< the oldest first
  asio::thread_pool answerers{kAnswerers};
};

PlayServer::PlayServer(PlayLimits limits) : inside_(std::make_unique<Inside>(limits)) {}
PlayServer::~PlayServer() = default;

std::optional<std::uint16_t> PlayServer::listen(std::uint16_t port) {
  tcp::acceptor& acceptor = inside_->acceptor;
  error_code trouble;
  const tcp::endpoint here(asio::ip::address_v4::loopback(), port);
  acceptor.open(here.protocol(), trouble);
  if (!trouble) acceptor.set_option(tcp::acceptor::reuse_address(true), trouble);
  if (!trouble) acceptor.bind(here, trouble);
  if (!trouble) acceptor.listen(tcp::acceptor::max_listen_connections, trouble);
  if (trouble) return std::nullopt;
  return acceptor.local_endpoint().port();
}

void PlayServer::serve(std::function<std::optional<Response>(const Request&)> refusal,
                       std::function<Response(const Request&)> answer, const std::function<bool()>& is_stopped) {
  inside_->refusal = std::move(refusal);
  inside_->answer = std::move(answer);
  inside_->accept();
  while (!is_stopped()) inside_->context.run_for(kBetweenLooks);
  inside_->answerers.join();
}

}  // namespace lockstep::cli
