-- As the plain lock, and draws a fencing token from the counter KEYS[2] in the same step. Gives the token as text, or
-- how long the other's lease still runs.
if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return redis.call('PTTL', KEYS[1])
end
redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return tostring(redis.call('INCR', KEYS[2]))
