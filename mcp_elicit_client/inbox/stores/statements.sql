-- The statements of SqliteStore and PostgresStore.  Each begins with a comment that names it.
--
-- A lease says how long its owner counts as alive.  The owner is a process or
-- a suspended call ('call:' and its ID), whose lease ends when it expires.
-- A lease that has ended counts only if it ended until `leases_end`, which is 0
-- for a while after an outage.
-- `is_delivered` is 0 while a closed request may still hold an answer that
-- its process or its call needs.

-- name: next_revision
UPDATE counter SET revision = revision + :count

-- name: last_revision
SELECT revision FROM counter

-- name: renew_lease
INSERT INTO leases VALUES (:lease_owner, :expires_at)
ON CONFLICT (lease_owner) DO UPDATE SET expires_at = excluded.expires_at

-- name: end_lease
DELETE FROM leases WHERE lease_owner = :lease_owner

-- name: insert_request
INSERT INTO requests (id, owner, lease_owner, request, created_at, expires_at, sequence, revision, updated_at)
VALUES (:id, :owner, :lease_owner, :request, :created_at, :expires_at, :revision, :revision, :created_at)

-- name: get_request
SELECT * FROM requests WHERE id = :id AND owner = :owner

-- name: list_pending
SELECT * FROM requests WHERE owner = :owner AND state = 'pending' AND sequence > :after
ORDER BY sequence LIMIT :limit

-- name: list_changes
-- In one statement: a change between two statements would hide an earlier one from watchers.
SELECT * FROM (
    SELECT * FROM requests WHERE owner = :owner AND state = 'pending' AND sequence > :after
    ORDER BY sequence LIMIT :limit) AS opened
UNION ALL SELECT * FROM (
    SELECT * FROM requests WHERE owner = :owner AND state <> 'pending' AND revision > :after
    ORDER BY revision LIMIT :limit) AS closed
ORDER BY revision LIMIT :limit

-- name: list_history
SELECT * FROM requests
WHERE owner = :owner AND state <> 'pending' AND revision < :before AND updated_at >= :oldest
ORDER BY revision DESC LIMIT :limit

-- name: list_undelivered
SELECT * FROM requests WHERE lease_owner = :lease_owner AND state <> 'pending' AND is_delivered = 0

-- name: list_leased
SELECT id FROM requests WHERE lease_owner = :lease_owner AND state = 'pending'

-- name: get_state
SELECT state FROM requests WHERE id = :id AND owner = :owner

-- name: resolve_live_request
UPDATE requests
SET state = :state, answered_by = :answered_by, updated_at = :updated_at, action = :action, answer = :answer,
    revision = :revision
WHERE id = :id AND owner = :owner AND state = 'pending' AND expires_at > :now
    AND EXISTS (
        SELECT 1 FROM leases WHERE leases.lease_owner = requests.lease_owner AND leases.expires_at > :leases_end)

-- name: resolve_request
UPDATE requests
SET state = :state, answered_by = :answered_by, updated_at = :updated_at, action = :action, revision = :revision
WHERE id = :id

-- name: extend_request
UPDATE requests SET expires_at = CASE WHEN expires_at < :expires_at THEN :expires_at ELSE expires_at END
WHERE id = :id AND owner = :owner AND state = 'pending' AND expires_at > :now

-- name: erase_answer
UPDATE requests SET answer = NULL, is_delivered = 1 WHERE id = :id AND state <> 'pending'

-- name: erase_answers_of
UPDATE requests SET answer = NULL, is_delivered = 1
WHERE lease_owner = :lease_owner AND state <> 'pending' AND is_delivered = 0

-- name: erase_abandoned_answers
UPDATE requests SET answer = NULL, is_delivered = 1
WHERE state <> 'pending' AND is_delivered = 0 AND expires_at <= :now AND NOT EXISTS (
    SELECT 1 FROM leases WHERE leases.lease_owner = requests.lease_owner AND leases.expires_at > :now)

-- name: owners_of_abandoned_answers
SELECT DISTINCT owner FROM requests
WHERE state <> 'pending' AND is_delivered = 0 AND expires_at <= :now AND NOT EXISTS (
    SELECT 1 FROM leases WHERE leases.lease_owner = requests.lease_owner AND leases.expires_at > :now)

-- name: limit_history
DELETE FROM requests WHERE owner = :owner AND state <> 'pending' AND is_delivered = 1 AND revision <= coalesce((
    SELECT revision FROM requests WHERE owner = :owner AND state <> 'pending'
    ORDER BY revision DESC LIMIT 1 OFFSET :max_history), 0)

-- name: delete_old_history
DELETE FROM requests WHERE state <> 'pending' AND is_delivered = 1 AND updated_at < :oldest

-- name: delete_unused_leases
DELETE FROM leases WHERE expires_at <= :before AND NOT EXISTS (
    SELECT 1 FROM requests
    WHERE requests.lease_owner = leases.lease_owner AND (state = 'pending' OR is_delivered = 0))

-- name: is_stale
SELECT
    EXISTS (SELECT 1 FROM requests WHERE state = 'pending' AND expires_at <= :now)
    OR EXISTS (
        SELECT 1 FROM leases JOIN requests ON requests.lease_owner = leases.lease_owner
        WHERE leases.expires_at <= :leases_end AND state = 'pending')
    OR EXISTS (SELECT 1 FROM calls WHERE expires_at <= :now AND body <> '')
    OR EXISTS (SELECT 1 FROM calls WHERE expires_at < :forgotten)
    OR EXISTS (SELECT 1 FROM drafts WHERE expires_at <= :now) AS is_stale

-- name: list_expired
SELECT id, expires_at AS updated_at FROM requests WHERE state = 'pending' AND expires_at <= :now
ORDER BY expires_at LIMIT :limit

-- name: list_orphaned
SELECT id, leases.expires_at AS updated_at FROM leases JOIN requests ON requests.lease_owner = leases.lease_owner
WHERE leases.expires_at <= :leases_end AND state = 'pending' AND requests.expires_at > :now LIMIT :limit

-- name: save_call
INSERT INTO calls (id, owner, body, request_ids, created_at, expires_at)
VALUES (:id, :owner, :body, :request_ids, :created_at, :expires_at)
ON CONFLICT (id) DO UPDATE SET
    owner = excluded.owner, body = excluded.body, request_ids = excluded.request_ids,
    created_at = excluded.created_at, expires_at = excluded.expires_at, state = 'suspended', claim_token = ''

-- name: update_call
UPDATE calls SET body = :body, request_ids = :request_ids, expires_at = :expires_at
WHERE id = :id AND owner = :owner AND state = 'suspended' AND body = :old_body AND expires_at > :now

-- name: get_call
SELECT * FROM calls WHERE id = :id AND owner = :owner

-- name: claim_call
UPDATE calls SET state = 'resuming', claim_token = :claim_token
WHERE id = :id AND owner = :owner AND state = 'suspended' AND expires_at > :now

-- name: release_call
UPDATE calls SET state = CASE body WHEN '' THEN 'expired' ELSE 'suspended' END
WHERE id = :id AND state = 'resuming' AND claim_token = :claim_token

-- name: finish_call
UPDATE calls SET state = 'finished', body = '' WHERE id = :id

-- name: erase_answers_of_expired_calls
UPDATE requests SET answer = NULL, is_delivered = 1
WHERE state <> 'pending' AND is_delivered = 0 AND lease_owner IN (
    SELECT 'call:' || id FROM calls WHERE expires_at <= :now AND body <> '')

-- name: owners_of_expired_calls
SELECT DISTINCT owner FROM calls WHERE expires_at <= :now AND body <> ''

-- name: owner_of_call
SELECT owner FROM calls WHERE id = :id

-- name: expire_calls
UPDATE calls SET body = '', state = CASE state WHEN 'suspended' THEN 'expired' ELSE state END
WHERE expires_at <= :now AND body <> ''

-- name: delete_forgotten_calls
DELETE FROM calls WHERE expires_at < :forgotten

-- name: save_draft
INSERT INTO drafts VALUES (:owner, :key, :draft, :expires_at)
ON CONFLICT (owner, key) DO UPDATE SET draft = excluded.draft, expires_at = excluded.expires_at

-- name: delete_draft
DELETE FROM drafts WHERE owner = :owner AND key = :key

-- name: delete_expired_drafts
DELETE FROM drafts WHERE expires_at <= :now

-- name: get_draft
SELECT draft FROM drafts WHERE owner = :owner AND key = :key AND expires_at > :now
