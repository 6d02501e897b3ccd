-- SET NX PX with a value of one's own, and a release that compares and deletes in one script of the server.
-- The twin of the algorithm set-nx-px-lua.

summary = "SET NX PX, release by a script that compares and deletes"
claims = { "mutual-exclusion", "own-release", "recoverable" }
blind_to_names = true
parameters = {
  ttl = { default = "30s", role = "lease", meaning = "time to live of the key" },
  fencing = { default = false, meaning = "draw a fencing token in the same step in which the lock is taken" },
  undo_unknown = { default = false, meaning = "release after a SET whose answer never came" },
}

local delete_if_mine = [[
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
]]

local set_with_token = [[
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return redis.call('INCR', KEYS[2])
end
return false
]]

function release(c, hold)
  return c.redis:eval(delete_if_mine, { c.key }, { hold.token }) == 1
end

function acquire(c)
  local p = c.parameters
  local hold = { token = c:token() }
  local reply
  if p.fencing then
    reply = c.redis:eval(set_with_token, { c.key, c.key .. ":token" }, { hold.token, p.ttl })
    hold.fencing_token = reply
  else
    reply = c.redis:set(c.key, hold.token, { nx = true, px = p.ttl })
  end
  if reply == unknown and p.undo_unknown then
    release(c, hold)
  end
  if reply == "OK" or type(reply) == "number" then
    return hold
  end
  return nil
end
