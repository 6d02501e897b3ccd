-- KEYS: the lock's hash, the beginning of the names of this owner's read leases. ARGV: lease (ms), owner, the owner as a writer.
-- Readers share; a writer may read as well. Gives nothing, or how long the writer's lease still runs (ms).
local mode = redis.call('HGET', KEYS[1], 'mode')
if mode == 'write' and redis.call('HEXISTS', KEYS[1], ARGV[3]) == 0 then
  return redis.call('PTTL', KEYS[1])
end
if not mode then
  redis.call('HSET', KEYS[1], 'mode', 'read')
end
local holds = redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
redis.call('SET', KEYS[2] .. ':' .. holds, 1, 'PX', ARGV[1])
-- The hash lives as long as its longest lease.
if redis.call('PEXPIRE', KEYS[1], ARGV[1], 'NX') == 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1], 'GT')
end
return false
