/** Sessions, messages, executions with their approvals, the ledger, entities and their relationships, settings. */
export const first = `
CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE messages (
  id TEXT PRIMARY KEY,
  session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  turn TEXT NOT NULL,
  seq INTEGER NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'tool', 'run', 'notice')),
  text TEXT,
  tool_calls TEXT NOT NULL DEFAULT '[]',
  call_id TEXT,
  execution_id TEXT,
  error TEXT,
  at INTEGER NOT NULL,
  UNIQUE (session, seq)
) STRICT;
CREATE INDEX messages_open_tools ON messages (session) WHERE role = 'tool' AND text IS NULL;
CREATE INDEX messages_by_execution ON messages (execution_id) WHERE execution_id IS NOT NULL;

CREATE TABLE approvals (
  id TEXT PRIMARY KEY,
  state TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'denied', 'expired', 'cancelled', 'revoked')),
  outcome TEXT NOT NULL CHECK (outcome IN ('ask', 'confirm')),
  phrase TEXT,
  digest TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  settlement TEXT
) STRICT;
CREATE INDEX approvals_pending ON approvals (created_at) WHERE state = 'pending';

CREATE TABLE executions (
  id TEXT PRIMARY KEY,
  principal TEXT NOT NULL,
  session TEXT,
  turn TEXT,
  target TEXT NOT NULL,
  user TEXT,
  cwd TEXT,
  command TEXT NOT NULL,
  redacted INTEGER NOT NULL CHECK (redacted IN (0, 1)),
  purpose TEXT,
  verify TEXT,
  declared_risk TEXT,
  classification TEXT NOT NULL,
  risk TEXT NOT NULL CHECK (risk IN ('read_only', 'reversible_low', 'config_mutation', 'destructive')),
  decision TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('requested', 'pending_approval', 'approved', 'running', 'completed', 'failed',
    'timed_out', 'cancelled', 'denied', 'expired', 'undeliverable', 'unknown')),
  state_reason TEXT,
  failure TEXT,
  requested_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER,
  exit_code INTEGER,
  signal TEXT,
  output_bytes INTEGER NOT NULL DEFAULT 0,
  output TEXT NOT NULL DEFAULT '',
  truncated INTEGER NOT NULL DEFAULT 0 CHECK (truncated IN (0, 1)),
  retry_of TEXT,
  approval_id TEXT REFERENCES approvals (id),
  dedup_key TEXT NOT NULL,
  plan_digest TEXT NOT NULL,
  plan_mac TEXT NOT NULL,
  plan_json TEXT,
  plan_sealed BLOB
) STRICT;
CREATE INDEX executions_open ON executions (state, id)
  WHERE state IN ('requested', 'pending_approval', 'approved', 'running');
CREATE UNIQUE INDEX executions_pending_key ON executions (dedup_key) WHERE state = 'pending_approval';
CREATE INDEX executions_by_session ON executions (session, id);
CREATE INDEX executions_by_approval ON executions (approval_id) WHERE approval_id IS NOT NULL;

-- The class is set at request time and never rewritten.
CREATE TRIGGER executions_risk_is_final BEFORE UPDATE OF risk ON executions
WHEN NEW.risk IS NOT OLD.risk BEGIN SELECT RAISE(ABORT, 'the risk class of an execution never changes'); END;
CREATE TRIGGER approvals_settle_once BEFORE UPDATE OF state ON approvals
WHEN OLD.state <> 'pending' AND NOT (OLD.state = 'approved' AND NEW.state = 'revoked')
BEGIN SELECT RAISE(ABORT, 'a settled approval never changes'); END;

CREATE TABLE ledger (
  seq INTEGER PRIMARY KEY,
  v INTEGER NOT NULL,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  actor TEXT NOT NULL,
  execution_id TEXT,
  approval_id TEXT,
  data TEXT NOT NULL,
  prev_hash TEXT NOT NULL,
  hash TEXT NOT NULL
) STRICT;
CREATE TRIGGER ledger_no_update BEFORE UPDATE ON ledger BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER ledger_no_delete BEFORE DELETE ON ledger BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;

CREATE TABLE entities (
  slug TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('host', 'lxc', 'service')),
  attributes TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE relationships (
  source TEXT NOT NULL REFERENCES entities (slug) ON DELETE CASCADE ON UPDATE CASCADE,
  kind TEXT NOT NULL,
  destination TEXT NOT NULL REFERENCES entities (slug) ON DELETE CASCADE ON UPDATE CASCADE,
  PRIMARY KEY (source, kind, destination)
) STRICT, WITHOUT ROWID;
CREATE INDEX relationships_to ON relationships (destination);

CREATE TABLE settings (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`
