-- The tables of PostgresStore.  Their meaning is in statements.sql.
--
-- Each transaction that changes more than a lease locks the row of `counter`.
-- So revisions are committed in their order, and transactions never deadlock.
--
-- Each change of a request notifies the channel that is named like the schema:
-- 'o' and the digest of the owner, and when the request is closed, 'w' and the
-- owner of its lease.  Every role may listen, so notifications contain no names
-- of users and no IDs of requests.

CREATE TABLE requests (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    lease_owner TEXT NOT NULL,
    request TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    expires_at DOUBLE PRECISION NOT NULL,
    sequence BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    state TEXT NOT NULL DEFAULT 'pending',
    answered_by TEXT NOT NULL DEFAULT '',
    updated_at DOUBLE PRECISION NOT NULL,
    action TEXT NOT NULL DEFAULT '',
    answer TEXT,
    is_delivered INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX pending ON requests (owner, sequence) WHERE state = 'pending';
CREATE INDEX leased ON requests (lease_owner) WHERE state = 'pending';
CREATE INDEX expiry ON requests (expires_at) WHERE state = 'pending';
CREATE INDEX history ON requests (owner, revision) WHERE state <> 'pending';
CREATE INDEX undelivered ON requests (lease_owner) WHERE state <> 'pending' AND is_delivered = 0;
CREATE INDEX age ON requests (updated_at) WHERE state <> 'pending';
CREATE TABLE leases (lease_owner TEXT PRIMARY KEY, expires_at DOUBLE PRECISION NOT NULL);
CREATE TABLE counter (revision BIGINT NOT NULL, format INTEGER NOT NULL);
INSERT INTO counter VALUES (0, {format});
CREATE TABLE calls (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    body TEXT NOT NULL,
    request_ids TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    expires_at DOUBLE PRECISION NOT NULL,
    state TEXT NOT NULL DEFAULT 'suspended',
    claim_token TEXT NOT NULL DEFAULT ''
);
CREATE INDEX call_bodies ON calls (expires_at) WHERE body <> '';
CREATE INDEX call_expiry ON calls (expires_at);
CREATE TABLE drafts (
    owner TEXT NOT NULL,
    key TEXT NOT NULL,
    draft TEXT NOT NULL,
    expires_at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (owner, key)
);
CREATE INDEX draft_expiry ON drafts (expires_at);

CREATE FUNCTION notify_of_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify(TG_TABLE_SCHEMA, 'o' || encode(sha256(convert_to(NEW.owner, 'UTF8')), 'hex'));
    IF NEW.state <> 'pending' THEN
        PERFORM pg_notify(TG_TABLE_SCHEMA, 'w' || NEW.lease_owner);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER notify_of_change AFTER INSERT OR UPDATE OF state ON requests
FOR EACH ROW EXECUTE FUNCTION notify_of_change();
