-- The tables of SqliteStore.  Their meaning is in statements.sql.

CREATE TABLE requests (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    lease_owner TEXT NOT NULL,
    request TEXT NOT NULL,
    created_at REAL NOT NULL,
    expires_at REAL NOT NULL,
    sequence INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'pending',
    answered_by TEXT NOT NULL DEFAULT '',
    updated_at REAL NOT NULL,
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
CREATE TABLE leases (lease_owner TEXT PRIMARY KEY, expires_at REAL NOT NULL);
CREATE TABLE counter (revision INTEGER NOT NULL);
INSERT INTO counter VALUES (0);
CREATE TABLE calls (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    body TEXT NOT NULL,
    request_ids TEXT NOT NULL,
    created_at REAL NOT NULL,
    expires_at REAL NOT NULL,
    state TEXT NOT NULL DEFAULT 'suspended',
    claim_token TEXT NOT NULL DEFAULT ''
);
CREATE INDEX call_bodies ON calls (expires_at) WHERE body <> '';
CREATE INDEX call_expiry ON calls (expires_at);
CREATE TABLE drafts (
    owner TEXT NOT NULL,
    key TEXT NOT NULL,
    draft TEXT NOT NULL,
    expires_at REAL NOT NULL,
    PRIMARY KEY (owner, key)
);
CREATE INDEX draft_expiry ON drafts (expires_at);
