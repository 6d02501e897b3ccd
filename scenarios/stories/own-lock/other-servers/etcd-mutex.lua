-- etcd's mutex: a queue of keys, each with the lease of its client's session; whoever created its key first has the
-- lock, and everybody else waits for the key before it to go.
-- The twin of the algorithm etcd-mutex. Source: etcd, clientv3/concurrency/mutex.go, v3.5.0.

server = "etcd"
summary = "etcd's mutex: a queue of keys with the leases of sessions, first created first"
claims = { "mutual-exclusion", "own-release", "recoverable", "fair" }
blind_to_names = true
parameters = {
  ttl = {
    default = "60s",
    role = "renewed_lease",
    meaning = "time to live of the session's lease, kept alive every third of it",
  },
  wait = { default = "10s", meaning = "how long one attempt waits for those before it; 0ms: for ever" },
  unlocks_in_time = { default = true, meaning = "the context of Unlock is not over when it is called" },
  serializable = { default = false, meaning = "its reads are serializable" },
}

local function prefix(c)
  return c.key .. "/"
end

local function key_of(c, lease)
  return prefix(c) .. string.format("%x", lease)
end

local function enter(c)
  -- 1: a session.
  local lease = c.etcd:session(c.parameters.ttl)
  if lease == unknown then
    return nil
  end
  -- 2: create the own key unless it is there, and ask who was first.
  local mine = key_of(c, lease)
  local first = { "range", prefix(c), { prefix = true, limit = 1, sort_by = "create_revision", order = "ascend" } }
  local reply = c.etcd:txn({
    compare = { { "create_revision", mine, "=", 0 } },
    success = { { "put", mine, "", { lease = lease } }, first },
    failure = { { "range", mine }, first },
  })
  if reply == unknown or error_of(reply) then
    c.etcd:close(lease)
    return nil
  end
  local own = reply.succeeded and reply.revision or reply.responses[1].kvs[1].create_revision
  local owner = reply.responses[2].kvs[1]
  return { token = lease, fencing_token = own, is_first = owner == nil or owner.create_revision == own }
end

-- Waits until the key is deleted, at this revision or later. A watch whose connection is lost is asked for again, as
-- etcd's client does, after pauses that become longer.
local function is_deleted(c, awaited, from, patience)
  local pause = 100
  while true do
    local events = c.etcd:watch(awaited, { revision = from, patience = patience })
    if events == nil then
      return false
    end
    if events == unknown then
      if c.parameters.wait > 0 then
        c:latch():wait({ length = pause, patience = patience })
      else
        c:tick(pause)
      end
      pause = pause * 2
      if patience:over() then
        return false
      end
    else
      for i = 1, events.n do
        if events[i].type == "DELETE" then
          return true
        end
        from = events[i].kv.mod_revision + 1
      end
      -- Cancelled: what it asks for is not kept any more.
      if events.n == 0 then
        return false
      end
    end
  end
end

-- Until no key is there that was created before.
local function wait_for_others(c, hold, patience)
  while not patience:over() do
    local last = c.etcd:range(prefix(c), {
      prefix = true,
      limit = 1,
      order = "descend",
      sort_by = "create_revision",
      max_create_revision = hold.fencing_token - 1,
      serializable = c.parameters.serializable,
    })
    if last == unknown or error_of(last) then
      return false
    end
    if last.kvs.n == 0 then
      return true
    end
    -- 4: the one just before.
    if not is_deleted(c, last.kvs[1].key, last.revision, patience) then
      return false
    end
  end
  return false
end

local function is_there(c, hold)
  local own = c.etcd:range(key_of(c, hold.token), { serializable = c.parameters.serializable })
  return own ~= unknown and not error_of(own) and own.kvs.n > 0
end

-- Takes the own key back, and ends the session.
local function leave(c, hold)
  c.etcd:delete(key_of(c, hold.token))
  c.etcd:close(hold.token)
end

function acquire(c)
  local wait = c.parameters.wait
  local patience = c:patience(wait > 0 and wait or nil)
  local hold = enter(c)
  if hold == nil then
    return nil
  end
  -- 3: nobody came before; or wait until those have gone. 5: is the own key still there? Its session may have ended.
  if hold.is_first or wait_for_others(c, hold, patience) and is_there(c, hold) then
    return hold
  end
  leave(c, hold)
  return nil
end

function try_acquire(c)
  local hold = enter(c)
  if hold == nil or hold.is_first then
    return hold
  end
  leave(c, hold)
  return nil
end

-- 6: delete the own key. Unlock does not ask whether there was one.
function release(c, hold)
  if not c.parameters.unlocks_in_time then
    return false
  end
  local deleted = c.etcd:delete(key_of(c, hold.token))
  c.etcd:close(hold.token)
  return deleted ~= unknown and not error_of(deleted)
end
