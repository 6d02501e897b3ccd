-- Adds ARGV[1] permits to the counter KEYS[1], whoever had them, and tells the channel KEYS[2] how many are free now.
local free = redis.call('INCRBY', KEYS[1], ARGV[1])
redis.call('PUBLISH', KEYS[2], '0')
return free
