-- SET NX PX with a value of one's own, and a release that compares and deletes in one script of the server.
-- The twin of the algorithm set-nx-px-lua.

summary = "SET NX PX, release by a script that compares and deletes"
claims = { "mutual-exclusion", "own-release", "recoverable" }
blind_to_names = true
parameters = {
  ttl = { default = "30s", role = "lease", meaning = "time to live of the key" },
  undo_unknown = { default = false, meaning = "release after a SET whose answer never came" },
}

local delete_if_mine = [[
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
]]

function release(c, hold)
  return c.redis:eval(delete_if_mine, { c.key }, { hold.token }) == 1
end

function acquire(c)
  local token = c:token()
  local reply = c.redis:set(c.key, token, { nx = true, px = c.parameters.ttl })
  if reply == "OK" then
    return token
  end
  if reply == unknown and c.parameters.undo_unknown then
    release(c, { token = token })
  end
  return nil
end
