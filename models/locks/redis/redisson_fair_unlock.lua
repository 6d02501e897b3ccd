-- Gives one hold of ARGV[2] back. KEYS: lock, queue, deadlines. ARGV: lease (ms), owner, clock (ms), the beginning of channel names.
-- Gives 1 if the lock is free now, also if it was free before; 0 if the owner still holds it; nothing if it is another's.
local lock, queue, deadlines = KEYS[1], KEYS[2], KEYS[3]
local lease, me, now, channel = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]

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

local function tell_next()
  if head then
    redis.call('PUBLISH', channel .. head, '0')
  end
  return 1
end

if redis.call('EXISTS', lock) == 0 then
  return tell_next()
end
if redis.call('HEXISTS', lock, me) == 0 then
  return false
end
if redis.call('HINCRBY', lock, me, -1) > 0 then
  redis.call('PEXPIRE', lock, lease)
  return 0
end
redis.call('DEL', lock)
return tell_next()
