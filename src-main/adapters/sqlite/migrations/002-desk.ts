/** What a card shows beside the command (`facts`: JSON), and what was kept so that a run can be taken back. */
export const desk = `
ALTER TABLE executions ADD COLUMN facts TEXT;

CREATE INDEX executions_by_undone ON executions (json_extract(facts, '$.undoOf')) WHERE json_extract(facts, '$.undoOf') IS NOT NULL;

CREATE TABLE undo_kept (
  execution_id TEXT NOT NULL REFERENCES executions (id),
  n INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('file', 'unit', 'container')),
  -- Redacted: for people. The real name is in before.
  subject TEXT NOT NULL,
  -- JSON: what it is and its state before and after, with rights, owner, size and a keyed hash; never content.
  before TEXT NOT NULL,
  after TEXT,
  -- The content, compressed; encrypted by the keyring when sealed is 1.
  content BLOB,
  sealed INTEGER NOT NULL DEFAULT 0 CHECK (sealed IN (0, 1)),
  at INTEGER NOT NULL,
  PRIMARY KEY (execution_id, n)
) STRICT;
CREATE INDEX undo_kept_by_age ON undo_kept (at);

-- Which kept contents a run that takes another one back reads, by a keyed hash of all its bytes.
CREATE TABLE undo_inputs (
  mac TEXT PRIMARY KEY,
  execution_id TEXT NOT NULL REFERENCES executions (id),
  parts TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`
