-- Redisson's lock: a reentrant hash with a lease that a watchdog renews, and waiters that a message wakes.
-- The twin of the algorithm redisson-lock.

summary = "Redisson's lock: reentrant hash, watchdog, waiters woken by a message"
claims = { "mutual-exclusion", "own-release", "recoverable", "reentrancy", "truthful-reports", "faithful-renewal",
           "no-lost-wakeup" }
background = true
subscribes = true
blind_to_names = true
parameters = {
  lease = { default = "0ms", role = "lease", meaning = "explicit lease; 0ms: none, so a watchdog renews it" },
  watchdog_timeout = { default = "30s", role = "renewed_lease", meaning = "lease of a hold that is renewed, every third of it" },
  command_retries = { default = 0, meaning = "how often a command is sent again that was not answered" },
  passes_on_wakeups = { default = false, meaning = "a waiter that was woken and gives up wakes the next one of its process" },
  renewal_survives_errors = { default = false, meaning = "a renewal without an answer is tried again" },
  renewal_tells_loss = { default = false, meaning = "the owner hears that its lock is gone" },
  wait = { default = "10s", meaning = "how long one attempt waits for a message" },
}

local lock_script = [[
-- KEYS[1]: the lock, a hash of holds. ARGV: lease (ms), owner. Gives nothing if it is the owner's now, else what is left of the lease.
if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('HEXISTS', KEYS[1], ARGV[2]) == 1 then
  redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  return false
end
return redis.call('PTTL', KEYS[1])
]]

local unlock_script = [[
-- KEYS: the lock, its channel. ARGV: message, lease (ms), owner. Gives 1 if it is free now, 0 if it is still held, else nothing.
if redis.call('HEXISTS', KEYS[1], ARGV[3]) == 0 then
  return false
end
if redis.call('HINCRBY', KEYS[1], ARGV[3], -1) > 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return 0
end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', KEYS[2], ARGV[1])
return 1
]]

local renew_script = [[
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 1 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  return 1
end
return 0
]]

local force_script = [[
if redis.call('DEL', KEYS[1]) == 1 then
  redis.call('PUBLISH', KEYS[2], ARGV[1])
  return 1
end
return 0
]]

-- What is being renewed, by the key of the lock: lives as long as the process.
local renewals = {}

local function owner(c)
  return c.process .. ":" .. c.thread
end

local function channel_of(c)
  return "redisson_lock__channel:{" .. c.key .. "}"
end

-- The library's network layer: a command whose answer never came is sent again, whatever it may have done.
local function send(c, ...)
  local reply
  for _ = 0, c.parameters.command_retries do
    reply = c.redis:call(...)
    if reply ~= unknown then
      break
    end
  end
  return reply
end

local function forget(renewal)
  renewals[renewal.key] = nil
  renewal.watch:stop()
end

local function renew(w, renewal)
  local holder = renewal.holders[1]
  if not holder then
    forget(renewal)
    return true
  end
  local reply = w.redis:eval(renew_script, { renewal.key }, { w.parameters.watchdog_timeout, holder.owner })
  if reply == 1 then
    return true
  end
  if type(reply) == "number" then
    renewals[renewal.key] = nil
    if w.parameters.renewal_tells_loss then
      for _, loser in ipairs(renewal.holders) do
        w:lost(loser.acquire)
      end
    end
    return false
  end
  if not w.parameters.renewal_survives_errors then
    forget(renewal)
  end
  return nil
end

local function start_renewal(c)
  local renewal = renewals[c.key]
  if not renewal then
    renewal = { key = c.key, holders = {} }
    renewals[c.key] = renewal
    renewal.watch = c:every(c.parameters.watchdog_timeout / 3, function(w)
      return renew(w, renewal)
    end)
  end
  for _, holder in ipairs(renewal.holders) do
    if holder.thread == c.thread then
      holder.holds = holder.holds + 1
      return
    end
  end
  table.insert(renewal.holders, { thread = c.thread, owner = owner(c), acquire = c:attempt(), holds = 1 })
  renewal.watch:renews(renewal.holders[1].acquire)
end

local function stop_renewal(c)
  local renewal = renewals[c.key]
  if not renewal then
    return
  end
  for i, holder in ipairs(renewal.holders) do
    if holder.thread == c.thread then
      holder.holds = holder.holds - 1
      if holder.holds == 0 then
        table.remove(renewal.holders, i)
      end
      break
    end
  end
  if renewal.holders[1] then
    renewal.watch:renews(renewal.holders[1].acquire)
  else
    forget(renewal)
  end
end

local function lease_of(c)
  return c.parameters.lease > 0 and c.parameters.lease or nil
end

-- One command. Gives whether it has the lock, and the reply.
local function try_once(c)
  local lease = lease_of(c)
  local reply = send(c, "EVAL", lock_script, 1, c.key, lease or c.parameters.watchdog_timeout, owner(c))
  if reply ~= nil then
    return false, reply
  end
  c.lock.latest_lease = lease
  if not lease then
    start_renewal(c)
  end
  return true
end

local function hold_of(c)
  return { renewed = lease_of(c) == nil }
end

function try_acquire(c)
  if try_once(c) then
    return hold_of(c)
  end
end

function acquire(c)
  local patience = c:patience(c.parameters.wait)
  local got, reply = try_once(c)
  if got then
    return hold_of(c)
  end
  if type(reply) ~= "number" or patience:over() then
    return nil
  end
  -- Subscribe before trying again, so that no release in between goes unheard.
  local channel = c:subscribe(channel_of(c), { patience = patience })
  if not channel then
    return nil
  end
  local was_woken = false
  while not patience:over() do
    got, reply = try_once(c)
    if got or type(reply) ~= "number" or patience:over() then
      break
    end
    was_woken = channel:wait({ lease = reply, patience = patience })
  end
  if was_woken and not got and c.parameters.passes_on_wakeups then
    channel:pass_on()
  end
  channel:leave()
  return got and hold_of(c) or nil
end

function release(c)
  local lease = c.lock.latest_lease or c.parameters.watchdog_timeout
  local reply = send(c, "EVAL", unlock_script, 2, c.key, channel_of(c), "0", lease, owner(c))
  -- Whatever came of it, this thread's renewal is over.
  stop_renewal(c)
  return type(reply) == "number"
end

function call(c, what)
  local reply
  if what == "forceUnlock" then
    local renewal = renewals[c.key]
    if renewal then
      renewal.holders = {}
      forget(renewal)
    end
    reply = send(c, "EVAL", force_script, 2, c.key, channel_of(c), "0")
  elseif what == "isHeldByCurrentThread" then
    reply = send(c, "HEXISTS", c.key, owner(c))
  elseif what == "getHoldCount" then
    reply = send(c, "HGET", c.key, owner(c))
  else
    reply = send(c, "PTTL", c.key)
  end
  if reply == unknown then
    return nil
  end
  if what == "getHoldCount" then
    return reply ~= nil
  end
  if what == "remainTimeToLive" then
    return reply ~= -2
  end
  return reply == 1
end
