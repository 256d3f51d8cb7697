import type { Span } from '../../../src-preload/contract/model'
import type { Word } from './types'

/** A command carried by another one: as words, or as a text that a shell reads once more. */
export type Carried =
  | { readonly kind: 'words'; readonly words: readonly Word[] }
  | { readonly kind: 'script'; readonly text: string; readonly span: Span }

export interface Unwrapped {
  readonly carried: readonly Carried[]
  /** The carried command runs on another machine, in a container or in another system. */
  readonly remote: boolean
  /** The machine or container as it is named there (`user@web1`, `101`); null when that is not one word, or not a remote one. */
  readonly destination?: string | null
}

interface Carrier {
  /** Short options that take a value. */
  readonly short?: string
  /** Long options that take a value as the next word. */
  readonly long?: readonly string[]
  /** Operands before the carried command. */
  readonly skip?: number
  /** `NAME=value` words may stand before the command. */
  readonly assignments?: boolean
  /** The words are joined with spaces and read by a shell again. */
  readonly joined?: boolean
  /** Options whose value is a script. */
  readonly script?: readonly string[]
  /** Only the script options carry something. */
  readonly scriptOnly?: boolean
  readonly remote?: boolean
  /** Sub-command words, one of which must stand first. */
  readonly commands?: readonly (readonly string[])[]
}

const CARRIERS: Readonly<Record<string, Carrier>> = {
  sudo: {
    short: 'ugpChrtTDRUa',
    long: [
      'user',
      'group',
      'prompt',
      'close-from',
      'chdir',
      'host',
      'role',
      'type',
      'command-timeout',
      'chroot',
      'other-user',
    ],
    assignments: true,
  },
  'sudo-rs': { short: 'ug', long: ['user', 'group'], assignments: true },
  doas: { short: 'uCa' },
  pkexec: { long: ['user'] },
  run0: { short: 'ug', long: ['user', 'group', 'unit', 'property', 'description', 'nice', 'chdir', 'setenv'] },
  env: { short: 'uC', long: ['unset', 'chdir'], assignments: true, script: ['-S', '--split-string'] },
  nice: { short: 'n', long: ['adjustment'] },
  ionice: { short: 'cnpPu', long: ['class', 'classdata', 'pid', 'pgid', 'uid'] },
  nohup: {},
  chronic: {},
  setsid: {},
  timeout: { short: 'ks', long: ['kill-after', 'signal'], skip: 1 },
  stdbuf: { short: 'ioe', long: ['input', 'output', 'error'] },
  unbuffer: {},
  time: { short: 'fo', long: ['format', 'output'] },
  chrt: { short: 'TPD', skip: 1 },
  taskset: { skip: 1 },
  numactl: { short: 'NmpCil', long: ['cpunodebind', 'membind', 'preferred', 'physcpubind', 'interleave'] },
  prlimit: { short: 'p' },
  xargs: {
    short: 'aEILnPsd',
    long: ['arg-file', 'delimiter', 'max-args', 'max-procs', 'max-chars', 'process-slot-var'],
  },
  parallel: { short: 'jaINnLPSC', long: ['jobs', 'arg-file', 'sshlogin', 'colsep', 'results', 'joblog'], joined: true },
  watch: { short: 'nqs', long: ['interval', 'equexit'], joined: true },
  viddy: { short: 'n', long: ['interval'], joined: true },
  entr: {},
  command: {},
  builtin: {},
  exec: { short: 'a' },
  chroot: { long: ['userspec', 'groups'], skip: 1, remote: true },
  unshare: { short: 'SGRw', long: ['setuid', 'setgid', 'root', 'wd', 'map-user', 'map-group', 'propagation'] },
  nsenter: { short: 'tSG', long: ['target', 'setuid', 'setgid'], remote: true },
  setpriv: { long: ['reuid', 'regid', 'groups', 'inh-caps', 'ambient-caps', 'bounding-set'] },
  setarch: { skip: 1 },
  linux32: {},
  linux64: {},
  capsh: { script: ['-c'], scriptOnly: true },
  runuser: { short: 'ugGsw', long: ['user', 'group', 'supp-group', 'shell'], script: ['-c', '--command'] },
  su: { short: 'gGsw', long: ['group', 'supp-group', 'shell'], script: ['-c', '--command'], scriptOnly: true },
  sg: { skip: 1, joined: true, script: ['-c'] },
  flock: { short: 'wEc', long: ['wait', 'timeout', 'conflict-exit-code'], skip: 1, script: ['-c', '--command'] },
  script: { short: 'cOITBmoE', script: ['-c', '--command'], scriptOnly: true },
  strace: { short: 'eopsPuEaISXbOU' },
  ltrace: { short: 'eopsuaFnAD' },
  valgrind: {},
  perf: { commands: [['stat'], ['record'], ['trace']], short: 'eoCprF' },
  firejail: {},
  bwrap: {},
  proot: { short: 'rbqw' },
  fakeroot: {},
  fakechroot: {},
  faketime: { skip: 1 },
  cpulimit: { short: 'lpe', long: ['limit'] },
  'dbus-run-session': {},
  'dbus-launch': {},
  'xvfb-run': { short: 'efnps', long: ['server-args', 'server-num'] },
  'systemd-run': {
    short: 'pHMEu',
    long: [
      'property',
      'host',
      'machine',
      'setenv',
      'unit',
      'description',
      'slice',
      'uid',
      'gid',
      'nice',
      'working-directory',
    ],
  },
  'systemd-inhibit': { long: ['what', 'who', 'why', 'mode'] },
  'systemd-nspawn': { short: 'DMiuE', long: ['directory', 'machine', 'image', 'user', 'bind', 'setenv'], remote: true },
  machinectl: { commands: [['shell']], short: 'EH', skip: 1, remote: true },
  ssh: { short: 'bcDEeFIiJLlmOopQRSWwB', skip: 1, joined: true, remote: true },
  autossh: { short: 'bcDEeFIiJLlmMOopQRSWwB', skip: 1, joined: true, remote: true },
  mosh: { skip: 1, remote: true },
  rsh: { short: 'l', skip: 1, joined: true, remote: true },
  sshpass: { short: 'fdpP' },
  pct: { commands: [['exec']], long: ['keep-env'], skip: 1, remote: true },
  lxc: { commands: [['exec']], long: ['env', 'user', 'group', 'cwd', 'mode'], skip: 1, remote: true },
  incus: { commands: [['exec']], long: ['env', 'user', 'group', 'cwd', 'mode'], skip: 1, remote: true },
  'lxc-attach': { short: 'nPsRuv', long: ['name', 'lxcpath'], remote: true },
  qm: { commands: [['guest', 'exec']], long: ['timeout', 'pass-stdin'], skip: 1, remote: true },
  kubectl: {
    commands: [['exec']],
    short: 'cnf',
    long: ['container', 'namespace', 'context', 'kubeconfig', 'cluster', 'user', 'server', 'as', 'filename'],
    skip: 1,
    remote: true,
  },
  oc: {
    commands: [['exec'], ['rsh']],
    short: 'cnf',
    long: ['container', 'namespace', 'context'],
    skip: 1,
    remote: true,
  },
  busybox: {},
  toybox: {},
  conda: { commands: [['run']], short: 'np', long: ['name', 'prefix'] },
  mamba: { commands: [['run']], short: 'np', long: ['name', 'prefix'] },
  uv: { commands: [['run']], long: ['python', 'with', 'group', 'extra'], short: 'p' },
  poetry: { commands: [['run']] },
  pipenv: { commands: [['run']] },
  wsl: { short: 'du', remote: true },
  git: {
    commands: [
      ['submodule', 'foreach'],
      ['bisect', 'run'],
    ],
    short: 'cC',
    joined: true,
  },
  vagrant: { commands: [['ssh']], script: ['-c', '--command'], scriptOnly: true, remote: true },
  ansible: { script: ['-a', '--args'], scriptOnly: true, remote: true },
  eval: { joined: true },
  nocorrect: {},
  noglob: {},
}

/** Shells and what runs a text given with `-c`. */
export const SHELLS: ReadonlySet<string> = new Set([
  'sh',
  'bash',
  'dash',
  'ash',
  'zsh',
  'ksh',
  'ksh93',
  'mksh',
  'rbash',
  'fish',
  'csh',
  'tcsh',
  'yash',
  'hush',
])

/** True for programs that start another one given to them as words. */
export function carries(name: string): boolean {
  return Object.hasOwn(CARRIERS, name) || SHELLS.has(name)
}

const SYSTEM_PROGRAM = /^\/(?:usr\/)?s?bin\/[^/]+$/

/** The program a word names: `/usr/bin/ls` is `ls`; a name in any other folder, or by any detour, stays a path. */
export function programName(word: Word | undefined): string {
  const shape = word?.shape ?? ''
  return SYSTEM_PROGRAM.test(shape) ? shape.slice(shape.lastIndexOf('/') + 1) : shape
}

/** Like `programName`, but any path counts: `/opt/x/rm` may well be `rm`. For finding danger only. */
export function suspectedName(word: Word | undefined): string {
  const shape = word?.shape ?? ''
  // Most names are just names.
  if (!/[/\\]|\.exe$/i.test(shape)) return shape
  return shape.slice(Math.max(shape.lastIndexOf('/'), shape.lastIndexOf('\\')) + 1).replace(/\.exe$/i, '')
}

const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*=/

interface Skipped {
  readonly next: number
  readonly scripts: readonly Carried[]
}

function skipOptions(words: readonly Word[], from: number, carrier: Carrier): Skipped {
  const scripts: Carried[] = []
  let i = from
  while (i < words.length) {
    const word = words[i] as Word
    const text = word.shape
    if (text === '--') {
      i++
      break
    }
    if (carrier.assignments && ASSIGNMENT.test(text)) {
      i++
      continue
    }
    if (!/^[-+]./.test(text)) break
    if (text.startsWith('--')) {
      const equals = text.indexOf('=')
      const name = equals < 0 ? text : text.slice(0, equals)
      if (carrier.script?.some((s) => s.startsWith('--') && name.length > 3 && s.startsWith(name))) {
        const value = equals < 0 ? words[++i] : undefined
        if (equals >= 0) scripts.push({ kind: 'script', text: text.slice(equals + 1), span: word })
        else if (value) scripts.push({ kind: 'script', text: value.shape, span: value })
      } else if (equals < 0 && carrier.long?.some((long) => `--${long}` === name)) i++
      i++
      continue
    }
    let value: Word | undefined
    for (let k = 1; k < text.length; k++) {
      const letter = text[k] as string
      const script = carrier.script?.includes(`-${letter}`) === true
      if (!script && !carrier.short?.includes(letter)) continue
      if (k === text.length - 1) value = words[++i]
      if (script) {
        if (value) scripts.push({ kind: 'script', text: value.shape, span: value })
        else scripts.push({ kind: 'script', text: text.slice(k + 1).replace(/^=/, ''), span: word })
      }
      break
    }
    i++
  }
  return { next: i, scripts }
}

function joined(words: readonly Word[]): Carried[] {
  const first = words[0]
  const last = words[words.length - 1]
  if (!first || !last) return []
  return [
    {
      kind: 'script',
      text: words.map((word) => word.shape).join(' '),
      span: { start: Math.min(first.start, last.start), end: Math.max(first.end, last.end) },
    },
  ]
}

function shell(words: readonly Word[]): Carried[] {
  for (let i = 1; i < words.length; i++) {
    const text = (words[i] as Word).shape
    if (!/^[-+]./.test(text)) return []
    // Each `o` in a cluster takes a word of its own (`-euo pipefail`, `-euoc pipefail ls`).
    const named = /^[-+][A-Za-z]+$/.test(text) ? (text.match(/[oO]/g) ?? []).length : 0
    if (/^--(?:rcfile|init-file|init-command)$/.test(text)) i++
    else if (/^-[A-Za-z]*c[A-Za-z]*$/.test(text) || text === '--command') {
      let k = i + 1 + named
      while (words[k] && /^[-+]./.test((words[k] as Word).shape)) k++
      const script = words[k]
      return script ? [{ kind: 'script', text: script.shape, span: script }] : []
    } else i += named
  }
  return []
}

function find(words: readonly Word[]): Carried[] {
  const carried: Carried[] = []
  for (let i = 1; i < words.length; i++) {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test((words[i] as Word).shape)) continue
    let end = i + 1
    while (end < words.length && !/^(?:;|\+)$/.test((words[end] as Word).shape)) end++
    if (end > i + 1) carried.push({ kind: 'words', words: words.slice(i + 1, end) })
    i = end
  }
  return carried
}

const DOCKER_VALUES = new Set(
  '-H --host -c --context -l --log-level --config --tlscacert --tlscert --tlskey -e --env -u --user -w --workdir --env-file --detach-keys -v --volume -p --publish --name --network --net --mount --entrypoint -m --memory --cpus --label --restart --add-host --dns --ip --hostname -h --device --pull --platform --cap-add --cap-drop --security-opt --ulimit --gpus --shm-size --tmpfs --pid --ipc --userns -f --file --profile --project-directory --project-name --index --connection --url --root'.split(
    ' ',
  ),
)

/** `docker [options] [container|compose] exec|run [options] <name> <command…>` */
function docker(words: readonly Word[], compose: boolean): Carried[] {
  const rest: Word[] = []
  let verb = ''
  let i = 1
  for (; i < words.length; i++) {
    const word = words[i] as Word
    const text = word.shape
    if (text === '--') continue
    if (text.startsWith('-')) {
      if (text === '--entrypoint' && words[i + 1]) rest.push(words[i + 1] as Word)
      if (DOCKER_VALUES.has(text)) i++
      continue
    }
    if (verb === '') {
      if (text === 'container' || (!compose && text === 'compose') || text === 'sandbox') continue
      if (text !== 'exec' && text !== 'run') return []
      verb = text
      continue
    }
    // The container or image; what follows is the command, options and all.
    return rest.length > 0 || i + 1 < words.length ? [{ kind: 'words', words: [...rest, ...words.slice(i + 1)] }] : []
  }
  return []
}

/** `tmux new -d 'cmd'`, `screen -dm cmd …`: one word is read by a shell, several are a command. */
function windows(words: readonly Word[], name: string): Carried[] {
  const carried: Carried[] = words
    .slice(1)
    .filter((word) => /\s/.test(word.shape))
    .map((word) => ({ kind: 'script', text: word.shape, span: word }))
  let at = 1
  if (name === 'tmux') {
    while (words[at]?.shape.startsWith('-')) at += /^-[LSfc]$/.test(words[at]?.shape ?? '') ? 2 : 1
    if (
      !/^(?:new|neww|new-session|new-window|split-window|splitw|respawn-(?:pane|window)|run|run-shell)$/.test(
        words[at]?.shape ?? '',
      )
    )
      return carried
    at++
  }
  while (words[at]?.shape.startsWith('-')) at += /^-[a-zA-Z]*[cFnstxyeSThp]$/.test(words[at]?.shape ?? '') ? 2 : 1
  const rest = words.slice(at)
  return rest.length > 0 ? [...carried, { kind: 'words', words: rest }] : carried
}

/** Commands that stand in a word of their own language: an alias made on the way, an action of an archiver, an editor's escape. */
const SPELLED: Readonly<Record<string, RegExp>> = {
  git: /^alias\.[^=]+=!([\s\S]+)/,
  tar: /^--(?:checkpoint-action=exec|to-command|use-compress-program|rsh-command|info-script|new-volume-script)=([\s\S]+)/,
  vi: /^:?!([\s\S]+)/,
  vim: /^:?!([\s\S]+)/,
  nvim: /^:?!([\s\S]+)/,
  ex: /^:?!([\s\S]+)/,
  gdb: /^(?:shell\s|!)([\s\S]+)/,
}

function spelled(name: string, words: readonly Word[]): Carried[] {
  const pattern = Object.hasOwn(SPELLED, name) ? SPELLED[name] : undefined
  if (!pattern) return []
  return words.slice(1).flatMap((word): Carried[] => {
    const text = pattern.exec(word.shape)?.[1]
    return text === undefined ? [] : [{ kind: 'script', text, span: word }]
  })
}

/** Commands carried by this one, or null when it carries none. */
export function unwrap(words: readonly Word[]): Unwrapped | null {
  const name = suspectedName(words[0])
  if (name === '') return null
  if (SHELLS.has(name)) return { carried: shell(words), remote: false }
  const own = spelled(name, words)
  if (own.length > 0) return { carried: own, remote: false }
  switch (name) {
    case 'find':
    case 'gfind':
      return { carried: find(words), remote: false }
    case 'docker':
    case 'podman':
    case 'nerdctl':
      return { carried: docker(words, false), remote: true }
    case 'docker-compose':
    case 'podman-compose':
      return { carried: docker(words, true), remote: true }
    case 'fd':
    case 'fdfind': {
      const at = words.findIndex((word) => /^(?:-x|-X|--exec|--exec-batch)$/.test(word.shape))
      return { carried: at < 0 ? [] : [{ kind: 'words', words: words.slice(at + 1) }], remote: false }
    }
    case 'tmux':
    case 'screen':
      return { carried: windows(words, name), remote: false }
    case 'trap':
      return {
        carried: words[1] && words.length > 2 ? [{ kind: 'script', text: words[1].shape, span: words[1] }] : [],
        remote: false,
      }
    case 'alias':
      return {
        carried: words.slice(1).flatMap((word): Carried[] => {
          const equals = word.shape.indexOf('=')
          return equals < 0 ? [] : [{ kind: 'script', text: word.shape.slice(equals + 1), span: word }]
        }),
        remote: false,
      }
    case 'pwsh':
    case 'powershell':
    case 'cmd': {
      const at = words.findIndex((word) => /^(?:-c|-command|\/c|\/k)$/i.test(word.shape))
      return { carried: at < 0 ? [] : joined(words.slice(at + 1)), remote: false }
    }
    case 'lvm':
      return { carried: [{ kind: 'words', words: words.slice(1) }], remote: false }
  }
  const carrier = CARRIERS[name]
  if (!carrier || !Object.hasOwn(CARRIERS, name)) return null
  if (name === 'command' && words[1] && /^-[a-zA-Z]*[vV]/.test(words[1].shape)) return { carried: [], remote: false }
  let at = skipOptions(words, 1, carrier)
  const scripts = [...at.scripts]
  if (carrier.commands) {
    const path = carrier.commands.find((c) => c.every((part, k) => words[at.next + k]?.shape === part))
    if (!path) return null
    at = skipOptions(words, at.next + path.length, carrier)
    scripts.push(...at.scripts)
  }
  // `su user -c …`, `flock file -c …`: options may stand behind the operands as well.
  if (carrier.scriptOnly || (carrier.script && (carrier.skip || name === 'runuser'))) {
    for (let i = at.next; i < words.length; i++) {
      const word = words[i] as Word
      const value = words[i + 1]
      if (carrier.script?.includes(word.shape) && value)
        scripts.push({ kind: 'script', text: value.shape, span: value })
      else
        for (const option of carrier.script ?? [])
          if (option.startsWith('--') && word.shape.startsWith(`${option}=`))
            scripts.push({ kind: 'script', text: word.shape.slice(option.length + 1), span: word })
    }
    if (carrier.scriptOnly) return { carried: scripts, remote: carrier.remote === true }
  }
  let from = at.next
  const destination = carrier.remote
    ? carrier.skip
      ? words[from]?.value
      : optionValue(words, /^(?:-n|--name)$/)
    : null
  if (carrier.skip) {
    from += carrier.skip
    // Options and `--` may also stand between the operand and the command (`ssh host -p 22 ls`, `pct exec 101 -- ls`).
    from = skipOptions(words, from, carrier).next
  }
  let rest = words.slice(from)
  if (name === 'parallel') {
    const end = rest.findIndex((word) => /^:::/.test(word.shape))
    if (end >= 0) rest = [...rest.slice(0, end), ...rest.slice(end + 1)]
  }
  const carried: Carried[] = [...scripts]
  if (rest.length > 0) {
    if (carrier.joined) carried.push(...joined(rest))
    else carried.push({ kind: 'words', words: rest })
  }
  return { carried, remote: carrier.remote === true, destination: destination ?? null }
}

function optionValue(words: readonly Word[], option: RegExp): string | null {
  const at = words.findIndex(({ value }) => value !== null && option.test(value))
  return at < 0 ? null : (words[at + 1]?.value ?? null)
}
