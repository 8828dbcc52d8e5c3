-- Schema 2: a commit writes one event and one narrow row. The snapshot has a table of its own and is written now and then: a task
-- is its last snapshot and the events after it (none: all its events).
-- Events stand in the order they were committed, so that many tasks' events of one transaction share pages; `number` keeps
-- their index narrow. `removals` names the task whose history is being removed, and is empty between transactions.

DROP TRIGGER events_are_not_changed;
DROP TRIGGER events_are_not_deleted;
DROP INDEX tasks_unfinished_name;
DROP INDEX tasks_by_age;
DROP INDEX tasks_wanting_owner;
DROP INDEX tasks_owned;
DROP INDEX tasks_live;
ALTER TABLE tasks RENAME TO tasks_1;
ALTER TABLE events RENAME TO events_1;
ALTER TABLE keys RENAME TO keys_1;

CREATE TABLE tasks (
    number INTEGER NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
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
    priority INTEGER NOT NULL,
    steps_done INTEGER CHECK (steps_done >= 0),
    steps INTEGER CHECK (steps >= 0),
    sessions INTEGER NOT NULL CHECK (sessions >= 0),
    tokens INTEGER CHECK (tokens >= 0),
    version INTEGER NOT NULL CHECK (version > 0),
    epoch INTEGER NOT NULL CHECK (epoch >= 0),
    owner TEXT,
    owner_host TEXT,
    lease_id TEXT,
    owner_since INTEGER,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    history_bytes INTEGER NOT NULL CHECK (history_bytes >= 0),
    head TEXT NOT NULL,
    verified INTEGER CHECK (verified IN (0, 1)),
    CHECK ((owner IS NULL) = (lease_id IS NULL)),
    CHECK ((owner IS NULL) = (owner_host IS NULL)),
    CHECK ((owner IS NULL) = (owner_since IS NULL)),
    CHECK ((steps IS NULL) = (steps_done IS NULL)),
    CHECK (wants_owner = 1 OR owner IS NULL)
) STRICT;

CREATE TABLE events (
    task INTEGER NOT NULL REFERENCES tasks (number),
    seq INTEGER NOT NULL CHECK (seq > 0),
    at INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    actor TEXT NOT NULL,
    kind TEXT NOT NULL,
    payload TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (task, seq)
) STRICT;

CREATE TABLE snapshots (
    task INTEGER NOT NULL PRIMARY KEY REFERENCES tasks (number),
    version INTEGER NOT NULL CHECK (version > 0),
    epoch INTEGER NOT NULL CHECK (epoch >= 0),
    head TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT;

CREATE TABLE keys (
    key TEXT NOT NULL PRIMARY KEY,
    task INTEGER NOT NULL REFERENCES tasks (number),
    seq INTEGER NOT NULL,
    digest TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE removals (
    task INTEGER NOT NULL PRIMARY KEY
) STRICT;

-- Of a snapshot that is no JSON the columns say nothing; the task is then named as damaged when it is read.
INSERT INTO tasks
SELECT row_number() OVER (ORDER BY created, id), id, tenant, principal, project, name, parent, driver, host, state, final,
    wants_owner, waits_for_person, live_session, 0,
    CASE WHEN json_valid(snapshot) AND snapshot ->> '$.plan' IS NOT NULL
        THEN (SELECT count(*) FROM json_each(snapshot, '$.plan.plan.steps') AS step WHERE step.value ->> '$.ticked')
    END,
    CASE WHEN json_valid(snapshot) AND snapshot ->> '$.plan' IS NOT NULL
        THEN json_array_length(snapshot, '$.plan.plan.steps')
    END,
    CASE WHEN json_valid(snapshot) THEN coalesce(snapshot ->> '$.tally.sessions', 0) ELSE 0 END,
    CASE WHEN json_valid(snapshot)
            AND coalesce(snapshot ->> '$.tally.usage.input', snapshot ->> '$.tally.usage.output') IS NOT NULL
        THEN coalesce(snapshot ->> '$.tally.usage.input', 0) + coalesce(snapshot ->> '$.tally.usage.output', 0)
    END,
    version, epoch, owner, owner_host, lease_id, owner_since, created, updated,
    (SELECT coalesce(sum(octet_length(actor) + octet_length(payload)), 0) FROM events_1 WHERE task = tasks_1.id), head,
    -- Schema 1 knew no checks.
    CASE WHEN state = 'done' THEN 0 END
FROM tasks_1;

-- No snapshot is carried over: an older core made them, and tasks are rebuilt from their events by this one.

-- An event or key of no task has no number, which ends the migration: nothing is dropped silently.
INSERT INTO events
SELECT number, seq, at, events_1.epoch, actor, kind, payload, hash
FROM events_1 LEFT JOIN tasks ON tasks.id = events_1.task ORDER BY events_1.at, number, seq;

INSERT INTO keys SELECT key, number, seq, digest FROM keys_1 LEFT JOIN tasks ON tasks.id = keys_1.task;

DROP TABLE keys_1;
DROP TABLE events_1;
DROP TABLE tasks_1;

CREATE UNIQUE INDEX tasks_unfinished_name ON tasks (tenant, project, name) WHERE final = 0;
CREATE INDEX tasks_by_age ON tasks (created, id);
CREATE INDEX tasks_unfinished_by_age ON tasks (created, id) WHERE final = 0;
CREATE INDEX tasks_by_project ON tasks (project, created, id);
CREATE INDEX tasks_by_name ON tasks (name, created, id);
CREATE INDEX tasks_wanting_owner ON tasks (priority DESC, created, id) WHERE wants_owner = 1;
CREATE INDEX tasks_owned ON tasks (owner, created, id) WHERE owner IS NOT NULL;
CREATE INDEX tasks_live ON tasks (live_session) WHERE live_session IS NOT NULL;
CREATE INDEX tasks_by_parent ON tasks (parent) WHERE parent IS NOT NULL;
CREATE INDEX keys_by_task ON keys (task);

CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER events_are_not_deleted BEFORE DELETE ON events
WHEN NOT EXISTS (SELECT 1 FROM removals WHERE task = OLD.task)
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
