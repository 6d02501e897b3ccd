-- Takes ARGV[1] permits from the counter KEYS[1] if there are as many. Gives 1 if it did, else 0.
local free = tonumber(redis.call('GET', KEYS[1]) or 0)
if free < tonumber(ARGV[1]) then
  return 0
end
redis.call('DECRBY', KEYS[1], ARGV[1])
return 1
