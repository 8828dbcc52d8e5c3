-- Schema 4: the three results of a finished task, usage limits of accounts, where tasks work with their families, and positions of events.

-- A finished task has one of three results. What was verified without a tree never was: that is `not_verified` now.

ALTER TABLE tasks ADD COLUMN result TEXT CHECK (result IN ('verified', 'not_verified', 'no_checks'));

UPDATE tasks SET result = CASE
    WHEN verified = 0 THEN 'no_checks'
    WHEN EXISTS (
        SELECT 1 FROM events
        WHERE events.task = tasks.number AND kind = 'finished' AND json_valid(payload)
            AND payload ->> '$.verdict.verified.tree' IS NOT NULL
    ) THEN 'verified'
    ELSE 'not_verified'
END WHERE verified IS NOT NULL;

ALTER TABLE tasks DROP COLUMN verified;

-- How many remarks the result has; earlier versions made none.

ALTER TABLE tasks ADD COLUMN remarks INTEGER NOT NULL DEFAULT 0 CHECK (remarks >= 0);

-- Usage limits of agents' accounts, shared by all tasks of the home. One row for each account, written in the commit of the task
-- that reached the limit, removed in that of one whose session got an answer or whose person said that something changed.
-- `account` names the agent and what selects its login; it never holds a key or anything made of one.

CREATE TABLE account_limits (
    account TEXT NOT NULL PRIMARY KEY,
    agent TEXT NOT NULL,
    until INTEGER NOT NULL,
    told INTEGER NOT NULL CHECK (told IN (0, 1)),
    task TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Where tasks work, and families of tasks. Both columns are written once, with the task.
-- `directory` is the directory of the person's that the agent works in; null for a task with its own worktree.
-- `lineage` is the ids from the task at the top of the family down to this one, with slashes between them. Ids grow with time, so it
-- also orders tasks by age, and a task's descendants are those whose lineage begins with its own and a slash.

ALTER TABLE tasks ADD COLUMN directory TEXT;
ALTER TABLE tasks ADD COLUMN lineage TEXT NOT NULL DEFAULT '';

UPDATE tasks SET directory = project WHERE NOT EXISTS (
    SELECT 1 FROM events WHERE task = number AND seq = 1 AND json_valid(payload)
        AND payload ->> '$.submission.place.worktree' IS NOT NULL
);

WITH RECURSIVE line (id, lineage) AS (
    SELECT id, id FROM tasks WHERE parent IS NULL OR parent NOT IN (SELECT id FROM tasks)
    UNION ALL
    SELECT tasks.id, line.lineage || '/' || tasks.id FROM line JOIN tasks ON tasks.parent = line.id
)
UPDATE tasks SET lineage = (SELECT lineage FROM line WHERE line.id = tasks.id);

CREATE INDEX tasks_by_lineage ON tasks (lineage);
CREATE INDEX tasks_by_directory ON tasks (directory, lineage) WHERE final = 0 AND directory IS NOT NULL;

-- Every event has a position in the history of the home. It grows in the order of commits and is never used again, so that a reader that
-- remembers the last position it saw finds everything after it, whatever was removed meanwhile.
-- AUTOINCREMENT does that here: SQLite has one writer at a time, it keeps the counter in `sqlite_sequence` in the same transaction, and
-- VACUUM leaves an INTEGER PRIMARY KEY alone. PostgreSQL commits side by side, and its sequences are counted outside of transactions: there
-- the position has to come from a row that each commit updates, whose lock is held until the end of that commit.

ALTER TABLE events RENAME TO events_3;

CREATE TABLE events (
    position INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
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

INSERT INTO events (position, task, seq, at, epoch, actor, kind, payload, hash)
SELECT rowid, task, seq, at, epoch, actor, kind, payload, hash FROM events_3 ORDER BY rowid;

DROP TABLE events_3;

CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER events_are_not_deleted BEFORE DELETE ON events
WHEN NOT EXISTS (SELECT 1 FROM removals WHERE task = OLD.task)
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
