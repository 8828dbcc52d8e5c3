-- Schema 3: the outbox. A row is one notice for one of a task's targets, made in the commit that it tells of, outside the task's events.
-- `target` counts within the submission's list; `stands` is the state it tells of, as the task may have moved on; `next_at` is when it is
-- due, or until when whoever claimed it has to deliver it. Numbers are never used again, so that a late answer meets no other notice.

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
