-- redis-lock for Node: SET PX NX with a time as the value, and a release that only looks at its own clock.
-- Source: github.com/errorception/redis-lock, index.js, commit 2ba7a4ca5b9bd31c3a94c043a20442f591f550c2 (JavaScript).

summary = "redis-lock for Node: SET PX NX, and DEL if its own clock says that there is time"
claims = { "mutual-exclusion", "own-release", "recoverable" }
blind_to_names = true
parameters = {
  timeout = { default = "5s", role = "lease", meaning = "time to live of the key" },
  attempts = 1000,
  retry = "50ms",
}

function acquire(c)
  local ends = c:now() + (c.parameters.timeout + 1)
  if c.redis:call("SET", c.key, ends, "PX", c.parameters.timeout, "NX") == "OK" then
    return { ends = ends }
  end
  return nil
end

function release(c, hold)
  if hold.ends > c:now() then
    return c.redis:del(c.key) == 1
  end
  return false
end
