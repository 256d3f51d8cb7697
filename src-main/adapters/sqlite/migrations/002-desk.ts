/** What a card shows beside the command (`facts`: JSON), and what was kept so that a run can be taken back. */
export const desk = `
ALTER TABLE executions ADD COLUMN facts TEXT;

CREATE TABLE undo_kept (
  execution_id TEXT NOT NULL REFERENCES executions (id),
  n INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('file', 'unit', 'container')),
  subject TEXT NOT NULL,
  -- JSON: state before and after, rights, owner, size, hash; never content.
  before TEXT NOT NULL,
  after TEXT,
  -- The content, compressed; encrypted by the keyring when sealed is 1.
  content BLOB,
  sealed INTEGER NOT NULL DEFAULT 0 CHECK (sealed IN (0, 1)),
  at INTEGER NOT NULL,
  PRIMARY KEY (execution_id, n)
) STRICT;
CREATE INDEX undo_kept_by_age ON undo_kept (at);
`
