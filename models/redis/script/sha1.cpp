#include "models/redis/script/sha1.hpp"

#include <array>
#include <bit>
#include <cstdint>

namespace lockstep::models::redis {
namespace {

using Sha1State = std::array<std::uint32_t, 5>;
constexpr std::size_t kBlock = 64;

void absorb(Sha1State& state, std::string_view block) {
  std::array<std::uint32_t, 80> w;
  for (std::size_t i = 0; i < 16; ++i) {
    w[i] = 0;
    for (std::size_t j = 0; j < 4; ++j) w[i] = w[i] << 8 | static_cast<unsigned char>(block[4 * i + j]);
  }
  for (std::size_t i = 16; i < w.size(); ++i) w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);

  auto [a, b, c, d, e] = state;
  for (std::size_t i = 0; i < w.size(); ++i) {
    std::uint32_t f, k;
    if (i < 20) {
      f = (b & c) | (~b & d), k = 0x5a827999;
    } else if (i < 40) {
      f = b ^ c ^ d, k = 0x6ed9eba1;
    } else if (i < 60) {
      f = (b & c) | (b & d) | (c & d), k = 0x8f1bbcdc;
    } else {
      f = b ^ c ^ d, k = 0xca62c1d6;
    }
    const std::uint32_t next = std::rotl(a, 5) + f + e + k + w[i];
    e = d, d = c, c = std::rotl(b, 30), b = a, a = next;
  }
  state[0] += a, state[1] += b, state[2] += c, state[3] += d, state[4] += e;
}

}  // namespace

std::string sha1_hex(std::string_view bytes) {
  Sha1State state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  std::string_view rest = bytes;
  for (; rest.size() >= kBlock; rest.remove_prefix(kBlock)) absorb(state, rest.substr(0, kBlock));

  // The padding: a one bit, zeros, and the length in bits, in one block or two.
  std::string last(rest);
  last += '\x80';
  while (last.size() % kBlock != kBlock - 8) last += '\0';
  const std::uint64_t bits = std::uint64_t{bytes.size()} * 8;
  for (int shift = 56; shift >= 0; shift -= 8) last += static_cast<char>(bits >> shift & 0xff);
  for (std::size_t at = 0; at < last.size(); at += kBlock) absorb(state, std::string_view(last).substr(at, kBlock));

  std::string hex;
  for (const std::uint32_t word : state) {
    for (int shift = 28; shift >= 0; shift -= 4) hex += "0123456789abcdef"[word >> shift & 15];
  }
  return hex;
}

}  // namespace lockstep::models::redis
