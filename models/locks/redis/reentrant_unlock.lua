-- Counts one hold of the field ARGV[1] less, and deletes the hash KEYS[1] with the last. Gives nothing in all three cases: it was not the
-- caller's, it is free, it is still held.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return false
end
if redis.call('HINCRBY', KEYS[1], ARGV[1], -1) == 0 then
  redis.call('DEL', KEYS[1])
end
return false
