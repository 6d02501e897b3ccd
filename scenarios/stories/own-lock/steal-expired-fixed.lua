-- SETNX with the end of the lease as the value; whoever finds it over takes it over by GETSET.

summary = "SETNX with an end; who finds it over takes it over by GETSET"
claims = { "mutual-exclusion" }
parameters = { lease = { default = "10s", role = "newcomers_lease", meaning = "how long a hold counts for others" } }

function acquire(c)
  local ends = c:now() + c.parameters.lease
  if c.redis:setnx(c.key, ends) == 1 then
    return { lease_until = ends }
  end
  local other = c.redis:get(c.key)
  if other ~= nil and other ~= unknown and tonumber(other) < c:now() then
    ends = c:now() + c.parameters.lease
    -- Only one of those who have read this value gets it back.
    if c.redis:getset(c.key, ends) == other then
      return { lease_until = ends }
    end
  end
  return nil
end

function release(c)
  return c.redis:del(c.key) == 1
end
