import type Database from 'better-sqlite3'
import { z } from 'zod'
import { type Dependent, Host } from '../../../src-preload/contract/model'

const Row = z.object({ slug: z.string(), attributes: z.string() })

const hostOf = (row: unknown): Host => {
  const { slug, attributes } = Row.parse(row)
  return Host.parse({ ...(JSON.parse(attributes) as Record<string, unknown>), slug: slug.replace(/^host:/, '') })
}

/** Hosts as entities `host:<slug>`; their address and login are attributes. */
export class Fleet {
  private readonly countDependents: Database.Statement<[{ slug: string }], { n: number }>
  private readonly oneHost: Database.Statement<[string]>

  constructor(private readonly db: Database.Database) {
    this.oneHost = db.prepare(`SELECT slug, attributes FROM entities WHERE kind = 'host' AND slug = ?`)
    // Asked for every request: `depends_on` and `runs_on` backwards; a circle is walked once.
    this.countDependents = db.prepare(
      `WITH RECURSIVE reach (slug) AS (
         SELECT source FROM relationships WHERE destination = @slug AND kind IN ('depends_on', 'runs_on')
         UNION
         SELECT r.source FROM relationships r JOIN reach ON r.destination = reach.slug WHERE r.kind IN ('depends_on', 'runs_on')
       ) SELECT count(*) AS n FROM reach WHERE slug <> @slug`,
    )
  }

  hosts(): Host[] {
    return this.db.prepare(`SELECT slug, attributes FROM entities WHERE kind = 'host' ORDER BY slug`).all().map(hostOf)
  }

  host(slug: string): Host | null {
    const row = this.oneHost.get(`host:${slug}`)
    return row === undefined ? null : hostOf(row)
  }

  save(host: Host, replaces: string | null, at: number): void {
    const { slug, ...attributes } = host
    if (replaces !== null && replaces !== slug) {
      this.db.prepare('UPDATE entities SET slug = ? WHERE slug = ?').run(`host:${slug}`, `host:${replaces}`)
    }
    this.db
      .prepare(
        `INSERT INTO entities (slug, kind, attributes, created_at, updated_at) VALUES (@slug, 'host', @attributes, @at, @at)
         ON CONFLICT (slug) DO UPDATE SET attributes = @attributes, updated_at = @at`,
      )
      .run({ slug: `host:${slug}`, attributes: JSON.stringify(attributes), at })
  }

  remove(slug: string): boolean {
    return this.db.prepare(`DELETE FROM entities WHERE slug = ? AND kind = 'host'`).run(`host:${slug}`).changes === 1
  }

  /** Who depends on any of them, nearest first; those among them are not counted. */
  dependentsOf(slugs: readonly string[], limit: number): { total: number; dependents: Dependent[] } {
    const rows = this.db
      .prepare<[{ slugs: string }], { slug: string; kind: string; steps: number }>(
        // Depth is bounded, so that a circle ends; a longer chain than this has not been seen.
        `WITH RECURSIVE reach (slug, kind, steps) AS (
           SELECT source, kind, 1 FROM relationships
             WHERE destination IN (SELECT value FROM json_each(@slugs)) AND kind IN ('depends_on', 'runs_on')
           UNION
           SELECT r.source, r.kind, reach.steps + 1 FROM relationships r JOIN reach ON r.destination = reach.slug
             WHERE r.kind IN ('depends_on', 'runs_on') AND reach.steps < 32
         ) SELECT slug, kind, min(steps) AS steps FROM reach
           WHERE slug NOT IN (SELECT value FROM json_each(@slugs)) GROUP BY slug ORDER BY steps, slug`,
      )
      .all({ slugs: JSON.stringify(slugs) })
    return { total: rows.length, dependents: rows.slice(0, limit) }
  }

  /** How many depend on it, over any number of steps. */
  dependents(slug: string): number {
    return this.countDependents.get({ slug })?.n ?? 0
  }
}
