-- Lets the hash KEYS[1] live ARGV[1] milliseconds from now if the owner ARGV[2] still has it. Gives 1 if so, else 0.
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return 0
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
