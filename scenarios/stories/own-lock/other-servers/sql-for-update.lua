-- A transaction that keeps the lock's row locked for as long as it is open.
-- The twin of the algorithm sql-for-update. Source: lock-summary, method 1 (SELECT … FOR UPDATE).

server = "sql"
summary = "a transaction that holds a row by SELECT FOR UPDATE until it ends"
claims = { "mutual-exclusion", "own-release", "recoverable" }
blind_to_names = true
parameters = {
  wants_row = { default = false, meaning = "a client that finds no row to lock has not got the lock" },
  creates_row = { default = false, meaning = "a client that finds no row inserts it, and looks again" },
  isolation = {
    default = "standard",
    choices = { "standard", "read-committed", "repeatable-read" },
    meaning = "of its transactions",
  },
}

local function is_ok(reply)
  return reply ~= unknown and not error_of(reply)
end

local function take(c, lock)
  -- 1: begin.
  if not is_ok(c.sql:begin({ isolation = c.parameters.isolation })) then
    return nil
  end
  -- 2: lock the row, or wait for whoever has it.
  local the_row = { { "name", "=", c.key } }
  local locked = c.sql:select("locks", the_row, { lock = lock })
  if c.parameters.creates_row and is_ok(locked) and locked.affected == 0 then
    -- Whoever is told of a duplicate key, and still is in a transaction, locks the other one's row.
    local inserted, code = c.sql:insert("locks", { c.key })
    locked = inserted
    if is_ok(inserted) or code == "23505" then
      locked = c.sql:select("locks", the_row, { lock = lock })
    end
  end
  if is_ok(locked) and locked.affected > 0 then
    return { token = "" }
  end
  -- The document does not count rows.
  if is_ok(locked) and not c.parameters.wants_row then
    return { token = "no row" }
  end
  -- Give up; where no answer came, on a new connection, which ends the old one.
  c.sql:rollback()
  return nil
end

function acquire(c)
  return take(c, "for update")
end

function try_acquire(c)
  return take(c, "for update nowait")
end

-- 4: the end of the transaction gives it back.
function release(c, hold)
  local ended = c.sql:commit()
  return is_ok(ended) and not ended.rolled_back and hold.token ~= "no row"
end
