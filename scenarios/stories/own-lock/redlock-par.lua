-- Redlock that asks all servers at once: the lock is held by whoever holds a majority of independent servers, and only for what is left of the lease.
-- The twin of the algorithm redlock-par.

summary = "Redlock on independent servers, all asked at once"
claims = { "mutual-exclusion", "own-release", "recoverable" }
servers = "several"
blind_to_names = true
parameters = {
  ttl = { default = "10s", role = "lease", meaning = "time to live of each key" },
  node_timeout = { default = "50ms", role = "server_patience", meaning = "patience with one server" },
  drift_percent = { default = 1, meaning = "share of the lease that is given up for clock drift" },
  drift_extra = { default = "2ms", meaning = "and this much more" },
  quorum = { default = 0, meaning = "votes that are needed; 0: more than half of the servers" },
  check_validity = { default = true, meaning = "look whether anything is left of the lease" },
  clock = { default = "monotonic", choices = { "monotonic", "wall" }, meaning = "what measures the time an attempt took" },
  wait = { default = "all", choices = { "all", "decided" }, meaning = "until all have answered, or only until the votes are decided" },
  unlock = { default = "all", choices = { "all", "granted" }, meaning = "whom a failed attempt gives back to" },
  attempts = 3,
  retry = { "100ms", "300ms" },
}

local delete_if_mine = [[
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
]]

local function unlock(c, token, servers)
  local p = c.parameters
  local votes = c:ask({ "EVAL", delete_if_mine, 1, c.key, token }, { yes = 1, within = p.node_timeout, servers = servers })
  return votes.count > math.floor(#c.redis / 2)
end

function acquire(c)
  local p = c.parameters
  local function now()
    if p.clock == "wall" then
      return c:now()
    end
    return c:monotonic()
  end

  -- 1: look at the clock before anything is sent, and draw a value for this attempt alone.
  local started = now()
  local token = c:token()

  -- 2: ask all servers at once, with one patience for all. A missing reply is no vote.
  local quorum = p.quorum ~= 0 and p.quorum or math.floor(#c.redis / 2) + 1
  local votes = c:ask({ "SET", c.key, token, "NX", "PX", p.ttl },
                      { within = p.node_timeout, enough = p.wait == "decided" and quorum or nil })

  -- 3 to 5: a majority, and something left of the lease.
  local drift = p.ttl * p.drift_percent / 100 + p.drift_extra
  local valid_until = p.check_validity and started + (p.ttl - drift) or nil
  local is_too_late = valid_until and now() >= valid_until
  if votes.count >= quorum and not is_too_late then
    return { token = token, valid_until = valid_until, monotonic = p.clock ~= "wall" }
  end

  -- 6: give back what was taken, also where no answer came.
  local granted
  if p.unlock == "granted" then
    granted = {}
    for i = 1, #c.redis do
      if votes[i] then
        table.insert(granted, i)
      end
    end
  end
  unlock(c, token, granted)
  return nil
end

function release(c, hold)
  return unlock(c, hold.token, nil)
end
