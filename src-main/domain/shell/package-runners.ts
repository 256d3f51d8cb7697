import type { Word } from './types'

/** A program that is started out of a package by a package runner (`npx eslint .`). */
export interface PackageRun {
  /** As it is called: `npx`, `pnpm exec`. */
  readonly runner: string
  /** The program and its words, the runner taken off. */
  readonly words: readonly Word[]
  /** Where the program is not in `node_modules/.bin`, the runner takes the one on PATH; without it the runner fetches. */
  readonly orPath: boolean
  /** Why what it starts cannot be pinned, as a sentence with the remedy; null when it may be. */
  readonly refusal: string | null
}

interface Form {
  readonly runner: string
  /** Sub-commands behind the program's name, all of them needed. */
  readonly path: readonly string[]
  readonly orPath: boolean
  /** It always fetches; the remedy. */
  readonly fetches?: string
}

const FORMS: Readonly<Record<string, readonly Form[]>> = {
  npx: [{ runner: 'npx', path: [], orPath: false }],
  npm: [
    { runner: 'npm exec', path: ['exec'], orPath: false },
    { runner: 'npm x', path: ['x'], orPath: false },
  ],
  pnpm: [
    { runner: 'pnpm exec', path: ['exec'], orPath: true },
    { runner: 'pnpm dlx', path: ['dlx'], orPath: false, fetches: 'Install it with "pnpm add" and use "pnpm exec"' },
  ],
  pnpx: [{ runner: 'pnpx', path: [], orPath: false, fetches: 'Install it with "pnpm add" and use "pnpm exec"' }],
  yarn: [
    { runner: 'yarn exec', path: ['exec'], orPath: true },
    { runner: 'yarn dlx', path: ['dlx'], orPath: false, fetches: 'Install it with "yarn add" and use "yarn exec"' },
  ],
  bunx: [{ runner: 'bunx', path: [], orPath: false }],
  bun: [{ runner: 'bun x', path: ['x'], orPath: false }],
  uvx: [
    { runner: 'uvx', path: [], orPath: false, fetches: 'Install it with "uv tool install" and call it by its name' },
  ],
  uv: [
    {
      runner: 'uv tool run',
      path: ['tool', 'run'],
      orPath: false,
      fetches: 'Install it with "uv tool install" and call it by its name',
    },
  ],
  pipx: [
    {
      runner: 'pipx run',
      path: ['run'],
      orPath: false,
      fetches: 'Install it with "pipx install" and call it by its name',
    },
  ],
}

/** Options that change nothing about what is started. */
const HARMLESS =
  /^(?:-y|--yes|--no|--no-install|-q|--quiet|-s|--silent|--loglevel=\w+|--bun|--offline|--prefer-offline)$/

/** What a package runner starts; null when the words are no call of one. `name` is the program's name without its folder. */
export function packageRun(name: string, words: readonly Word[]): PackageRun | null {
  const forms = Object.hasOwn(FORMS, name) ? (FORMS[name] as readonly Form[]) : []
  for (const form of forms) {
    const run = called(form, words)
    if (run !== null) return run
  }
  return null
}

function called({ runner, path, orPath, fetches }: Form, words: readonly Word[]): PackageRun | null {
  const refused = (why: string, from: number): PackageRun => ({
    runner,
    words: words.slice(from),
    orPath,
    refusal: why,
  })
  let open = [...path]
  let odd: string | null = null
  let skipped = false
  let i = 1
  for (; i < words.length; i++) {
    const text = words[i]?.value ?? words[i]?.shape ?? ''
    if (text === '--' && open.length === 0) {
      i++
      break
    }
    if (text.startsWith('-')) {
      if (!HARMLESS.test(text)) odd ??= text
      continue
    }
    if (open.length === 0) break
    if (text !== open[0]) {
      // The value of an option before it, or another sub-command altogether.
      if (odd === null || skipped) return null
      skipped = true
      continue
    }
    open = open.slice(1)
  }
  if (open.length > 0) return null
  const head = words[i]
  if (head === undefined) return null
  if (fetches !== undefined)
    return refused(`"${runner}" fetches what it starts, so it cannot be pinned before it runs. ${fetches}.`, i)
  if (odd !== null)
    return refused(
      `With the option "${odd}" it is not clear here what "${runner}" starts, so it cannot be pinned. Leave the option out, or call the program by its path (node_modules/.bin/…).`,
      i,
    )
  if (head.value === null)
    return refused(
      `What "${runner}" starts is only known when it runs (${head.shape}), so it cannot be pinned. Write the name itself.`,
      i,
    )
  if (!/^(?:@[\w.-]+\/)?[\w.-]+$/.test(head.value) && !(orPath && head.value.includes('/')))
    return refused(
      `"${runner} ${head.value}" names a version or a place it would be fetched from, so it cannot be pinned. Install it, then call it by its plain name.`,
      i,
    )
  return { runner, words: words.slice(i), orPath, refusal: null }
}
