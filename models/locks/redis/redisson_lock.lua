-- Takes the hash KEYS[1] for the owner ARGV[2], or takes it once more, and lets it live ARGV[1] milliseconds from now.
-- Gives nothing if the lock is the owner's, else how long the other's lease still runs (milliseconds).
if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return redis.call('PTTL', KEYS[1])
end
redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return false
