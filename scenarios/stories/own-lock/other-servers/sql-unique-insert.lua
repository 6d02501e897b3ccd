-- A row with the lock's name as its primary key: whoever inserts it has the lock.
-- The twin of the algorithm sql-unique-insert. Source: redisson-source ("unique primary key").

server = "sql"
summary = "INSERT of a row with a unique key, release by DELETE"
claims = { "mutual-exclusion", "own-release" }
blind_to_names = true
parameters = { compares_owner = { default = true, meaning = "the release deletes the row only if it is its own" } }

function acquire(c)
  -- 1: insert the row; a duplicate key says that somebody else has it.
  local token = c:token()
  local inserted = c.sql:insert("owners", { c.key, token })
  if inserted == unknown or error_of(inserted) then
    return nil
  end
  return { token = token }
end

function release(c, hold)
  -- 2: delete it, if it is mine.
  local where = { { "name", "=", c.key } }
  if c.parameters.compares_owner then
    where[2] = { "owner", "=", hold.token }
  end
  local deleted = c.sql:delete("owners", where)
  return deleted ~= unknown and not error_of(deleted) and deleted.affected == 1
end
