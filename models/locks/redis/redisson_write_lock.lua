-- KEYS[1]: the lock's hash. ARGV: lease (ms), owner as a writer, 'add' if taking it again adds the lease to what is left of it.
-- Gives nothing, or how long the others' lease still runs (ms).
local mode = redis.call('HGET', KEYS[1], 'mode')
if not mode then
  redis.call('HSET', KEYS[1], 'mode', 'write', ARGV[2], 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  return false
end
if mode == 'write' and redis.call('HEXISTS', KEYS[1], ARGV[2]) == 1 then
  redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
  local lease = tonumber(ARGV[1])
  if ARGV[3] == 'add' then
    lease = lease + redis.call('PTTL', KEYS[1])
  end
  redis.call('PEXPIRE', KEYS[1], lease)
  return false
end
return redis.call('PTTL', KEYS[1])
