-- Deletes the hash KEYS[1], whoever holds it, and tells the channel KEYS[2] so (ARGV[1], if it is not empty).
-- Gives 1 if there was one, else 0.
if redis.call('DEL', KEYS[1]) == 0 then
  return 0
end
if ARGV[1] ~= '' then
  redis.call('PUBLISH', KEYS[2], ARGV[1])
end
return 1
