import type Database from 'better-sqlite3'
import { Message, type Session } from '../../../src-preload/contract/model'
import { preparedStatements } from './statements'

type Row = Readonly<Record<string, string | number | null>>

const messageOf = (row: Row): Message =>
  Message.parse({
    id: row.id,
    session: row.session,
    turn: row.turn,
    seq: row.seq,
    role: row.role,
    text: row.text,
    toolCalls: JSON.parse(String(row.tool_calls)),
    callId: row.call_id,
    executionId: row.execution_id,
    error: typeof row.error === 'string' ? JSON.parse(row.error) : null,
    streaming: false,
    at: row.at,
  })

const sessionOf = (row: Row): Session => ({
  id: String(row.id),
  title: String(row.title),
  createdAt: Number(row.created_at),
  updatedAt: Number(row.updated_at),
  // A session whose calls wait for results is waiting; whether a model is streaming only the agent loop knows.
  turn: Number(row.open_tools) > 0 ? 'waiting' : 'idle',
})

const SESSIONS = `SELECT s.*, (SELECT count(*) FROM messages m WHERE m.session = s.id AND m.role = 'tool' AND m.text IS NULL)
  AS open_tools FROM sessions s`

/** The sessions and messages tables. */
export class Chat {
  private readonly statement: (sql: string) => Database.Statement<unknown[], Row>

  constructor(db: Database.Database) {
    this.statement = preparedStatements<Row>(db)
  }

  createSession(session: Session): void {
    this.statement('INSERT INTO sessions (id, title, created_at, updated_at) VALUES (?, ?, ?, ?)').run(
      session.id,
      session.title,
      session.createdAt,
      session.updatedAt,
    )
  }

  updateSession(id: string, change: { readonly title?: string; readonly updatedAt?: number }): void {
    this.statement(
      'UPDATE sessions SET title = COALESCE(@title, title), updated_at = COALESCE(@updatedAt, updated_at) WHERE id = @id',
    ).run({ id, title: change.title ?? null, updatedAt: change.updatedAt ?? null })
  }

  removeSession(id: string): void {
    this.statement('DELETE FROM sessions WHERE id = ?').run(id)
  }

  sessions(): Session[] {
    return this.statement(`${SESSIONS} ORDER BY s.updated_at DESC, s.id DESC`).all().map(sessionOf)
  }

  session(id: string): Session | null {
    const row = this.statement(`${SESSIONS} WHERE s.id = ?`).get(id)
    return row ? sessionOf(row) : null
  }

  add(message: Omit<Message, 'seq' | 'streaming'>): Message {
    this.statement(
      `INSERT INTO messages (id, session, turn, seq, role, text, tool_calls, call_id, execution_id, error, at)
       VALUES (@id, @session, @turn, (SELECT COALESCE(MAX(seq), 0) + 1 FROM messages WHERE session = @session), @role, @text,
         @toolCalls, @callId, @executionId, @error, @at)`,
    ).run({
      ...message,
      toolCalls: JSON.stringify(message.toolCalls),
      error: message.error ? JSON.stringify(message.error) : null,
    })
    return this.require(message.id)
  }

  update(id: string, change: Partial<Pick<Message, 'text' | 'toolCalls' | 'error' | 'executionId'>>): Message {
    const before = this.require(id)
    const after = { ...before, ...change }
    this.statement(
      'UPDATE messages SET text = @text, tool_calls = @toolCalls, error = @error, execution_id = @executionId WHERE id = @id',
    ).run({
      id,
      text: after.text,
      toolCalls: JSON.stringify(after.toolCalls),
      error: after.error ? JSON.stringify(after.error) : null,
      executionId: after.executionId,
    })
    return after
  }

  remove(id: string): void {
    this.statement('DELETE FROM messages WHERE id = ?').run(id)
  }

  byId(id: string): Message | null {
    const row = this.statement('SELECT * FROM messages WHERE id = ?').get(id)
    return row ? messageOf(row) : null
  }

  private require(id: string): Message {
    const message = this.byId(id)
    if (message === null) throw new Error(`there is no message "${id}"`)
    return message
  }

  page(session: string, before: number | null, limit: number): Message[] {
    return this.statement(
      'SELECT * FROM messages WHERE session = @session AND (@before IS NULL OR seq < @before) ORDER BY seq DESC LIMIT @limit',
    )
      .all({ session, before, limit })
      .map(messageOf)
      .reverse()
  }

  openTools(session: string | null): Message[] {
    return this.statement(
      `SELECT * FROM messages WHERE role = 'tool' AND text IS NULL AND (@session IS NULL OR session = @session)
       ORDER BY session, seq`,
    )
      .all({ session })
      .map(messageOf)
  }
}
