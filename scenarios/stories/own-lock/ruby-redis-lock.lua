-- mlanett-redis-lock: two keys, an owner and an end in whole seconds, set together; WATCH guards what removes them.
-- Source: github.com/mlanett/redis-lock, lib/redis-lock.rb, commit 7887d15117212afdab1b73863e2eb6ff899eefe1 (Ruby).

summary = "mlanett-redis-lock: MSETNX of an owner and an end, by the clocks of those who come later"
claims = { "mutual-exclusion", "own-release", "recoverable" }
parameters = {
  life = { default = "60s", role = "newcomers_lease", meaning = "whole seconds" },
  owner = { default = "process", choices = { "process", "thread" }, meaning = "host and process as in the library, or the thread as well" },
  attempts = 80,
  retry = "125ms",
}

local function keys_of(c)
  return c.key, "lock:expire:" .. c.key
end

local function owner_of(c)
  if c.parameters.owner == "thread" then
    return c.process .. ":" .. c.thread
  end
  return c.process
end

-- Deletes both keys if nobody has touched them since they were watched.
local function delete_watched(c, owner_key, expire_key)
  local done = c.redis:transaction({ { "DEL", owner_key }, { "DEL", expire_key } })
  return done ~= nil and done ~= unknown and done.n == 2, done
end

local function is_stale(c)
  local owner_key, expire_key = keys_of(c)
  c.redis:watch(owner_key, expire_key)
  local owner = c.redis:get(owner_key)
  local expire = c.redis:get(expire_key)
  if owner == unknown or expire == unknown then
    return false
  end
  if (owner or expire) and (not owner or not expire or tonumber(expire) < c:now("s")) then
    return (delete_watched(c, owner_key, expire_key))
  end
  c.redis:unwatch()
  return false
end

function acquire(c)
  local owner_key, expire_key = keys_of(c)
  for try = 1, 2 do
    local ends = c:now("s") + c.parameters.life / 1000
    if c.redis:msetnx(owner_key, owner_of(c), expire_key, ends) == 1 then
      return { lease_until = ends }
    end
    if try == 2 or not is_stale(c) then
      return nil
    end
  end
end

function release(c)
  local owner_key, expire_key = keys_of(c)
  c.redis:watch(owner_key, expire_key)
  if c.redis:get(owner_key) == owner_of(c) then
    return (delete_watched(c, owner_key, expire_key))
  end
  c.redis:unwatch()
  return false
end
