-- Deletes KEYS[1] if its value is ARGV[1]: the comparison and the deletion are one step of the server.
-- Gives 1 if it did, 0 if the key is gone or somebody else's.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call('DEL', KEYS[1])
