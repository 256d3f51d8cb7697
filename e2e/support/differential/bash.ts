import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PATHS, TOLD_BUILTINS } from './generate'

/** One program a script tried to run: its name and its arguments, as bash had them. A file it made is `[MADE, name]`. */
export type Tried = readonly string[]

/** No program has this name. */
export const MADE = '\u001d'

/** Why bash cannot be asked on this machine, or null. */
export function whyNoBash(): string | null {
  for (const path of ['/usr/bin/bwrap', '/usr/bin/bash', '/usr/bin/timeout'])
    if (!existsSync(path)) return `${path} is missing`
  const probe = spawnSync('/usr/bin/bwrap', [...SANDBOX, '/usr/bin/bash', '-c', ':'], { timeout: 20_000 })
  return probe.status === 0 ? null : `the sandbox does not start: ${String(probe.stderr).trim()}`
}

/** No network, nothing of this machine can be written, no process outlives the sandbox. */
const SANDBOX = [
  ...'--unshare-user --unshare-net --unshare-pid --unshare-ipc --unshare-uts --cap-drop ALL'.split(' '),
  ...'--ro-bind / / --dev /dev --proc /proc --ro-bind /proc/sys /proc/sys --tmpfs /tmp --tmpfs /run'.split(' '),
  ...'--die-with-parent --new-session --clearenv'.split(' '),
]

/**
 * Runs every script and tells what it tried. A name bash does not find is handed to `command_not_found_handle`, which writes it
 * down; some builtins are wrapped in functions that do the same, and the few programs with a path are ours. Every second name
 * succeeds, so that both sides of `&&` and `||` are met.
 */
const DRIVER = `
tell() { local IFS=$'\\036'; builtin printf '%s\\036%s\\0' "$NOMOS_SCRIPT" "$*" >&250; }
command_not_found_handle() { tell "$@"; [[ $1 == *[13579]* ]]; }
${TOLD_BUILTINS.map((name) => `${name}() { tell ${name} "$@"; builtin ${name} "$@"; }`).join('\n')}
export -f tell command_not_found_handle ${TOLD_BUILTINS.join(' ')}
exec 250>>/tmp/out/log
builtin mapfile -d '' -t scripts </tmp/out/scripts
ulimit -c 0 -t 4 -f 2048
builtin shopt -s nullglob dotglob
folders=("\${!scripts[@]}")
/usr/bin/mkdir "\${folders[@]/#//tmp/w/}"
for NOMOS_SCRIPT in "\${!scripts[@]}"; do
  builtin cd /tmp/w/$NOMOS_SCRIPT
  NOMOS_SCRIPT=$NOMOS_SCRIPT PATH=/tmp/x/none LC_ALL=C.UTF-8 HOME=/home/u \\
    /usr/bin/timeout -s KILL 3 /usr/bin/bash --norc --noprofile -c "\${scripts[NOMOS_SCRIPT]}" </dev/null >/dev/null 2>&1
  for made in *; do tell ${MADE} "$made"; done
done
/usr/bin/sleep 0.3
`

/** What each of some scripts tried to run in real bash, in an empty place. */
export function runInBash(scripts: readonly string[]): Tried[][] {
  const folder = mkdtempSync(join(tmpdir(), 'nomos-differential-'))
  try {
    for (const name of ['out', 'x']) mkdirSync(join(folder, name))
    writeFileSync(join(folder, 'out', 'scripts'), scripts.map((script) => `${script}\0`).join(''))
    writeFileSync(join(folder, 'out', 'log'), '')
    for (const path of PATHS) {
      const file = join(folder, 'x', path.slice(path.lastIndexOf('/') + 1))
      writeFileSync(
        file,
        '#!/usr/bin/bash --noprofile\nIFS=$\'\\036\'; set -- "$0" "$@"; builtin printf \'%s\\036%s\\0\' "$NOMOS_SCRIPT" "$*" >&250\n',
      )
      chmodSync(file, 0o555)
    }
    const arguments_ = [
      ...SANDBOX,
      ...['--dir', '/tmp/w', '--bind', join(folder, 'out'), '/tmp/out', '--ro-bind', join(folder, 'x'), '/tmp/x'],
      ...['/usr/bin/bash', '--norc', '--noprofile', '-c', DRIVER],
    ]
    const limit = 60_000 + scripts.length * 100
    const run = spawnSync('/usr/bin/bwrap', arguments_, { stdio: ['ignore', 'ignore', 'pipe'], timeout: limit })
    if (run.status !== 0) throw new Error(`the sandbox ended with ${run.status}: ${String(run.stderr).slice(-400)}`)
    const tried: Tried[][] = scripts.map(() => [])
    for (const record of readFileSync(join(folder, 'out', 'log'), 'utf8').split('\0')) {
      if (record === '') continue
      const [index, name = '', ...rest] = record.split('\u001e')
      // `exec` makes a path of the place it stands in.
      tried[Number(index)]?.push([name.replace(/^\/tmp\/w\/\d+\//, ''), ...rest])
    }
    return tried
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
