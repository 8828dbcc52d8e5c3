-- Schema 4: the three results of a finished task, usage limits of accounts, and where tasks work with their families.

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
