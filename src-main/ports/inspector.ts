import type { Endpoint, KeyFingerprint, Plan } from '../../src-preload/contract/model'

/** A place whose files are looked at, as a plan names it. */
export interface InspectedPlace {
  readonly kind: Plan['kind']
  readonly endpoint: Endpoint | null
  readonly user: string | null
  /** The keys the host may show; any other ends the look. Null where there are none to compare. */
  readonly hostKeys: readonly KeyFingerprint[] | null
  /** What relative paths begin at; null is the folder of the login. */
  readonly cwd: string | null
}

export interface InspectWish {
  /** Absolute, or relative to the folder of the place. The system walks it: `..` behind a link leads where it leads. */
  readonly path: string
  /** The content is wanted if it has at most so many bytes; 0: it is not wanted. */
  readonly content: number
}

interface Owned {
  /** Rights with setuid, setgid and sticky: 0 to 07777. */
  readonly mode: number
  readonly uid: number
  readonly gid: number
  /** Device and inode. */
  readonly id: string
}

/** What stands at a path; a link at its end is not followed. `at` is the absolute path. */
export type PathSeen = { readonly at: string } & (
  | { readonly kind: 'missing' }
  | ({
      readonly kind: 'file'
      readonly size: number
      /** Seconds since the epoch with their fraction, as text. */
      readonly mtime: string
      readonly content: Uint8Array | null
      /** Why there is no content; null when there is. */
      readonly without: 'not-wanted' | 'too-large' | 'denied' | null
    } & Owned)
  | ({ readonly kind: 'folder' } & Owned)
  | { readonly kind: 'link'; readonly target: string; readonly toFolder: boolean }
  /** A device, a pipe, a socket. */
  | { readonly kind: 'other' }
  /** It may not be looked at. */
  | { readonly kind: 'hidden' }
)

/**
 * Looks at files of one kind of place. It starts no command of anybody's and changes nothing; what a run is about to change is kept
 * from what it reads. The adapters that run commands implement it, since they have the way there.
 */
export interface Inspector {
  readonly kind: Plan['kind']
  /**
   * One answer for each wish, in order.
   * @throws Error with a sentence when the place as a whole cannot be looked at.
   */
  inspect(place: InspectedPlace, wishes: readonly InspectWish[]): Promise<readonly PathSeen[]>
}
