import type Database from 'better-sqlite3'

/** Prepares each SQL text once, when it is first needed, and keeps it. Gives the function that does so. */
export function preparedStatements<Row>(db: Database.Database): (sql: string) => Database.Statement<unknown[], Row> {
  const kept = new Map<string, Database.Statement<unknown[], Row>>()
  return (sql) => {
    let found = kept.get(sql)
    if (found === undefined) {
      found = db.prepare<unknown[], Row>(sql)
      kept.set(sql, found)
    }
    return found
  }
}
