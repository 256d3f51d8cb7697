// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what looks like a template is text for a shell
import { z } from 'zod'
import type { InspectWish, PathSeen } from '../../ports'
import { commandLine, escapeForPrintf, halves, SYSTEM_PATH } from './far-side'

/** What one answer may hold: the content in hexadecimal, and the path. */
export const answerBytes = (content: number): number => 2 * content + 64 * 1024

/**
 * Looks at one path. The words are ours and fixed; folder and path travel as escapes that `printf` turns back. A link at the end is not followed: it
 * is looked for before and behind the reading, and what was read is thrown away when another file stood there by then.
 * Answers a line `<nonce> <path> <kind> …`, with all texts in hexadecimal.
 */
export function inspectCommand(word: string, cwd: string | null, { path, content }: InspectWish): string {
  const script = [
    `PATH=${SYSTEM_PATH}:$PATH; export PATH; LC_ALL=C; export LC_ALL; unset CDPATH`,
    'm=$1$2; d=$(printf %b. "$3"); d=${d%.}; p=$(printf %b. "$4"); p=${p%.}; n=$5',
    'hex() { od -An -v -tx1 | tr -d " \\012"; }',
    'case $d in "~") d=$HOME;; "~/"*) d=$HOME/${d#??};; esac',
    'case $p in /*) ;; *) if [ -n "$d" ]; then cd -- "$d" || exit 1; fi; w=$(pwd -P && echo .) || exit 1; w=${w%??}; p=${w%/}/$p;; esac',
    'say() { echo "$m $(printf %s "$p" | hex) $*"; exit 0; }',
    'state() { stat -c "%a %u %g %d:%i %s %Y" -- "$p" 2>/dev/null; }',
    'if [ -h "$p" ]; then t=$(readlink -n -- "$p" && echo .) || say hidden; f=0; if [ -d "$p" ]; then f=1; fi; say link $f "$(printf %s "${t%.}" | hex)"; fi',
    // Whoever may not enter a folder above cannot tell whether it is there.
    'if [ -e "$p" ]; then :; else q=$p; until [ -z "$q" ] || [ -e "$q" ]; do q=${q%/*}; done; if [ -d "${q:-/}" ]; then if [ -x "${q:-/}" ]; then :; else say hidden; fi; fi; say missing; fi',
    's=$(state) || say hidden',
    'if [ -d "$p" ]; then say folder $s; fi; if [ -f "$p" ]; then :; else say other; fi',
    'if [ "$n" = 0 ]; then say file $s not-wanted; fi; if [ -r "$p" ]; then :; else say file $s denied; fi',
    'c=$(head -c "$((n+1))" <"$p" | hex) || say hidden',
    'if [ -h "$p" ]; then say hidden; fi; [ "$(state)" = "$s" ] || say hidden',
    'say file $s content "$c"',
  ]
  return commandLine([
    script.join('; '),
    'sh',
    ...halves(word),
    cwd === null ? '' : escapeForPrintf(cwd),
    escapeForPrintf(path),
    String(content),
  ])
}

const Hex = z
  .string()
  .regex(/^(?:[0-9a-f]{2})*$/)
  .transform((hex) => Buffer.from(hex, 'hex'))
const Text = Hex.transform((bytes, context) => {
  const text = bytes.toString('utf8')
  if (Buffer.from(text, 'utf8').equals(bytes)) return text
  context.addIssue('is no text')
  return z.NEVER
})
const Owned = z
  .tuple([
    z.string().regex(/^[0-7]{1,4}$/),
    z.string().regex(/^\d{1,10}$/),
    z.string().regex(/^\d{1,10}$/),
    z.string().regex(/^\d{1,20}:\d{1,20}$/),
    z.string().regex(/^\d{1,15}$/),
    z.string().regex(/^-?\d{1,12}$/),
  ])
  .transform(([mode, uid, gid, id, size, mtime]) => ({
    owned: { mode: Number.parseInt(mode, 8), uid: Number(uid), gid: Number(gid), id },
    size: Number(size),
    mtime,
  }))

/** Reads the answer to `inspectCommand`; null when it is not there or odd. */
export function parseInspected(word: string, wish: InspectWish, output: string): PathSeen | null {
  const line = output.split('\n').find((one) => one.startsWith(`${word} `))
  const [, hex = '', kind, ...rest] = (line ?? '').split(' ')
  const path = Text.safeParse(hex)
  if (!path.success || !path.data.startsWith('/')) return null
  const at = path.data.replace(/\/(?:\.?\/)+/g, '/')
  if (kind === 'missing' || kind === 'other' || kind === 'hidden') return { kind, at }
  if (kind === 'link') {
    const target = Text.safeParse(rest[1])
    // A name that is no text could not be put back as it was.
    return target.success ? { kind, at, target: target.data, toFolder: rest[0] === '1' } : { kind: 'other', at }
  }
  const found = Owned.safeParse(rest.slice(0, 6))
  if (!found.success) return null
  const { owned, size, mtime } = found.data
  if (kind === 'folder') return { kind, at, ...owned }
  if (kind !== 'file') return null
  const state = { kind, at, ...owned, size, mtime } as const
  const [said, bytes] = rest.slice(6)
  if (said === 'not-wanted' || said === 'denied') return { ...state, content: null, without: said }
  const content = Hex.safeParse(bytes ?? '')
  if (said !== 'content' || !content.success) return null
  if (content.data.length > wish.content) return { ...state, content: null, without: 'too-large' }
  return { ...state, size: content.data.length, content: new Uint8Array(content.data), without: null }
}
