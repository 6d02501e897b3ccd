-- The fair lock: KEYS[1] the lock, KEYS[2] the queue of owners, KEYS[3] until when each of them waits, by the clocks of clients.
-- ARGV: lease (ms), owner, how long it waits (ms), its clock (ms). Gives nothing if it has the lock now, else how long to wait (ms).
local lock, queue, deadlines = KEYS[1], KEYS[2], KEYS[3]
local lease, me, wait, now = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])

-- Whoever should have given up by this clock is no longer asked.
local head = redis.call('LINDEX', queue, 0)
while head do
  local deadline = redis.call('ZSCORE', deadlines, head)
  if deadline and tonumber(deadline) > now then
    break
  end
  redis.call('ZREM', deadlines, head)
  redis.call('LPOP', queue)
  head = redis.call('LINDEX', queue, 0)
end

if redis.call('EXISTS', lock) == 0 and (not head or head == me) then
  redis.call('LPOP', queue)
  redis.call('ZREM', deadlines, me)
  for _, other in ipairs(redis.call('ZRANGE', deadlines, 0, -1)) do
    redis.call('ZINCRBY', deadlines, -wait, other)
  end
  redis.call('HSET', lock, me, 1)
  redis.call('PEXPIRE', lock, lease)
  return false
end
if redis.call('HEXISTS', lock, me) == 1 then
  redis.call('HINCRBY', lock, me, 1)
  redis.call('PEXPIRE', lock, lease)
  return false
end

local mine = redis.call('ZSCORE', deadlines, me)
if mine then
  return tonumber(mine) - wait - now
end
local last = redis.call('LINDEX', queue, -1)
local left = last and tonumber(redis.call('ZSCORE', deadlines, last)) - now or redis.call('PTTL', lock)
if redis.call('ZADD', deadlines, left + wait + now, me) == 1 then
  redis.call('RPUSH', queue, me)
end
return left
