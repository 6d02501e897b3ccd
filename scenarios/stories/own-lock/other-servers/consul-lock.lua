-- Consul's lock: a key that a session acquires. Whoever finds it acquired asks by blocking queries until it is not; the
-- holder watches it in the same way.
-- The twin of the algorithm consul-lock. Source: Consul 1.18, api/lock.go.

server = "consul"
summary = "Consul's lock: a key that a session acquires, watched by whoever waits and by the holder"
claims = { "mutual-exclusion", "own-release", "recoverable" }
blind_to_names = true
parameters = {
  ttl = { default = "15s", role = "session_ttl", meaning = "TTL of the session, renewed every half of it" },
  lock_delay = { default = "15s", role = "lock_delay", meaning = "after its session has ended nobody gets the lock" },
  datacentre = { default = "dc1", choices = { "dc1", "dc2", "dc3" }, meaning = "whose servers are asked (?dc=)" },
  wait = { default = "10s", meaning = "how long one attempt waits until the lock is free; 0ms: for ever" },
  wait_time = { default = "15s", meaning = "how long one blocking query waits, and up to a sixteenth longer" },
  retry_time = { default = "5s", role = "longest_delay", meaning = "pause after a refusal without anybody who has it" },
  sequencer = { default = false, meaning = "reads the LockIndex of the key after it has the lock: a fencing token" },
  asks_why = { default = true, meaning = "after a refusal it looks whether somebody has the lock (since #1008)" },
  unlocks_when_lost = { default = true, meaning = "ends its session when it hears that the lock is lost, or nothing" },
  survives_errors = { default = true, meaning = "a renewal without an answer is tried again (since #912)" },
  ends_with_renewal = { default = false, meaning = "a session not renewed for its TTL counts as lost (not in Consul)" },
}

-- LockFlagValue: marks a key as a lock's. Text, since a number of Lua has no room for 64 bits.
local lock_flag = "3304740253564472344"

local function write(c, how, session)
  local options = { flags = lock_flag, dc = c.parameters.datacentre }
  options[how] = session
  return c.consul:put(c.key, "", options)
end

-- True: the own session has the key.
local function get_key(c, session, patience)
  local p = c.parameters
  local is_endless = p.wait == 0
  local index, is_first = 0, true
  while is_first or patience and not patience:over() do
    is_first = false
    -- 2: wait until nobody has it.
    local wait = p.wait_time
    if not is_endless and p.wait < wait then
      wait = p.wait
    end
    local kv, at = c.consul:get(c.key, { index = index, wait = wait, repeated = is_endless, dc = p.datacentre })
    if kv == unknown or error_of(kv) or kv and kv.flags ~= lock_flag then
      return false
    end
    if kv and kv.session == session then
      return true
    end
    if kv and kv.session then
      index = at
    else
      -- 3: acquire the key.
      local got = write(c, "acquire", session)
      if got == true or got ~= false then
        return got == true
      end
      -- 4: somebody was faster; or nobody has it, and a lock-delay is in force. (Until #1008 nobody asked.)
      index = 0
      if p.asks_why then
        kv, at = c.consul:get(c.key, { dc = p.datacentre })
        if kv == unknown or error_of(kv) then
          return false
        end
        if kv and kv.session then
          index = at
        end
      end
      if index == 0 and patience then
        c:latch():wait({ length = p.retry_time, patience = patience })
      end
    end
  end
  return false
end

-- monitorLock. Whoever hears that the lock is lost, or hears nothing, calls Unlock, as `consul lock` does.
local function monitor(c, session, attempt)
  local index = 0
  while true do
    local options = { index = index, consistency = "consistent", repeated = true, dc = c.parameters.datacentre }
    local kv, at = c.consul:get(c.key, options)
    if c.consul:is_given_back(session) then
      return
    end
    if kv == unknown or kv == nil or error_of(kv) or kv.session ~= session then
      break
    end
    index = at
  end
  c:lost(attempt)
  if c.parameters.unlocks_when_lost then
    write(c, "release", session)
    c.consul:close(session)
  end
end

local function take(c, patience)
  local p = c.parameters
  -- 1: a session.
  local session = c.consul:session({
    ttl = p.ttl,
    lock_delay = p.lock_delay,
    dc = p.datacentre,
    ends_with_error = not p.survives_errors,
    ends_with_renewal = p.ends_with_renewal,
  })
  if session == unknown then
    return nil
  end
  local hold = { session = session }
  local is_held = get_key(c, session, patience)
  if is_held and p.sequencer then
    -- How often the key was acquired so far.
    local kv = c.consul:get(c.key, { consistency = "consistent", dc = p.datacentre })
    is_held = kv ~= unknown and kv ~= nil and not error_of(kv) and kv.session == session
    hold.fencing_token = is_held and kv.lock_index or nil
  end
  if not is_held then
    c.consul:close(session)
    return nil
  end
  -- 5: watch the key from now on. Who asks only whether the lock is free leaves it to its session.
  if patience then
    local attempt = c:attempt()
    c:spawn(function(b)
      monitor(b, session, attempt)
    end)
  end
  return hold
end

function acquire(c)
  local wait = c.parameters.wait
  return take(c, c:patience(wait > 0 and wait or nil))
end

function try_acquire(c)
  return take(c, nil)
end

function release(c, hold)
  -- 6: release the key. Unlock does not look at what it is told.
  local released = write(c, "release", hold.session)
  -- 7: end the session.
  c.consul:close(hold.session)
  return released ~= unknown and not error_of(released)
end
