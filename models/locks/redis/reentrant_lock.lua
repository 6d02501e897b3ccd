-- Takes the hash KEYS[1] for the field ARGV[1], or counts one more hold of it; the key lives ARGV[2] milliseconds from now. Gives 1, or 0
-- if it is another's.
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('HSET', KEYS[1], ARGV[1], 1)
elseif redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
else
  return 0
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
