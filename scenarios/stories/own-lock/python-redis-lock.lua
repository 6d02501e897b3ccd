-- python-redis-lock 2.3.0: SET NX EX, waiters that a list wakes, and a thread that renews.
-- Source: github.com/ionelmc/python-redis-lock, src/redis_lock/__init__.py, commit d9a34b4c2e20a8b3a3e74e4c9d897c76413a9ad3 (Python).

summary = "python-redis-lock 2.3.0: SET NX EX, BLPOP for waiters, a renewing thread"
claims = { "mutual-exclusion", "own-release", "recoverable" }
background = true
parameters = {
  expire = { default = "60s", role = "lease", meaning = "whole seconds" },
  auto_renewal = { default = true, meaning = "a thread sets the key again, each two thirds of the time" },
  renewal_compares = { default = false, meaning = "not in the library: the repair; it renews only what is its own" },
}

local unlock_script = [[
if redis.call('get', KEYS[1]) == ARGV[1] then
  redis.call('del', KEYS[2])
  redis.call('lpush', KEYS[2], 1)
  return redis.call('del', KEYS[1])
end
return 0
]]

local renew_script = [[
if redis.call('get', KEYS[1]) == ARGV[1] then
  return redis.call('expire', KEYS[1], ARGV[2])
end
return 0
]]

local function signal_of(c)
  return "lock-signal:" .. c.key
end

local function renew(w, id)
  local seconds = w.parameters.expire / 1000
  if w.parameters.renewal_compares then
    local reply = w.redis:eval(renew_script, { w.key }, { id, seconds })
    return reply == 1
  end
  -- Whoever has it now: XX asks only whether there is a key. The library does not look at the answer.
  local reply = w.redis:set(w.key, id, { xx = true, ex = seconds })
  if reply == unknown then
    return nil
  end
  return true
end

function acquire(c)
  local id = c:token()
  local seconds = c.parameters.expire / 1000
  local timed_out = false
  while true do
    local reply = c.redis:call("SET", c.key, id, "NX", "EX", seconds)
    if reply == "OK" then
      break
    end
    if timed_out or reply == unknown then
      return nil
    end
    local signal = c.redis:blpop(signal_of(c), seconds)
    timed_out = signal == nil or signal == unknown
  end
  local hold = { token = id, renewed = c.parameters.auto_renewal }
  if c.parameters.auto_renewal then
    hold.renewer = c:every(c.parameters.expire * 2 / 3, function(w)
      return renew(w, id)
    end)
  end
  return hold
end

function try_acquire(c)
  local id = c:token()
  local reply = c.redis:call("SET", c.key, id, "NX", "EX", c.parameters.expire / 1000)
  return reply == "OK" and id or nil
end

function release(c, hold)
  if hold.renewer then
    hold.renewer:stop()
  end
  return c.redis:eval(unlock_script, { c.key, signal_of(c) }, { hold.token }) == 1
end
