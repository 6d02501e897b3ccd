-- As set_with_token.lua, with the numbers of all locks in one hash: KEYS[2] is the hash, its field is the lock's name.
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return false
end
return redis.call('HINCRBY', KEYS[2], KEYS[1], 1)
