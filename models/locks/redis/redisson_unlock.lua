-- Gives one hold of the owner ARGV[3] back. The last one deletes the hash KEYS[1] and tells the channel KEYS[2] so (ARGV[1], if it is not empty);
-- one before the last lets it live ARGV[2] milliseconds from now.
-- Gives 1 if the lock is free now, 0 if the owner still holds it, nothing if it was not the owner's.
if redis.call('HEXISTS', KEYS[1], ARGV[3]) == 0 then
  return false
end
if redis.call('HINCRBY', KEYS[1], ARGV[3], -1) > 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return 0
end
redis.call('DEL', KEYS[1])
if ARGV[1] ~= '' then
  redis.call('PUBLISH', KEYS[2], ARGV[1])
end
return 1
