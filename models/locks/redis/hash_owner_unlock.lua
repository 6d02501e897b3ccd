-- Counts one hold of the owner ARGV[1] less; the last one deletes the hash. Gives 1, or 0 if somebody else owns it.
if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then
  return 0
end
if tonumber(redis.call('HGET', KEYS[1], 'count')) > 1 then
  redis.call('HINCRBY', KEYS[1], 'count', -1)
else
  redis.call('DEL', KEYS[1])
end
return 1
