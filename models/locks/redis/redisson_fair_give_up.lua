-- ARGV[1], who waited ARGV[2] milliseconds, leaves the queue KEYS[1]; the deadlines KEYS[2] of those behind come forward by its wait.
local is_behind = false
for _, other in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  if is_behind then
    redis.call('ZINCRBY', KEYS[2], -tonumber(ARGV[2]), other)
  elseif other == ARGV[1] then
    is_behind = true
  end
end
redis.call('ZREM', KEYS[2], ARGV[1])
return redis.call('LREM', KEYS[1], 0, ARGV[1])
