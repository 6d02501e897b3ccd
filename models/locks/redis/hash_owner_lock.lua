-- A hash with two fields, owner and count. Takes it for ARGV[1], or counts one more hold; the key lives ARGV[2] milliseconds
-- from now. Gives 1, or 0 if somebody else owns it.
if redis.call('HSETNX', KEYS[1], 'owner', ARGV[1]) == 1 then
  redis.call('HSET', KEYS[1], 'count', 1)
elseif redis.call('HGET', KEYS[1], 'owner') == ARGV[1] then
  redis.call('HINCRBY', KEYS[1], 'count', 1)
else
  return 0
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
