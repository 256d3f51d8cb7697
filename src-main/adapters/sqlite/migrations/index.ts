import type Database from 'better-sqlite3'
import { first } from './001-first'
import { desk } from './002-desk'

/** In order; the position is the number that `user_version` counts. One is never changed once it has shipped. */
const MIGRATIONS: readonly string[] = [first, desk]

/**
 * Brings a database to the newest schema, each step a transaction of its own.
 * @throws Error when the file is from a newer Nomos: an older one must not write to it.
 */
export function migrate(db: Database.Database): void {
  const version = db.pragma('user_version', { simple: true }) as number
  if (version > MIGRATIONS.length) {
    throw new Error(
      `The database has schema ${version}, this Nomos knows ${MIGRATIONS.length}. Start the newer Nomos that wrote it, or set the file aside.`,
    )
  }
  for (let step = version; step < MIGRATIONS.length; step++) {
    db.transaction(() => {
      db.exec(MIGRATIONS[step] ?? '')
      db.pragma(`user_version = ${step + 1}`)
    })()
  }
}
