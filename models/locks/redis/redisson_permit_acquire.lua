-- KEYS: the counter of free permits, the permits that are out (until when, by the clocks of clients). ARGV: id of the new permit, clock
-- (ms), lease (ms). Gives the id, or ':' and the nearest deadline, or nothing.
local overdue = redis.call('ZRANGEBYSCORE', KEYS[2], 0, ARGV[2])
if #overdue > 0 then
  redis.call('ZREM', KEYS[2], unpack(overdue))
  redis.call('INCRBY', KEYS[1], #overdue)
end
if tonumber(redis.call('GET', KEYS[1]) or 0) >= 1 then
  redis.call('DECR', KEYS[1])
  redis.call('ZADD', KEYS[2], tonumber(ARGV[2]) + tonumber(ARGV[3]), ARGV[1])
  return ARGV[1]
end
local nearest = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
if #nearest > 0 then
  return ':' .. nearest[2]
end
return false
