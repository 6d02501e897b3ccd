-- A semaphore as a counter of free permits, without owners or leases; a release tells those who wait.
-- The twin of the algorithm redisson-semaphore.

summary = "a counter of free permits, without owners or leases"
subscribes = true
blind_to_names = true
mode = "shared"
parameters = {
  limit = { default = 1, role = "places", meaning = "how many permits there are" },
  wait = { default = "10s", meaning = "how long one attempt waits for a message" },
}

local acquire_script = [[
local free = tonumber(redis.call('GET', KEYS[1]) or 0)
if free < 1 then
  return 0
end
redis.call('DECRBY', KEYS[1], 1)
return 1
]]

local release_script = [[
local free = redis.call('INCRBY', KEYS[1], 1)
redis.call('PUBLISH', KEYS[2], '0')
return free
]]

local function channel_of(c)
  return "redisson_sc:{" .. c.key .. "}"
end

-- Whoever comes first says how many there are.
local function set_permits(c)
  c.redis:set(c.key, c.parameters.limit, { nx = true })
end

local function try_once(c)
  return c.redis:eval(acquire_script, { c.key }, {})
end

-- The counter does not say whose a permit is, so the script does.
local function hold_of(c, id)
  c:granted(id)
  return id
end

function acquire(c)
  local patience = c:patience(c.parameters.wait)
  local id = c:token()
  set_permits(c)
  local reply = try_once(c)
  if reply == 1 then
    return hold_of(c, id)
  end
  if reply == unknown or patience:over() then
    return nil
  end
  local channel = c:subscribe(channel_of(c), { patience = patience })
  if not channel then
    return nil
  end
  while not patience:over() do
    reply = try_once(c)
    if reply == 1 or reply == unknown or patience:over() then
      break
    end
    channel:wait({ patience = patience })
  end
  channel:leave()
  return reply == 1 and hold_of(c, id) or nil
end

function try_acquire(c)
  local id = c:token()
  set_permits(c)
  return try_once(c) == 1 and hold_of(c, id) or nil
end

function release(c, hold)
  c:freed(hold.token)
  local reply = c.redis:eval(release_script, { c.key, channel_of(c) }, {})
  return type(reply) == "number"
end
