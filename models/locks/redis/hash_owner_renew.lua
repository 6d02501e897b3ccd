-- Lets the hash live ARGV[1] milliseconds from now if ARGV[2] still owns it. Gives 1 if so, else 0.
if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[2] then
  return 0
end
return redis.call('PEXPIRE', KEYS[1], ARGV[1])
