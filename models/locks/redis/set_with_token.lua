-- Creates KEYS[1] with value ARGV[1] for ARGV[2] milliseconds and, in the same step, draws a fencing token from the
-- counter KEYS[2]: tokens are given out in the order of the grants. Gives the token, or nil if the key was there.
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return false
end
return redis.call('INCR', KEYS[2])
