"""What Redis does in one go with parked calls; its keys are told in `scripts`."""

from __future__ import annotations

from mcp_elicit_client.inbox.stores.scripts import COMMON

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
