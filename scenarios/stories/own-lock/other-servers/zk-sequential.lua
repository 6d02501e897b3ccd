-- A queue of ephemeral sequential nodes: the lowest number has the lock, and everybody else watches the one before.
-- The twin of the algorithm zk-sequential. Source: ZooKeeper Recipes and Solutions, "Locks".

server = "zookeeper"
summary = "ZooKeeper: a queue of ephemeral sequential nodes, each watching the one before"
claims = { "mutual-exclusion", "own-release", "recoverable", "fair" }
blind_to_names = true
parameters = {
  session_timeout = {
    default = "10s",
    role = "renewed_lease",
    meaning = "how long a session lasts of which nothing is heard",
  },
  wait = { default = "10s", meaning = "how long one attempt waits for those before it; 0ms: for ever" },
  looks_again = { default = true, meaning = "a client whose predecessor has gone looks at the queue again" },
}

local function folder(c)
  return "/locks/" .. c.key
end

local function number_of(name)
  return name:sub(-10)
end

-- 1: create the own node.
local function enter(c)
  if not c.zookeeper:open(c.parameters.session_timeout) then
    return nil
  end
  local path, stat = c.zookeeper:create(folder(c) .. "/lock-", { ephemeral = true, sequential = true, makepath = true })
  if path == unknown or error_of(path) then
    return nil
  end
  return { token = path, fencing_token = stat.czxid }
end

-- 2: who is there? 3: sort them by their numbers. True: the own node is the first; a text: the one just before it;
-- nil: the own node is gone, or nobody knows.
local function look(c, own)
  local names = c.zookeeper:children(folder(c))
  if names == unknown or error_of(names) then
    return nil
  end
  local is_there, before = false, nil
  for i = 1, names.n do
    local path = folder(c) .. "/" .. names[i]
    is_there = is_there or path == own
    if number_of(path) < number_of(own) and (before == nil or number_of(before) < number_of(path)) then
      before = path
    end
  end
  -- That nobody is before it says nothing of a node that is gone.
  return is_there and (before or true) or nil
end

-- A client whose connection is lost does not know whether it did, and tries again.
local function delete(c, path)
  local reply = c.zookeeper:delete(path)
  if reply == unknown then
    reply = c.zookeeper:delete(path)
  end
  return reply == true
end

local function wait_for_turn(c, own, patience)
  while true do
    local before = look(c, own)
    if before == true or before == nil then
      return before
    end
    if patience:over() then
      return nil
    end
    -- 4: watch the one before; or it is gone by now.
    local stat, watch = c.zookeeper:exists(before, { watch = true })
    if stat == unknown then
      return nil
    end
    -- 5: until it is deleted, and then look again.
    if stat ~= nil then
      local event = watch:wait({ patience = patience })
      if event == nil then
        return nil
      end
      if event == "NodeDeleted" and not c.parameters.looks_again then
        return true
      end
    end
  end
end

function acquire(c)
  local wait = c.parameters.wait
  local patience = c:patience(wait > 0 and wait or nil)
  local own = enter(c)
  if own == nil then
    return nil
  end
  if wait_for_turn(c, own.token, patience) then
    return own
  end
  delete(c, own.token)
  return nil
end

function try_acquire(c)
  local own = enter(c)
  if own == nil then
    return nil
  end
  if look(c, own.token) == true then
    return own
  end
  delete(c, own.token)
  return nil
end

-- 6: delete the own node.
function release(c, hold)
  return delete(c, hold.token)
end
