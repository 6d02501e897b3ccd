#include "models/redis/script/questions/lua_questions.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "models/redis/script/questions/lua_tokens.hpp"

namespace lockstep::models::redis {
namespace {

/// How much an operator binds what stands on either side of it: Lua 5.1's table.
struct Priority {
  std::string_view sign;
  int left;
  int right;
};
constexpr std::array<Priority, 15> kBinary{{{"or", 1, 1},
                                            {"and", 2, 2},
                                            {"<", 3, 3},
                                            {">", 3, 3},
                                            {"<=", 3, 3},
                                            {">=", 3, 3},
                                            {"~=", 3, 3},
                                            {"==", 3, 3},
                                            {"..", 5, 4},
                                            {"+", 6, 6},
                                            {"-", 6, 6},
                                            {"*", 7, 7},
                                            {"/", 7, 7},
                                            {"%", 7, 7},
                                            {"^", 10, 9}}};
constexpr int kUnary = 8;
constexpr int kComparison = 3;
/// Blocks and expressions in each other, as Lua's own compiler counts them: it has no more (LUAI_MAXCCALLS). What is
/// deeper is no Lua, and must not be read by functions that call themselves.
constexpr int kDeepest = 200;

/// Reads a script that Lua has compiled before, so it looks only for where expressions begin and end.
class Rewriter {
 public:
  Rewriter(std::string_view script, std::vector<LuaToken> tokens, bool may_have_arguments)
      : script_(script), tokens_(std::move(tokens)), functions_(may_have_arguments ? 1 : 0) {}

  std::optional<std::string> rewritten() {
    for (const LuaToken& token : tokens_) {
      if (token.is(kQuestion)) return std::nullopt;
    }
    block();
    if (failed_ || !at_end()) return std::nullopt;
    std::string out;
    std::size_t copied = 0;
    for (const auto& [position, text] : inserted_) {
      out += script_.substr(copied, position - copied);
      out += text.closing;
      for (auto opening = text.openings.rbegin(); opening != text.openings.rend(); ++opening) out += *opening;
      copied = position;
    }
    return out + std::string(script_.substr(copied));
  }

 private:
  struct Expression {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool is_number = false;    ///< that is written there
    bool is_constant = false;  ///< likewise: another value
  };
  /// What is put in at one place: what ends there comes before what begins there. Of several things that begin at one
  /// place the one that is found last is the outermost.
  struct Inserted {
    std::string closing;
    std::vector<std::string> openings;
  };
  class Level {
   public:
    explicit Level(Rewriter& rewriter) : rewriter_(rewriter) {
      if (++rewriter_.depth_ > kDeepest) rewriter_.fail();
    }
    ~Level() { --rewriter_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Rewriter& rewriter_;
  };

  // --- Tokens.

  const LuaToken& token() const { return tokens_[next_]; }
  bool is(std::string_view text) const { return token().is(text); }
  bool at_end() const { return token().kind == LuaToken::Kind::end; }
  std::size_t last_end() const { return next_ == 0 ? 0 : tokens_[next_ - 1].end; }
  void advance() {
    if (!at_end()) ++next_;
  }
  bool skip(std::string_view text) {
    if (!is(text)) return false;
    advance();
    return true;
  }
  void expect(std::string_view text) {
    if (!skip(text)) fail();
  }
  void name() {
    if (token().kind != LuaToken::Kind::word) fail();
    advance();
  }
  void fail() {
    failed_ = true;
    next_ = tokens_.size() - 1;
  }

  // --- What is put in.

  void open(const Expression& e, std::string_view tag) {
    inserted_[e.begin].openings.push_back(" " + std::string(kQuestion) + "('" + std::string(tag) + "',");
  }
  void pass(const Expression& e, std::string_view tag) {
    open(e, tag);
    inserted_[e.end].closing += ")";
  }
  /// What is left of the sign is complete when Lua has read the sign, and has that line in errors: so the comma comes
  /// just before it.
  void pass_left(const Expression& e, std::size_t sign) {
    open(e, "l");
    inserted_[sign].closing += ",0)";
  }
  void compare(const Expression& a, const LuaToken& sign, const Expression& b) {
    const bool is_equality = sign.is("==") || sign.is("~=");
    if ((is_equality && (a.is_constant || b.is_constant)) || (a.is_number && b.is_number)) return;
    pass_left(a, sign.begin);
    pass(b, sign.text);
  }
  void key() {
    const Expression e = expression();
    if (!e.is_constant && !e.is_number) pass(e, "k");
  }

  // --- Expressions.

  Expression expression(int limit = 0) {
    const Level level(*this);
    Expression e;
    e.begin = token().begin;
    if (is("not") || is("-") || is("#")) {
      const bool is_minus = is("-");
      advance();
      e.is_number = expression(kUnary).is_number && is_minus;
    } else {
      simple(e);
    }
    e.end = last_end();
    for (;;) {
      const auto op = std::find_if(kBinary.begin(), kBinary.end(), [&](const Priority& p) { return is(p.sign); });
      if (op == kBinary.end() || op->left <= limit || failed_) return e;
      const LuaToken sign = token();
      advance();
      const Expression right = expression(op->right);
      if (op->left == kComparison) compare(e, sign, right);
      e = {e.begin, last_end()};
    }
  }

  void simple(Expression& e) {
    e.is_number = token().kind == LuaToken::Kind::number;
    e.is_constant = token().kind == LuaToken::Kind::string || is("nil") || is("true") || is("false");
    if (e.is_number || e.is_constant) return advance();
    if (is("...")) return functions_ > 0 ? advance() : fail();
    if (is("{")) return table();
    if (skip("function")) return body();
    suffixed(&e);
  }

  /// A name or an expression in parentheses, and what is taken of it.
  void suffixed(Expression* e = nullptr) {
    if (skip("(")) {
      const Expression inner = expression();
      expect(")");
      if (e != nullptr) {
        e->is_number = inner.is_number;
        e->is_constant = inner.is_constant;
      }
    } else {
      name();
    }
    while (!failed_) {
      if (skip(".")) {
        name();
      } else if (skip("[")) {
        key();
        expect("]");
      } else if (skip(":")) {
        name();
        arguments();
      } else if (is("(") || is("{") || token().kind == LuaToken::Kind::string) {
        arguments();
      } else {
        return;
      }
      if (e != nullptr) e->is_number = e->is_constant = false;
    }
  }

  void arguments() {
    if (token().kind == LuaToken::Kind::string) return advance();
    if (is("{")) return table();
    expect("(");
    if (!is(")")) expressions();
    expect(")");
  }

  void expressions() {
    do {
      expression();
    } while (skip(",") && !failed_);
  }

  void table() {
    expect("{");
    while (!is("}") && !failed_) {
      if (skip("[")) {
        key();
        expect("]");
        expect("=");
      } else if (token().kind == LuaToken::Kind::word && tokens_[next_ + 1].is("=")) {
        name();
        advance();
      }
      expression();
      if (!skip(",") && !skip(";")) break;
    }
    expect("}");
  }

  /// A function, from its parameters on.
  void body() {
    ++functions_;
    expect("(");
    while (!skip(")") && !failed_) advance_in_parameters();
    block();
    expect("end");
    --functions_;
  }
  void advance_in_parameters() {
    if (at_end()) return fail();
    advance();
  }

  // --- Statements.

  void block() {
    const Level level(*this);
    while (!failed_ && !at_end() && !is("end") && !is("else") && !is("elseif") && !is("until")) {
      statement();
      skip(";");
    }
  }

  void statement() {
    if (skip("if")) return conditional();
    if (skip("while")) {
      expression();
      return do_block();
    }
    if (is("do")) return do_block();
    if (skip("for")) return loop();
    if (skip("repeat")) {
      block();
      expect("until");
      expression();
      return;
    }
    if (skip("function")) {
      name();
      while ((skip(".") || skip(":")) && !failed_) name();
      return body();
    }
    if (skip("local")) return local();
    if (skip("return")) {
      if (!at_end() && !is(";") && !is("end") && !is("else") && !is("elseif") && !is("until")) expressions();
      return;
    }
    if (skip("break")) return;
    suffixed();
    while (skip(",") && !failed_) suffixed();
    if (skip("=")) expressions();
  }

  void conditional() {
    do {
      expression();
      expect("then");
      block();
    } while (skip("elseif") && !failed_);
    if (skip("else")) block();
    expect("end");
  }

  void do_block() {
    expect("do");
    block();
    expect("end");
  }

  void loop() {
    name();
    while (skip(",") && !failed_) name();
    if (!skip("=")) expect("in");
    expressions();
    do_block();
  }

  void local() {
    if (skip("function")) {
      name();
      return body();
    }
    do {
      name();
    } while (skip(",") && !failed_);
    if (skip("=")) expressions();
  }

  std::string_view script_;
  std::vector<LuaToken> tokens_;
  std::size_t next_ = 0;
  int functions_;  ///< around what is read
  int depth_ = 0;  ///< blocks and expressions around it
  bool failed_ = false;
  std::map<std::size_t, Inserted> inserted_;
};

}  // namespace

std::optional<std::string> with_questions(std::string_view script, bool may_have_arguments) {
  std::optional<std::vector<LuaToken>> tokens = lua_tokens(script);
  if (!tokens) return std::nullopt;
  return Rewriter(script, *std::move(tokens), may_have_arguments).rewritten();
}

}  // namespace lockstep::models::redis
