-- Lets the hash KEYS[1] live ARGV[1] milliseconds from now if the owner ARGV[2] is among its fields, and with it the read leases of all.
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return 0
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  local count = tonumber(redis.call('HGET', KEYS[1], field))
  if field ~= 'mode' and count then
    for i = 1, count do
      redis.call('PEXPIRE', '{' .. KEYS[1] .. '}:' .. field .. ':rwlock_timeout:' .. i, ARGV[1])
    end
  end
end
return 1
