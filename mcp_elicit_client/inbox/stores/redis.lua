-- The commands of RedisStore.  Each call of this script runs one of them, atomically:
--
--   EVALSHA <sha> 1 <prefix> <now> <leases end> <maximum history> <history TTL in ms> <command> <arguments...>
--
-- A lease that has ended counts only if it ended until <leases end>, which is 0 for a while after an outage.
--
-- All keys begin with the prefix:
--
--   :format                     the format number of the data
--   :revision                   the number of changes so far
--   :request:<id>               hash        a request
--   :pending:<owner>            sorted set  pending requests by sequence
--   :closed:<owner>             sorted set  closed requests by revision
--   :expiry                     sorted set  pending requests by the time when they expire
--   :leases                     sorted set  lease owners by the end of their lease
--   :leased:<lease owner>       set         its pending requests
--   :undelivered:<lease owner>  set         its closed requests whose resolution it has not received yet
--   :call:<id>                  hash        a suspended call
--   :body:<id>                  string      what is needed to resume the call, as long as it can be resumed
--   :draft:<name>               string      a draft; the name is a digest of its owner and key
--
-- A lease owner is a process or a suspended call ('call:' and its ID), whose lease ends when it expires.
-- Two channels report changes: ':resolutions:<lease owner>' and ':changes:<owner>'.

local FORMAT = '1'

-- How long the end of a request is kept after its process or its call could last need it, in milliseconds.
local DELIVERY_TTL = 60000

local prefix = KEYS[1]
local now, leases_end = tonumber(ARGV[1]), tonumber(ARGV[2])
local max_history, history_ttl = tonumber(ARGV[3]), tonumber(ARGV[4])

local stored_format = redis.call('GET', prefix .. ':format')
if not stored_format then
  redis.call('SET', prefix .. ':format', FORMAT)
elseif stored_format ~= FORMAT then
  return redis.error_reply('FORMAT ' .. stored_format .. ' ' .. FORMAT)
end

local function key(kind, name) return prefix .. ':' .. kind .. ':' .. name end

local leases, expiry = prefix .. ':leases', prefix .. ':expiry'

local function milliseconds_until(time) return math.ceil(math.max(time - now, 0) * 1000) end

local function next_revision()
  local revision = redis.call('INCR', prefix .. ':revision')
  if revision > 1 then return revision end
  -- After a loss of all data, new revisions must be above those that watchers have seen.
  revision = redis.call('TIME')[1] * 1000 + 1
  redis.call('SET', prefix .. ':revision', revision)
  return revision
end

local function encode_resolution(id, state, answered_by, updated_at, action, answer)
  return cjson.encode({
    id = id, state = state, answered_by = answered_by, updated_at = updated_at, action = action, answer = answer,
  })
end

local function expire_later(name, ttl)
  if redis.call('PTTL', name) < ttl then redis.call('PEXPIRE', name, ttl) end
end

-- Return true if the process or the call of a closed request has not received its end yet.
local function is_undelivered(id)
  local lease_owner = redis.call('HGET', key('request', id), 'lease_owner')
  return lease_owner and redis.call('SISMEMBER', key('undelivered', lease_owner), id) == 1
end

local function limit_history(owner)
  local closed = key('closed', owner)
  for _, id in ipairs(redis.call('ZRANGE', closed, 0, -1 - max_history)) do
    if not is_undelivered(id) then
      redis.call('DEL', key('request', id))
      redis.call('ZREM', closed, id)
    end
  end
end

-- Return the parts of a request that decide about its state; nil if there is no such request.
local function find_request(id)
  local found = redis.call('HMGET', key('request', id), 'owner', 'lease_owner', 'state', 'expires_at')
  if not found[1] then return nil end
  return {id = id, owner = found[1], lease_owner = found[2], state = found[3], expires_at = found[4]}
end

local function close(request, state, answered_by, updated_at, action, answer)
  local id, owner, lease_owner, needed_until = request.id, request.owner, request.lease_owner, request.expires_at
  local name, revision = key('request', id), next_revision()
  request.state = state
  redis.call('HSET', name, 'state', state, 'answered_by', answered_by, 'updated_at', updated_at,
    'action', action, 'revision', revision)
  if answer ~= '' then redis.call('HSET', name, 'answer', answer) end
  if string.sub(lease_owner, 1, 5) == 'call:' then
    needed_until = redis.call('ZSCORE', leases, lease_owner) or 0
  end
  -- The process or the suspended call needs the answer, even if no history is kept.
  local ttl = milliseconds_until(tonumber(needed_until)) + DELIVERY_TTL + history_ttl
  redis.call('PEXPIRE', name, ttl)
  redis.call('ZREM', key('pending', owner), id)
  redis.call('ZREM', expiry, id)
  redis.call('SREM', key('leased', lease_owner), id)
  redis.call('SADD', key('undelivered', lease_owner), id)
  expire_later(key('undelivered', lease_owner), ttl)
  redis.call('ZADD', key('closed', owner), revision, id)
  expire_later(key('closed', owner), ttl)
  limit_history(owner)
  redis.call('PUBLISH', key('changes', owner), id)
  -- Last, because Redis writes to the client first to which it published last.
  redis.call('PUBLISH', key('resolutions', lease_owner),
    encode_resolution(id, state, answered_by, updated_at, action, answer))
end

-- Return a request of *owner*, closed first if it is stale; nil if there is no such request.
local function current_request(id, owner)
  local request = find_request(id)
  if not request or request.owner ~= owner then return nil end
  if request.state ~= 'pending' then return request end
  if tonumber(request.expires_at) <= now then
    close(request, 'expired', 'clock', request.expires_at, '', '')
    return request
  end
  local lease = redis.call('ZSCORE', leases, request.lease_owner)
  if not lease or tonumber(lease) <= leases_end then
    close(request, 'orphaned', 'heartbeat', lease or ARGV[1], '', '')
  end
  return request
end

local function close_orphaned(lease_owner, lease_end)
  local leased, undelivered = key('leased', lease_owner), key('undelivered', lease_owner)
  for _, id in ipairs(redis.call('SRANDMEMBER', leased, 500)) do
    local request = find_request(id)
    if request then
      close(request, 'orphaned', 'heartbeat', lease_end, '', '')
    else
      redis.call('SREM', leased, id)
    end
  end
  -- No task waits any more for answers that this process did not receive in time.
  local owners = {}
  for _, id in ipairs(redis.call('SRANDMEMBER', undelivered, 500)) do
    local found = redis.call('HMGET', key('request', id), 'expires_at', 'owner')
    if not found[1] or tonumber(found[1]) <= now then
      redis.call('HDEL', key('request', id), 'answer')
      redis.call('SREM', undelivered, id)
      if found[2] then owners[found[2]] = true end
    end
  end
  for owner in pairs(owners) do limit_history(owner) end
  if redis.call('EXISTS', leased) == 0 and redis.call('EXISTS', undelivered) == 0 then
    redis.call('ZREM', leases, lease_owner)
  end
end

-- Close requests that have expired or lost their process.
local function close_stale()
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', expiry, '-inf', now, 'LIMIT', 0, 500)) do
    local request = find_request(id)
    if request then
      close(request, 'expired', 'clock', request.expires_at, '', '')
    else
      redis.call('ZREM', expiry, id)
    end
  end
  local ended = redis.call('ZRANGEBYSCORE', leases, '-inf', leases_end, 'WITHSCORES', 'LIMIT', 0, 20)
  for index = 1, #ended, 2 do
    close_orphaned(ended[index], ended[index + 1])
  end
end

local function rows(name, ids)
  local found = {}
  for _, id in ipairs(ids) do
    local row = redis.call('HGETALL', key('request', id))
    if #row > 0 then found[#found + 1] = row else redis.call('ZREM', name, id) end
  end
  return found
end

local function rows_after(name, after, limit)
  return rows(name, redis.call('ZRANGEBYSCORE', name, '(' .. after, '+inf', 'LIMIT', 0, limit))
end

local function erase_answers_of(call_id)
  local undelivered = key('undelivered', 'call:' .. call_id)
  for _, id in ipairs(redis.call('SMEMBERS', undelivered)) do redis.call('HDEL', key('request', id), 'answer') end
  redis.call('DEL', undelivered)
end

-- Return the state of a call of *owner*, erased first if it has expired; nil if there is no such call.
local function current_call_state(id, owner)
  local found = redis.call('HMGET', key('call', id), 'owner', 'state', 'expires_at')
  if found[1] ~= owner then return nil end
  if tonumber(found[3]) > now then return found[2] end
  redis.call('DEL', key('body', id))
  erase_answers_of(id)
  limit_history(owner)
  if found[2] ~= 'suspended' then return found[2] end
  redis.call('HSET', key('call', id), 'state', 'expired')
  return 'expired'
end

local function insert(id, owner, lease_owner, request, created_at, expires_at)
  if redis.call('EXISTS', key('request', id)) == 1 then return end
  local revision = next_revision()
  redis.call('HSET', key('request', id), 'id', id, 'owner', owner, 'lease_owner', lease_owner, 'request', request,
    'created_at', created_at, 'expires_at', expires_at, 'sequence', revision, 'revision', revision,
    'state', 'pending')
  redis.call('PEXPIRE', key('request', id), milliseconds_until(expires_at) + history_ttl)
  redis.call('ZADD', key('pending', owner), revision, id)
  redis.call('ZADD', expiry, expires_at, id)
  redis.call('SADD', key('leased', lease_owner), id)
  redis.call('PUBLISH', key('changes', owner), id)
end

local commands = {}

function commands.put(worker, lease_end, id, owner, request, created_at, expires_at)
  redis.call('ZADD', leases, lease_end, worker)
  insert(id, owner, worker, request, created_at, expires_at)
end

function commands.get(id, owner)
  if not current_request(id, owner) then return {} end
  return redis.call('HGETALL', key('request', id))
end

function commands.pending(owner, after, limit)
  close_stale()
  return rows_after(key('pending', owner), after, limit)
end

function commands.history(owner, before, limit)
  close_stale()
  local closed = key('closed', owner)
  local below = before == '' and '+inf' or '(' .. before
  return rows(closed, redis.call('ZREVRANGEBYSCORE', closed, below, '-inf', 'LIMIT', 0, limit))
end

function commands.changes(owner, since, limit)
  close_stale()
  if tonumber(since) > tonumber(commands.last_revision()) then
    -- After a return to older data: what is pending now, and then the changes of that.
    return rows_after(key('pending', owner), 0, limit)
  end
  local found = rows_after(key('pending', owner), since, limit)
  for _, row in ipairs(rows_after(key('closed', owner), since, limit)) do found[#found + 1] = row end
  return found
end

function commands.last_revision()
  return redis.call('GET', prefix .. ':revision') or 0
end

function commands.resolve(id, owner, ...)
  local request = current_request(id, owner)
  if not request then return nil end
  local state = request.state
  if state == 'pending' then close(request, ...) end
  return state
end

function commands.extend(id, owner, expires_at)
  local request = current_request(id, owner)
  if not request then return nil end
  if request.state == 'pending' and tonumber(expires_at) > tonumber(request.expires_at) then
    redis.call('HSET', key('request', id), 'expires_at', expires_at)
    redis.call('ZADD', expiry, expires_at, id)
    redis.call('PEXPIRE', key('request', id), milliseconds_until(tonumber(expires_at)) + history_ttl)
  end
  return request.state
end

-- Renew the lease of a process.  Return which of the given requests are lost, and the resolutions that it has not
-- received.
function commands.renew_lease(worker, lease_end, ...)
  redis.call('ZADD', leases, lease_end, worker)
  local lost, resolutions = {}, {}
  for _, id in ipairs({...}) do
    if redis.call('EXISTS', key('request', id)) == 0 then lost[#lost + 1] = id end
  end
  for _, id in ipairs(redis.call('SMEMBERS', key('undelivered', worker))) do
    local found = redis.call('HMGET', key('request', id), 'state', 'answered_by', 'updated_at', 'action', 'answer')
    if found[1] then
      resolutions[#resolutions + 1] = encode_resolution(id, unpack(found))
    else
      redis.call('SREM', key('undelivered', worker), id)
    end
  end
  return {lost, resolutions}
end

function commands.erase_answers(worker, ...)
  for _, id in ipairs({...}) do
    local request = key('request', id)
    redis.call('HDEL', request, 'answer')
    redis.call('SREM', key('undelivered', worker), id)
    local found = redis.call('HMGET', request, 'state', 'updated_at', 'owner')
    if found[1] and found[1] ~= 'pending' then
      redis.call('PEXPIRE', request, milliseconds_until(tonumber(found[2])) + history_ttl)
      limit_history(found[3])
    end
  end
end

local function save_call(state_ttl, id, owner, request_ids, created_at, expires_at, body, ...)
  local requests = {...}
  local ttl = milliseconds_until(expires_at)
  redis.call('HSET', key('call', id), 'id', id, 'owner', owner, 'request_ids', request_ids,
    'created_at', created_at, 'expires_at', expires_at, 'state', 'suspended', 'claim_token', '')
  redis.call('PEXPIRE', key('call', id), ttl + state_ttl)
  redis.call('SET', key('body', id), body, 'PX', math.max(ttl, 1))
  -- Without requests, no one would delete the lease.
  if request_ids ~= '[]' then redis.call('ZADD', leases, expires_at, 'call:' .. id) end
  for index = 1, #requests, 4 do
    insert(requests[index], owner, 'call:' .. id, requests[index + 1], requests[index + 2], requests[index + 3])
  end
end

-- The arguments after the body belong to the requests: ID, request, time of creation and of expiry of each.
function commands.suspend(state_ttl, id, ...)
  erase_answers_of(id)
  save_call(state_ttl, id, ...)
end

-- Replace a suspended call if it still has the old body.  Return whether it did.
function commands.update_call(old_body, state_ttl, id, owner, ...)
  if current_call_state(id, owner) ~= 'suspended' then return 0 end
  if redis.call('GET', key('body', id)) ~= old_body then return 0 end
  save_call(state_ttl, id, owner, ...)
  return 1
end

function commands.erase_call_answers(id) erase_answers_of(id) end

function commands.get_call(id, owner)
  if not current_call_state(id, owner) then return {} end
  local row = redis.call('HGETALL', key('call', id))
  row[#row + 1] = 'body'
  row[#row + 1] = redis.call('GET', key('body', id)) or ''
  return row
end

function commands.claim(id, owner, token)
  local state = current_call_state(id, owner)
  if state == 'suspended' then redis.call('HSET', key('call', id), 'state', 'resuming', 'claim_token', token) end
  return state
end

function commands.release(id, token)
  local found = redis.call('HMGET', key('call', id), 'state', 'claim_token')
  if found[1] == 'resuming' and found[2] == token then
    redis.call('HSET', key('call', id), 'state', 'suspended', 'claim_token', '')
  end
end

function commands.finish(id)
  local owner = redis.call('HGET', key('call', id), 'owner')
  if owner then redis.call('HSET', key('call', id), 'state', 'finished') end
  for _, request_id in ipairs(redis.call('SMEMBERS', key('leased', 'call:' .. id))) do
    local request = find_request(request_id)
    if request then close(request, 'withdrawn', 'client', ARGV[1], '', '') end
  end
  redis.call('DEL', key('body', id))
  erase_answers_of(id)
  if owner then limit_history(owner) end
  redis.call('ZREM', leases, 'call:' .. id)
end

function commands.save_draft(name, draft, expires_at)
  if draft == '' then
    redis.call('DEL', key('draft', name))
  else
    redis.call('SET', key('draft', name), draft, 'PX', math.max(milliseconds_until(tonumber(expires_at)), 1))
  end
end

function commands.get_draft(name)
  return redis.call('GET', key('draft', name)) or ''
end

return commands[ARGV[5]](unpack(ARGV, 6))
