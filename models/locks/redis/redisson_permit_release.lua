-- Takes the permit ARGV[1] out of KEYS[2] and adds it to the counter KEYS[1], and tells the channel KEYS[3]. Gives 1, or 0 if it was overdue
-- and somebody took it back.
if redis.call('ZREM', KEYS[2], ARGV[1]) == 0 then
  return 0
end
redis.call('INCR', KEYS[1])
redis.call('PUBLISH', KEYS[3], '0')
return 1
