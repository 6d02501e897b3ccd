-- KEYS: the lock's hash, its channel, the beginning of the names of this owner's read leases. ARGV: the message, owner, the beginning of
-- the names of all owners' read leases, 'cut' if the hash is to live only as long as the longest read lease that is left.
-- Gives 1 if the lock is free now, 0 if somebody still holds it, nothing if it was not the owner's.
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return false
end
local holds = redis.call('HINCRBY', KEYS[1], ARGV[2], -1)
if holds == 0 then
  redis.call('HDEL', KEYS[1], ARGV[2])
end
redis.call('DEL', KEYS[3] .. ':' .. (holds + 1))
if redis.call('HLEN', KEYS[1]) == 1 then
  redis.call('DEL', KEYS[1])
  redis.call('PUBLISH', KEYS[2], ARGV[1])
  return 1
end
if ARGV[4] == 'cut' then
  local longest = -3
  for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
    local count = tonumber(redis.call('HGET', KEYS[1], field))
    if field ~= 'mode' and count then
      for i = 1, count do
        longest = math.max(longest, redis.call('PTTL', ARGV[3] .. field .. ':rwlock_timeout:' .. i))
      end
    end
  end
  if longest > 0 then
    redis.call('PEXPIRE', KEYS[1], longest)
  end
end
return 0
