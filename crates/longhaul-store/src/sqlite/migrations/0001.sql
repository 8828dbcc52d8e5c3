-- Schema 1: tasks as they stand, what happened to them, and the idempotency keys.
-- Columns beside the snapshot exist for lists, claims and counts; each is written from the snapshot in the same statement.
-- `host` is the machine that claimed the task last; `owner_host` speaks only while somebody owns it.

CREATE TABLE tasks (
    id TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    principal TEXT NOT NULL,
    project TEXT NOT NULL,
    name TEXT NOT NULL,
    parent TEXT,
    driver TEXT NOT NULL,
    host TEXT,
    state TEXT NOT NULL,
    final INTEGER NOT NULL CHECK (final IN (0, 1)),
    wants_owner INTEGER NOT NULL CHECK (wants_owner IN (0, 1)),
    waits_for_person INTEGER NOT NULL CHECK (waits_for_person IN (0, 1)),
    live_session TEXT,
    version INTEGER NOT NULL CHECK (version > 0),
    epoch INTEGER NOT NULL CHECK (epoch >= 0),
    owner TEXT,
    owner_host TEXT,
    lease_id TEXT,
    owner_since INTEGER,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    head TEXT NOT NULL,
    snapshot TEXT NOT NULL,
    CHECK ((owner IS NULL) = (lease_id IS NULL)),
    CHECK ((owner IS NULL) = (owner_host IS NULL)),
    CHECK ((owner IS NULL) = (owner_since IS NULL)),
    CHECK (wants_owner = 1 OR owner IS NULL)
) STRICT;

CREATE UNIQUE INDEX tasks_unfinished_name ON tasks (tenant, project, name) WHERE final = 0;
CREATE INDEX tasks_by_age ON tasks (created, id);
CREATE INDEX tasks_wanting_owner ON tasks (created, id) WHERE wants_owner = 1;
CREATE INDEX tasks_owned ON tasks (owner) WHERE owner IS NOT NULL;
CREATE INDEX tasks_live ON tasks (live_session) WHERE live_session IS NOT NULL;

CREATE TABLE events (
    task TEXT NOT NULL REFERENCES tasks (id),
    seq INTEGER NOT NULL CHECK (seq > 0),
    at INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    actor TEXT NOT NULL,
    kind TEXT NOT NULL,
    payload TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (task, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE keys (
    key TEXT NOT NULL PRIMARY KEY,
    task TEXT NOT NULL REFERENCES tasks (id),
    seq INTEGER NOT NULL,
    digest TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER events_are_not_deleted BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
