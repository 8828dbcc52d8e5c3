-- Schema 4, the first one that is released: tasks, their events and snapshots, idempotency keys, notices, usage limits, and API keys.
-- A task is its last snapshot and the events after it (none: all its events). The columns of `tasks` are written from the task in the
-- commit that changes it; lists, claims and counts read nothing else.

-- `tenant` and `principal` say who submitted the task. `host` is the machine that claimed it last; `owner_host` is set only while it is owned.
-- `directory` is the user's directory that the agent works in; null for a task with its own worktree.
-- `lineage` is the ids from the top of the family down to this task, with slashes between them. Ids grow with time, so it also orders
-- tasks by age, and a task's descendants are those whose lineage begins with its own and a slash.
-- `goal` and `step` are first lines, cut to 200 characters. `since` is when the task entered its state. `wait` is that state as JSON if the
-- task waits for a time, a person or something outside; `wait_agent` is the agent whose usage limit it waits for.
-- `follows` is the finished task that a follow-up does something with, `kind` what it does, and `came_to` what came of that, as JSON.
CREATE TABLE tasks (
    number INTEGER NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    tenant TEXT NOT NULL,
    principal TEXT NOT NULL,
    project TEXT NOT NULL,
    name TEXT NOT NULL,
    parent TEXT,
    lineage TEXT NOT NULL,
    directory TEXT,
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
    result TEXT CHECK (result IN ('verified', 'not_verified', 'no_checks', 'landed', 'pull_request', 'discarded', 'restored')),
    remarks INTEGER NOT NULL CHECK (remarks >= 0),
    goal TEXT NOT NULL,
    agent TEXT NOT NULL,
    branch TEXT,
    step TEXT,
    worked_ms INTEGER NOT NULL CHECK (worked_ms >= 0),
    cost_micros INTEGER CHECK (cost_micros >= 0),
    since INTEGER NOT NULL,
    wait_agent TEXT,
    follows TEXT,
    kind TEXT CHECK (kind IN ('land', 'discard', 'restore')),
    wait TEXT,
    came_to TEXT,
    CHECK ((follows IS NULL) = (kind IS NULL)),
    CHECK ((owner IS NULL) = (lease_id IS NULL)),
    CHECK ((owner IS NULL) = (owner_host IS NULL)),
    CHECK ((owner IS NULL) = (owner_since IS NULL)),
    CHECK ((steps IS NULL) = (steps_done IS NULL)),
    CHECK (wants_owner = 1 OR owner IS NULL)
) STRICT;

CREATE UNIQUE INDEX tasks_unfinished_name ON tasks (tenant, project, name) WHERE final = 0;
-- What front ends list is one tenant's; workers look at all tenants' tasks.
CREATE INDEX tasks_by_age ON tasks (tenant, created, id);
CREATE INDEX tasks_unfinished_by_age ON tasks (tenant, created, id) WHERE final = 0;
CREATE INDEX tasks_by_project ON tasks (tenant, project, created, id);
CREATE INDEX tasks_by_name ON tasks (tenant, name, created, id);
CREATE INDEX tasks_wanting_owner ON tasks (priority DESC, created, id) WHERE wants_owner = 1;
CREATE INDEX tasks_owned ON tasks (owner, created, id) WHERE owner IS NOT NULL;
CREATE INDEX tasks_live ON tasks (live_session) WHERE live_session IS NOT NULL;
CREATE INDEX tasks_by_parent ON tasks (parent) WHERE parent IS NOT NULL;
-- One thing at a time is done with the work of a finished task.
CREATE UNIQUE INDEX tasks_one_follow_up ON tasks (follows) WHERE follows IS NOT NULL AND final = 0;
CREATE INDEX tasks_by_follows ON tasks (follows, number) WHERE follows IS NOT NULL;
CREATE INDEX tasks_by_lineage ON tasks (lineage);
-- Created after `tasks_by_project`, or SQLite prefers that one for unfinished tasks too (`listing_tests.rs` looks at its plans).
CREATE INDEX tasks_unfinished_by_project ON tasks (tenant, project, created, id) WHERE final = 0;
CREATE INDEX tasks_by_directory ON tasks (directory, lineage) WHERE final = 0 AND directory IS NOT NULL;

-- Every event has a position in the history of the home. It grows in the order of commits and is never reused, so a reader that
-- remembers the last position it saw finds everything after it, whatever was removed in between.
-- The writer counts on from the newest event or, if that was removed, from the newest position in `removed_history`. SQLite has one writer
-- at a time, and VACUUM leaves an INTEGER PRIMARY KEY alone. AUTOINCREMENT would do the same with one more page in every commit. PostgreSQL
-- commits concurrently, and its sequences are counted outside transactions: there the position has to come from a row that each commit
-- updates and keeps locked until it ends. Then positions become visible in their order, a commit that fails leaves no gap, and no reader of
-- the feed can overtake a commit that is still in progress.
CREATE TABLE events (
    position INTEGER NOT NULL PRIMARY KEY,
    task INTEGER NOT NULL REFERENCES tasks (number),
    seq INTEGER NOT NULL CHECK (seq > 0),
    at INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    actor TEXT NOT NULL,
    kind TEXT NOT NULL,
    payload TEXT NOT NULL,
    hash TEXT NOT NULL,
    UNIQUE (task, seq)
) STRICT;

-- Names the task whose history is being removed; empty between transactions.
CREATE TABLE removals (
    task INTEGER NOT NULL PRIMARY KEY
) STRICT;

-- The newest position that was removed with a task of each tenant: a reader that stopped before it has missed events,
-- and the newest of all is where counting continues.
CREATE TABLE removed_history (
    tenant TEXT NOT NULL PRIMARY KEY,
    position INTEGER NOT NULL CHECK (position > 0)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER events_are_not_deleted BEFORE DELETE ON events
WHEN NOT EXISTS (SELECT 1 FROM removals WHERE task = OLD.task)
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;

CREATE TABLE snapshots (
    task INTEGER NOT NULL PRIMARY KEY REFERENCES tasks (number),
    version INTEGER NOT NULL CHECK (version > 0),
    epoch INTEGER NOT NULL CHECK (epoch >= 0),
    head TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT;

-- An idempotency key belongs to who used it, within a tenant, and is bound to its operation and input (a digest).
-- `seq` is the last event of the change it names.
CREATE TABLE keys (
    tenant TEXT NOT NULL,
    key TEXT NOT NULL,
    principal TEXT NOT NULL,
    operation TEXT NOT NULL,
    input TEXT NOT NULL,
    task INTEGER NOT NULL REFERENCES tasks (number),
    seq INTEGER NOT NULL CHECK (seq > 0),
    PRIMARY KEY (tenant, principal, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX keys_by_task ON keys (task);

-- The outbox. A row is one notice for one of a task's targets, made in the commit that it reports, outside the task's events.
-- `target` counts within the submission's list; `stands` is the state it reports, as the task may have moved on; `next_at` is when it is
-- due, or until when whoever claimed it has to deliver it. Numbers are never reused, so that a late answer meets no other notice.
CREATE TABLE outbox (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    task INTEGER NOT NULL REFERENCES tasks (number),
    seq INTEGER NOT NULL CHECK (seq > 0),
    target INTEGER NOT NULL CHECK (target >= 0),
    occasion TEXT NOT NULL,
    stands TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'failed')),
    tries INTEGER NOT NULL CHECK (tries >= 0),
    next_at INTEGER NOT NULL,
    created INTEGER NOT NULL,
    error TEXT,
    UNIQUE (task, seq, target)
) STRICT;

CREATE INDEX outbox_pending ON outbox (next_at, id) WHERE state = 'pending';

-- Usage limits of agents' accounts, shared by all tasks of the home: one row for each account, written in the commit of the task that
-- reached the limit, removed in that of one whose session got an answer or whose person reported a change.
-- `account` names the agent and what selects its login; it never holds a key or anything made of one.
CREATE TABLE account_limits (
    account TEXT NOT NULL PRIMARY KEY,
    agent TEXT NOT NULL,
    until INTEGER NOT NULL,
    told INTEGER NOT NULL CHECK (told IN (0, 1)),
    task TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Who may call the HTTP server. Of the key itself only the SHA-256 is kept. Rows stay after a key was revoked: the history names keys by id.
CREATE TABLE api_keys (
    id TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    rights TEXT NOT NULL,
    created INTEGER NOT NULL,
    expires INTEGER,
    revoked INTEGER,
    digest TEXT NOT NULL UNIQUE
) STRICT, WITHOUT ROWID;
