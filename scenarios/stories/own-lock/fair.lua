-- A fair lock: whoever waits stands in a queue, and a release tells the first of it.
-- The twin of the algorithm redisson-fair.

summary = "a queue at the server, by the clocks of the clients"
claims = { "mutual-exclusion", "own-release", "recoverable", "reentrancy", "no-lost-wakeup" }
background = true
subscribes = true
parameters = {
  lease = { default = "0ms", role = "lease", meaning = "explicit lease; 0ms: none, so a watchdog renews it" },
  watchdog_timeout = { default = "30s", role = "renewed_lease", meaning = "lease of a hold that is renewed, every third of it" },
  wait = { default = "10s", meaning = "how long one attempt waits" },
  thread_wait = { default = "300s", meaning = "how long a place in the queue counts, beyond those before it" },
  renewal_survives_errors = { default = false, meaning = "a renewal without an answer is tried again" },
  renewal_tells_loss = { default = false, meaning = "the owner hears that its lock is gone" },
}

-- Whoever should have given up by this clock is no longer asked.
local drop_late = [[
local head = redis.call('LINDEX', queue, 0)
while head do
  local deadline = redis.call('ZSCORE', deadlines, head)
  if deadline and tonumber(deadline) > now then
    break
  end
  redis.call('ZREM', deadlines, head)
  redis.call('LPOP', queue)
  head = redis.call('LINDEX', queue, 0)
end
]]

-- KEYS: lock, queue, deadlines. ARGV: lease (ms), owner, how long it waits (ms), its clock (ms).
-- Gives nothing if it has the lock now, else how long to wait (ms).
local lock_script = [[
local lock, queue, deadlines = KEYS[1], KEYS[2], KEYS[3]
local lease, me, wait, now = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
]] .. drop_late .. [[
if redis.call('EXISTS', lock) == 0 and (not head or head == me) then
  redis.call('LPOP', queue)
  redis.call('ZREM', deadlines, me)
  for _, other in ipairs(redis.call('ZRANGE', deadlines, 0, -1)) do
    redis.call('ZINCRBY', deadlines, -wait, other)
  end
  redis.call('HSET', lock, me, 1)
  redis.call('PEXPIRE', lock, lease)
  return false
end
if redis.call('HEXISTS', lock, me) == 1 then
  redis.call('HINCRBY', lock, me, 1)
  redis.call('PEXPIRE', lock, lease)
  return false
end
local mine = redis.call('ZSCORE', deadlines, me)
if mine then
  return tonumber(mine) - wait - now
end
local last = redis.call('LINDEX', queue, -1)
local left = last and tonumber(redis.call('ZSCORE', deadlines, last)) - now or redis.call('PTTL', lock)
if redis.call('ZADD', deadlines, left + wait + now, me) == 1 then
  redis.call('RPUSH', queue, me)
end
return left
]]

-- KEYS: lock, queue, deadlines. ARGV: lease (ms), owner, clock (ms), the beginning of channel names.
-- Gives 1 if the lock is free now, 0 if the owner still holds it, nothing if it is another's.
local unlock_script = [[
local lock, queue, deadlines = KEYS[1], KEYS[2], KEYS[3]
local lease, me, now, channel = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
]] .. drop_late .. [[
local function tell_next()
  if head then
    redis.call('PUBLISH', channel .. head, '0')
  end
  return 1
end
if redis.call('EXISTS', lock) == 0 then
  return tell_next()
end
if redis.call('HEXISTS', lock, me) == 0 then
  return false
end
if redis.call('HINCRBY', lock, me, -1) > 0 then
  redis.call('PEXPIRE', lock, lease)
  return 0
end
redis.call('DEL', lock)
return tell_next()
]]

-- KEYS: queue, deadlines. ARGV: owner, how long it has waited (ms).
local give_up_script = [[
local is_behind = false
for _, other in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  if is_behind then
    redis.call('ZINCRBY', KEYS[2], -tonumber(ARGV[2]), other)
  elseif other == ARGV[1] then
    is_behind = true
  end
end
redis.call('ZREM', KEYS[2], ARGV[1])
return redis.call('LREM', KEYS[1], 0, ARGV[1])
]]

-- The plain lock, which does not care for the queue.
local try_script = [[
if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return redis.call('PTTL', KEYS[1])
end
redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return false
]]

local renew_script = [[
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return 0
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
]]

local function names(c)
  return "redisson_lock_queue:{" .. c.key .. "}", "redisson_lock_timeout:{" .. c.key .. "}",
         "redisson_lock__channel:{" .. c.key .. "}:"
end

local function owner(c)
  return c.process .. ":" .. c.thread
end

local function lease_of(c)
  return c.parameters.lease > 0 and c.parameters.lease or c.parameters.watchdog_timeout
end

local function hold_of(c)
  if c.parameters.lease > 0 then
    return { renewed = false }
  end
  local me, acquire = owner(c), c:attempt()
  local watch
  watch = c:every(c.parameters.watchdog_timeout / 3, function(w)
    local reply = w.redis:eval(renew_script, { w.key }, { w.parameters.watchdog_timeout, me })
    if type(reply) == "number" then
      if reply == 0 and w.parameters.renewal_tells_loss then
        w:lost(acquire)
      end
      return reply == 1
    end
    if not w.parameters.renewal_survives_errors then
      watch:stop()
    end
    return nil
  end)
  return { renewed = true, watch = watch }
end

local function try_once(c)
  local queue, deadlines = names(c)
  return c.redis:eval(lock_script, { c.key, queue, deadlines },
                      { lease_of(c), owner(c), c.parameters.thread_wait, c:now() })
end

function acquire(c)
  local patience = c:patience(c.parameters.wait)
  local queue, deadlines, channels = names(c)
  -- 1: take it, or stand in the queue.
  local reply = try_once(c)
  if reply == nil then
    return hold_of(c)
  end
  -- 2: each waiter has a channel of its own.
  local channel
  if reply ~= unknown and not patience:over() then
    channel = c:subscribe(channels .. owner(c), { patience = patience })
  end
  while channel and not patience:over() do
    reply = try_once(c)
    if type(reply) ~= "number" or patience:over() then
      break
    end
    -- 3: until it is told, or as long as the script said.
    channel:wait({ lease = reply, patience = patience })
  end
  if channel then
    channel:leave()
  end
  if reply == nil then
    return hold_of(c)
  end
  -- 4: leave the queue.
  c.redis:eval(give_up_script, { queue, deadlines }, { owner(c), c.parameters.thread_wait })
  return nil
end

function try_acquire(c)
  if c.redis:eval(try_script, { c.key }, { lease_of(c), owner(c) }) == nil then
    return hold_of(c)
  end
end

function release(c, hold)
  local queue, deadlines, channels = names(c)
  local reply = c.redis:eval(unlock_script, { c.key, queue, deadlines }, { lease_of(c), owner(c), c:now(), channels })
  if hold.watch then
    hold.watch:stop()
  end
  return type(reply) == "number"
end
