-- KEYS: the lock's hash, its channel. ARGV: the message, lease (ms), owner as a writer. A writer that reads as well becomes a reader.
-- Gives 1 if the writing is over, 0 if not, nothing if the lock was not the owner's.
if redis.call('HEXISTS', KEYS[1], ARGV[3]) == 0 then
  return false
end
if redis.call('HINCRBY', KEYS[1], ARGV[3], -1) > 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return 0
end
redis.call('HDEL', KEYS[1], ARGV[3])
if redis.call('HLEN', KEYS[1]) == 1 then
  redis.call('DEL', KEYS[1])
  redis.call('PUBLISH', KEYS[2], ARGV[1])
else
  redis.call('HSET', KEYS[1], 'mode', 'read')
end
return 1
