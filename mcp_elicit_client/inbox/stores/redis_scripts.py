"""
What Redis does in one go, in its own language.

All keys begin with ``KEYS[1]``, the prefix of the inbox:

====================  ==========  ===========================================
``:entry:<id>``       hash        a question
``:waiting:<owner>``  sorted set  those that wait, by their places
``:settled:<owner>``  sorted set  those that no longer wait, by their changes
``:ends``             sorted set  those that wait, by when they expire
``:workers``          sorted set  processes, by when their leases end
``:held:<worker>``    set         questions of a process that wait
``:due:<worker>``     set         questions of a process whose outcome it does not know yet
``:position``         number      how many changes there were
``:call:<id>``        hash        a parked call
``:body:<id>``        string      what is needed to resume it, as long as it can be
====================  ==========  ===========================================

A parked call keeps its questions alive as a process does: as the worker
``call:<id>``, whose lease ends when the call expires.

Two channels tell that something happened: ``:worker:<worker>`` what became of
a question, ``:owner:<owner>`` that there is something new.
"""

from __future__ import annotations

COMMON = """
local p = KEYS[1]

local function entry(id) return p .. ':entry:' .. id end

local function next_position()
  if redis.call('EXISTS', p .. ':position') == 0 then
    -- After a loss of all data the numbers must not begin again below those that watchers have seen.
    redis.call('SET', p .. ':position', redis.call('TIME')[1] * 1000)
  end
  return redis.call('INCR', p .. ':position')
end

local function outcome(id)
  local f = redis.call('HMGET', entry(id), 'state', 'who', 'moment', 'action', 'answer')
  if not f[1] then return nil end
  return cjson.encode({id, f[1], f[2], f[3], f[4], f[5]})
end

-- Settle what waits: history holds at most *most*, for *keep* milliseconds.
local function settle(id, state, who, moment, action, answer, token, most, keep)
  local f = redis.call('HMGET', entry(id), 'owner', 'worker')
  local owner, worker = f[1], f[2]
  local changed = next_position()
  redis.call('HSET', entry(id), 'state', state, 'who', who, 'moment', moment, 'action', action,
    'token', token, 'changed', changed)
  if answer ~= '' then redis.call('HSET', entry(id), 'answer', answer) end
  local lasts = keep
  if string.sub(worker, 1, 5) == 'call:' then
    -- A parked call needs the answer, however little is kept.
    local left = tonumber(redis.call('ZSCORE', p .. ':workers', worker) or 0) - redis.call('TIME')[1]
    lasts = math.ceil(keep + math.max(left, 0) * 1000)
  end
  redis.call('PEXPIRE', entry(id), lasts)
  redis.call('ZREM', p .. ':waiting:' .. owner, id)
  redis.call('ZREM', p .. ':ends', id)
  redis.call('SREM', p .. ':held:' .. worker, id)
  redis.call('SADD', p .. ':due:' .. worker, id)
  redis.call('PEXPIRE', p .. ':due:' .. worker, lasts)
  local settled = p .. ':settled:' .. owner
  redis.call('ZADD', settled, changed, id)
  redis.call('PEXPIRE', settled, keep)
  for _, old in ipairs(redis.call('ZRANGE', settled, 0, -1 - most)) do
    if redis.call('HEXISTS', entry(old), 'answer') == 0 then
      redis.call('DEL', entry(old))
      redis.call('ZREM', settled, old)
    end
  end
  redis.call('PUBLISH', p .. ':worker:' .. worker, outcome(id))
  redis.call('PUBLISH', p .. ':owner:' .. owner, id)
end

local function put(id, owner, worker, request, created, expires, left)
  if redis.call('EXISTS', entry(id)) == 1 then return 0 end
  local place = next_position()
  redis.call('HSET', entry(id), 'id', id, 'owner', owner, 'worker', worker, 'request', request, 'created', created,
    'expires', expires, 'place', place, 'changed', place, 'state', 'pending')
  redis.call('PEXPIRE', entry(id), left)
  redis.call('ZADD', p .. ':waiting:' .. owner, place, id)
  redis.call('ZADD', p .. ':ends', expires, id)
  redis.call('SADD', p .. ':held:' .. worker, id)
  redis.call('PUBLISH', p .. ':owner:' .. owner, id)
  return place
end

-- Return the state of a question of *owner*, settled first if it is stale; nil if there is none.
local function look(id, owner, now, most, keep)
  local f = redis.call('HMGET', entry(id), 'owner', 'state', 'expires', 'worker')
  if f[1] ~= owner then return nil end
  if f[2] ~= 'pending' then return f[2] end
  if tonumber(f[3]) <= tonumber(now) then
    settle(id, 'expired', 'clock', f[3], '', '', '', most, keep)
    return 'expired'
  end
  local lease = redis.call('ZSCORE', p .. ':workers', f[4])
  if not lease or tonumber(lease) <= tonumber(now) then
    settle(id, 'orphaned', 'heartbeat', lease or now, '', '', '', most, keep)
    return 'orphaned'
  end
  return 'pending'
end
"""

PUT = f"""{COMMON}
local id, owner, worker, request, created, expires, until_, left =
  ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]
redis.call('ZADD', p .. ':workers', until_, worker)
return put(id, owner, worker, request, created, expires, left)
"""
"""Keep a question, unless it is there already."""

FIND = f"""{COMMON}
local id, owner, now, most, keep = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
if not look(id, owner, now, most, keep) then return {{}} end
return redis.call('HGETALL', entry(id))
"""
"""Return one question."""

CLAIM = f"""{COMMON}
local id, owner, now, most, keep, token = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local state = look(id, owner, now, most, keep)
if not state then return false end
if state == 'pending' then settle(id, ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11], token, most, keep)
-- The same attempt again, the reply to the first one having been lost:
elseif redis.call('HGET', entry(id), 'token') == token then return 'pending' end
return state
"""
"""Settle a question if it waits; tell what it was before."""

SWEEP = f"""{COMMON}
local now, most, keep = ARGV[1], ARGV[2], ARGV[3]
for _, id in ipairs(redis.call('ZRANGEBYSCORE', p .. ':ends', '-inf', now, 'LIMIT', 0, 500)) do
  local expires = redis.call('HGET', entry(id), 'expires')
  if expires then settle(id, 'expired', 'clock', expires, '', '', '', most, keep)
  else redis.call('ZREM', p .. ':ends', id) end
end
local lapsed = redis.call('ZRANGEBYSCORE', p .. ':workers', '-inf', now, 'WITHSCORES', 'LIMIT', 0, 20)
for at = 1, #lapsed, 2 do
  local worker, moment = lapsed[at], lapsed[at + 1]
  for _, id in ipairs(redis.call('SRANDMEMBER', p .. ':held:' .. worker, 500)) do
    if redis.call('EXISTS', entry(id)) == 1 then settle(id, 'orphaned', 'heartbeat', moment, '', '', '', most, keep)
    else redis.call('SREM', p .. ':held:' .. worker, id) end
  end
  -- Nobody waits any more for answers that this process did not take in time.
  for _, id in ipairs(redis.call('SRANDMEMBER', p .. ':due:' .. worker, 500)) do
    local expires = redis.call('HGET', entry(id), 'expires')
    if not expires or tonumber(expires) <= tonumber(now) then
      redis.call('HDEL', entry(id), 'answer')
      redis.call('SREM', p .. ':due:' .. worker, id)
    end
  end
  if redis.call('EXISTS', p .. ':held:' .. worker) == 0 and redis.call('EXISTS', p .. ':due:' .. worker) == 0 then
    redis.call('ZREM', p .. ':workers', worker)
  end
end
"""
"""Settle what has expired or lost its process."""

READ = f"""{COMMON}
local found = {{}}
local key, from, to, limit = p .. ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local ids
if ARGV[5] == 'last first' then ids = redis.call('ZREVRANGEBYSCORE', key, to, from, 'LIMIT', 0, limit)
else ids = redis.call('ZRANGEBYSCORE', key, from, to, 'LIMIT', 0, limit) end
for _, id in ipairs(ids) do
  local f = redis.call('HGETALL', entry(id))
  if #f > 0 then found[#found + 1] = f else redis.call('ZREM', key, id) end
end
return found
"""
"""Return the questions in a part of a sorted set."""

BEAT = f"""{COMMON}
local worker, until_ = ARGV[1], ARGV[2]
local is_known = redis.call('ZSCORE', p .. ':workers', worker)
redis.call('ZADD', p .. ':workers', until_, worker)
local found = {{is_known and 1 or 0}}
for _, id in ipairs(redis.call('SMEMBERS', p .. ':due:' .. worker)) do
  local told = outcome(id)
  if told then found[#found + 1] = told else redis.call('SREM', p .. ':due:' .. worker, id) end
end
return found
"""
"""Renew the lease of a process; tell it whether it was known, and what became of its questions."""

WIPE = f"""{COMMON}
for at = 2, #ARGV do
  redis.call('HDEL', entry(ARGV[at]), 'answer')
  redis.call('SREM', p .. ':due:' .. ARGV[1], ARGV[at])
end
"""
"""Forget the answers of a process's questions."""


_CALLS = f"""{COMMON}
local function call(id) return p .. ':call:' .. id end
local function body(id) return p .. ':body:' .. id end

local function forget_answers(id)
  local due = p .. ':due:call:' .. id
  for _, question in ipairs(redis.call('SMEMBERS', due)) do redis.call('HDEL', entry(question), 'answer') end
  redis.call('DEL', due)
end

-- Return where a call of *owner* is, wiped first if it has expired; nil if there is none.
local function look_at_call(id, owner, now)
  local f = redis.call('HMGET', call(id), 'owner', 'state', 'expires')
  if f[1] ~= owner then return nil end
  if tonumber(f[3]) > tonumber(now) then return f[2] end
  redis.call('DEL', body(id))
  forget_answers(id)
  if f[2] ~= 'suspended' then return f[2] end
  redis.call('HSET', call(id), 'state', 'expired')
  return 'expired'
end
"""

PARK = f"""{_CALLS}
local id, owner, text, questions, created, expires, left, known, token =
  ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9]
-- The same attempt again, the reply to the first one having been lost:
if redis.call('HGET', call(id), 'token') == token then return 0 end
forget_answers(id)
redis.call('HSET', call(id), 'id', id, 'owner', owner, 'questions', questions, 'created', created, 'expires', expires,
  'state', 'suspended', 'token', token, 'claim', '')
redis.call('PEXPIRE', call(id), left + known)
redis.call('SET', body(id), text, 'PX', math.max(left, 1))
redis.call('ZADD', p .. ':workers', expires, 'call:' .. id)
for at = 10, #ARGV, 5 do
  put(ARGV[at], owner, 'call:' .. id, ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4])
end
return 1
"""
"""Keep a call and its questions."""

PARKED = f"""{_CALLS}
local id, owner, now = ARGV[1], ARGV[2], ARGV[3]
if not look_at_call(id, owner, now) then return {{}} end
local f = redis.call('HGETALL', call(id))
f[#f + 1] = 'body'
f[#f + 1] = redis.call('GET', body(id)) or ''
return f
"""
"""Return one call."""

RESUME = f"""{_CALLS}
local id, owner, now, token = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local state = look_at_call(id, owner, now)
if not state then return false end
if state == 'suspended' then redis.call('HSET', call(id), 'state', 'resuming', 'claim', token)
-- The same attempt again, the reply to the first one having been lost:
elseif redis.call('HGET', call(id), 'claim') == token then return 'suspended' end
return state
"""
"""Begin to resume a call if it is parked; tell where it was before."""

RELEASE = f"""{_CALLS}
local f = redis.call('HMGET', call(ARGV[1]), 'state', 'claim')
if f[1] == 'resuming' and f[2] == ARGV[2] then
  redis.call('HSET', call(ARGV[1]), 'state', 'suspended', 'claim', '')
end
"""
"""Park a call again, if it was claimed with this token."""

FINISH = f"""{_CALLS}
local id = ARGV[1]
if redis.call('EXISTS', call(id)) == 1 then redis.call('HSET', call(id), 'state', 'finished') end
redis.call('DEL', body(id))
forget_answers(id)
redis.call('ZREM', p .. ':workers', 'call:' .. id)
"""
"""Forget a call, and the answers to its questions."""
