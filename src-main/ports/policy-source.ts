type Json = Readonly<Record<string, unknown>>

/**
 * What stands in a policy file: nothing, a policy, or something that cannot be understood. `version` names the content; comments, order
 * and when an entry was last used do not count. `raw` is what is written again: it holds fields that nobody here knows.
 */
export type SourceRead<T> =
  | { readonly kind: 'absent'; readonly path: string; readonly version: string }
  | { readonly kind: 'file'; readonly path: string; readonly version: string; readonly file: T; readonly raw: Json }
  | {
      readonly kind: 'broken'
      readonly path: string
      readonly version: string
      readonly problem: string
      readonly text: string
    }

/** A policy file while its lock is held. */
export interface SourceEditing<T> {
  read(): SourceRead<T>
  /** Throws `bad_input` for what may not be written. The texts hold no token. */
  prepare(next: Json): { readonly version: string; readonly before: string; readonly after: string }
  /** Writes what was prepared last. Answers where the file of before was kept; null when there was none. */
  commit(stamp: string): string | null
  /** Writes without keeping what was there: for what only says when something was used. */
  touch(next: Json): void
}

/** What the policy needs of one of its files; `adapters/approvals-file` has both. */
export interface PolicySource<T> {
  readonly path: string
  read(): SourceRead<T>
  edit<R>(work: (file: SourceEditing<T>) => R | Promise<R>): Promise<R>
  parse(text: string): Json
  shown(raw: Json): string
  /** The last good copy, or a backup by its path; null when it is not there or not good. */
  kept(path?: string): Json | null
  setAside(stamp: string): string
}
