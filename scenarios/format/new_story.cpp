#include "scenarios/format/new_story.hpp"

#include <fmt/format.h>

#include "scenarios/format/toml/toml_text.hpp"
#include "scenarios/format/writer.hpp"

namespace lockstep::scenarios {
namespace {

using models::locks::Entry;
using models::locks::ParameterSpec;

/// Short enough for a timeline that fits on a screen.
constexpr std::string_view kShortLease = "\"100ms\"";

std::string lock_table(const Entry& entry) {
  std::string text = fmt::format(
      "[lock]\n"
      "{}\n",
      entry.script.empty() ? fmt::format("algorithm = {}  # lockstep list algorithms shows all of them",
                                         toml_text::basic_string(entry.id))
                           : fmt::format("script = {}  # docs/your-own-lock.md says what a script can do",
                                         toml_text::basic_string(entry.id)));
  const ParameterSpec* lease = models::locks::find_lease(entry.parameters);
  for (const ParameterSpec& spec : entry.parameters) {
    const bool is_lease = &spec == lease;
    text += is_lease ? fmt::format("{} = {}", spec.name, kShortLease)
                     : fmt::format("# {} = {}", spec.name, toml_value(spec.fallback));
    text += fmt::format("  # {}; {}\n", models::locks::kind_of(spec), spec.meaning);
  }
  return text;
}

}  // namespace

std::string new_story(const Entry& entry, std::string_view title, std::string_view file) {
  std::string text = fmt::format(
      "# A story for Lockstep: who uses which lock, and what happens to them.\n"
      "#\n"
      "#   lockstep run   {0}   plays it once, in virtual time, and shows what happened\n"
      "#   lockstep check {0}   plays it in every order and with every delay: what breaks, and from which margin on\n"
      "#\n"
      "# A length of time is \"5ms\" or \"1s\"; [\"1ms\", \"5ms\"] is any between the two. "
      "docs/manual/scenario-format.md has all keys.\n"
      "\n"
      "title = {1}\n"
      "# story = \"What happens, for readers.\"\n"
      "# lesson = \"What to take from it.\"\n"
      "\n",
      file, toml_text::basic_string(title));
  text += lock_table(entry);
  if (entry.many_nodes) text += "\n# Each on its own: the lock needs a majority of them.\n[servers]\ncount = 3\n";
  const std::size_t servers = usual_servers(entry);
  if (!entry.many_nodes && servers > 1) text += fmt::format("\n[servers]\ncount = {}\n", servers);
  text +=
      "\n"
      "[network]\n"
      "latency = \"1ms\"    # one way\n"
      "timeout = \"50ms\"   # how long a client waits for an answer\n"
      "\n"
      "[[client]]\n"
      "name = \"A\"\n"
      "hold = \"30ms\"      # how long it works with the lock\n"
      "\n"
      "[[client]]\n"
      "name = \"B\"\n"
      "acquire_at = [\"0ms\", \"200ms\"]  # run takes the first, check all of them\n"
      "hold = \"30ms\"\n"
      "# attempts = 10    # where the algorithm tries more than once\n"
      "\n"
      "# What might happen: for check, which finds out how long it takes to break something.\n"
      "# Others: crash (of a client or a server), lose and delay (a message), partition, jump (of a clock), skew.\n"
      "[[may]]\n"
      "kind = \"pause\"      # a garbage collection, a page fault, a virtual machine that is moved\n"
      "client = \"A\"\n"
      "length = [\"0ms\", \"500ms\"]\n"
      "\n"
      "# What does happen, in run. Take the # away, let B come at \"110ms\", and look at the timeline.\n"
      "# [[fault]]\n"
      "# kind = \"pause\"\n"
      "# client = \"A\"\n"
      "# after = \"acquire\"\n"
      "# length = \"150ms\"\n"
      "\n"
      "# What you expect. Without it, what the algorithm claims; lockstep list properties shows what can be asked.\n"
      "# [expect.run]\n"
      "# mutual-exclusion = \"holds\"\n"
      "# [expect.check]\n"
      "# mutual-exclusion = \"violated\"\n";
  return text;
}

std::string new_lock() {
  return R"(-- A lock of your own, for Lockstep: docs/your-own-lock.md says what a script can do.
-- One attempt to get the lock is `acquire`; waiting and trying again is the story's business (attempts, retry).

summary = "SET NX PX, release by a script that compares and deletes"

-- What it promises: each is judged. `lockstep list properties` shows all of them.
claims = { "mutual-exclusion", "own-release", "recoverable" }

-- Keys of [lock] in a story, with their defaults; c.parameters.ttl is a number of milliseconds.
parameters = {
  ttl = { default = "30s", role = "lease", meaning = "time to live of the key" },
}

-- What it does with the names of clients is to ask whether two are the same: then `check` need not tell them apart.
blind_to_names = true

local delete_if_mine = [[
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
]]

-- Every command is a place where others may come in between. Its reply is a number, a text, a table or nil; a reply that
-- never came is `unknown`: the command may have been carried out or not.
function acquire(c)
  local token = c:token()
  if c.redis:set(c.key, token, { nx = true, px = c.parameters.ttl }) == "OK" then
    return { token = token }
  end
  return nil
end

-- True: "I was the owner and released it". That is judged, too.
function release(c, hold)
  return c.redis:eval(delete_if_mine, { c.key }, { hold.token }) == 1
end
)";
}

}  // namespace lockstep::scenarios
