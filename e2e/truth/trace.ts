import { posix } from 'node:path'

/** What a command did, or tried to do, that a read does not. */
export type DeedKind = 'write' | 'remove' | 'metadata' | 'connect' | 'listen' | 'signal' | 'system' | 'run'

/** One such deed. `subject` is a path, an address or the call with its arguments, `result` what the kernel answered. */
export interface Deed {
  readonly kind: DeedKind
  readonly call: string
  readonly subject: string
  /** The file name of the program that did it. */
  readonly program: string
  readonly result: string
}

/** What a trace holds. */
export interface Traced {
  readonly deeds: readonly Deed[]
  /** It asked a name server, which any program may; what it wanted the address for it may not have come to. */
  readonly askedNames: boolean
  /** File names of all programs that were started, in order. */
  readonly programs: readonly string[]
}

/**
 * Everything that changes something for good, talks to somebody, or starts a program. `?`: a call that this strace does not know is
 * left out. Reading calls are not among them, so a heavy reader is hardly slowed down.
 */
export const TRACED_CALLS: string = [
  'execve execveat clone clone3 fork vfork chdir fchdir open openat openat2 creat unlink unlinkat rename renameat renameat2 mkdir mkdirat rmdir',
  'link linkat symlink symlinkat mknod mknodat truncate ftruncate chmod fchmod fchmodat fchmodat2 chown lchown fchown fchownat utime',
  'utimes futimesat utimensat setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr mount umount2 fsmount move_mount',
  'mount_setattr pivot_root swapon swapoff sethostname setdomainname settimeofday clock_settime clock_adjtime adjtimex kill tkill',
  'tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal ptrace process_vm_writev reboot kexec_load kexec_file_load init_module',
  'finit_module delete_module bpf add_key keyctl request_key syslog quotactl acct ioctl setpriority sched_setaffinity sched_setscheduler',
  'ioprio_set prlimit64 shmget shmctl msgget msgctl semget semctl mq_open mq_unlink perf_event_open connect bind sendto sendmsg',
  'sendmmsg io_uring_setup fallocate fanotify_init iopl ioperm',
]
  .join(' ')
  .split(' ')
  .map((name) => `?${name}`)
  .join(',')

interface Call {
  readonly pid: string
  readonly name: string
  readonly args: readonly string[]
  readonly result: string
}

/** Splits at commas that stand outside of quotes and brackets, up to the bracket that closes the call. */
function splitArguments(text: string): { readonly args: readonly string[]; readonly rest: string } {
  const args: string[] = []
  let depth = 0
  let from = 0
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]
    if (quoted) {
      if (letter === '\\') at++
      else if (letter === '"') quoted = false
    } else if (letter === '"') quoted = true
    else if (letter === '[' || letter === '{' || letter === '(') depth++
    // A path after a descriptor (`3</a, (b>`) may hold anything; it ends at the next `>` that something can follow.
    else if (letter === '<' && /[0-9A-Z]/.test(text[at - 1] ?? '')) {
      const end = /^<(?:[^>]|->|>(?![,)\s>]))*>{1,2}/.exec(text.slice(at))
      if (end) at += end[0].length - 1
    } else if (letter === ']' || letter === '}' || (letter === ')' && depth > 0)) depth--
    else if (letter === ')') {
      const last = text.slice(from, at).trim()
      return { args: last === '' && args.length === 0 ? [] : [...args, last], rest: text.slice(at + 1) }
    } else if (letter === ',' && depth === 0) {
      args.push(text.slice(from, at).trim())
      from = at + 1
    }
  }
  return { args: [...args, text.slice(from).trim()], rest: '' }
}

/** The calls of a trace written by `strace -f -o`; a call that another process interrupted is put together again. */
function* calls(trace: string): Generator<Call> {
  const open = new Map<string, string>()
  for (const line of trace.split('\n')) {
    const head = /^(\d+)\s+(.*)$/.exec(line)
    if (head === null) continue
    const pid = head[1] ?? ''
    let text = head[2] ?? ''
    // The trace was ended at the time limit, in the moment before the number of a call could be read: there is no such call.
    if (/^syscall_0xf{8,}\w+\(.* <detached \.\.\.>$/.test(text)) continue
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(text)
    if (resumed) {
      text = `${open.get(pid) ?? ''}${resumed[1] ?? ''}`
      open.delete(pid)
    } else if (text.endsWith('<unfinished ...>')) {
      open.set(pid, text.slice(0, -'<unfinished ...>'.length))
      continue
    }
    const call = parsed(pid, text)
    if (call) yield call
  }
  // What was going on when the end came was an attempt all the same.
  for (const [pid, text] of open) {
    const call = parsed(pid, `${text}) = ?`)
    if (call) yield call
  }
}

function parsed(pid: string, text: string): Call | null {
  const name = /^(\w+)\(/.exec(text)
  if (name === null) return null
  const { args, rest } = splitArguments(text.slice(name[0].length))
  return { pid, name: name[1] ?? '', args, result: /=\s*(.*)$/.exec(rest)?.[1]?.trim() ?? '?' }
}

/** The text of a quoted argument; null when it is none. */
function textOf(argument: string | undefined): string | null {
  const quoted = /^"((?:[^"\\]|\\.)*)"/.exec(argument ?? '')
  if (quoted === null) return null
  return (quoted[1] ?? '').replace(/\\([0-7]{1,3}|.)/g, (_all, code: string) =>
    /^[0-7]/.test(code) ? String.fromCharCode(Number.parseInt(code, 8)) : ({ n: '\n', t: '\t', r: '\r' }[code] ?? code),
  )
}

/** The path that stands behind a descriptor: `3</srv/app>`, `AT_FDCWD</srv/app>`, `1</dev/null<char 1:3>>`. */
function behind(argument: string | undefined): string {
  return /^[^<]*<([^<>]*)/.exec(argument ?? '')?.[1] ?? ''
}

/** Writing to these is no change: they are nothing, a terminal, or what the process had been given already. */
const NOWHERE =
  /^\/dev\/(?:null|zero|full|tty|stdin|stdout|stderr|console|ptmx|pts\/\d+|fd\/\d+)$|^\/proc\/(?:self|thread-self|\d+)\/(?:fd\/\d+|comm|task\/\d+\/comm|timerslack_ns|coredump_filter|oom_score_adj)$/

/** Folders that are there on every machine: a program that makes sure of them changes nothing. */
const ALWAYS_THERE = /^\/(?:dev|run|run\/lock|tmp|home|home\/ann|srv|var|var\/(?:log|lib|tmp|cache|run))?$/

/** Two folders that go by their old names as well. */
const OLD_NAMES: Readonly<Record<string, string>> = { '/var/run': '/run', '/var/lock': '/run/lock' }
const OLD_NAME = /^\/var\/(?:run|lock)(?=\/|$)/

/** Name services and the resolver, which any program may ask. */
const NAME_SERVICE =
  /^(?:\/var)?\/run\/(?:nscd\/socket|systemd\/(?:userdb\/.*|resolve\/io\.systemd\.Resolve|io\.system\.ManagedOOM)|avahi-daemon\/socket)$/

/** Requests to a device that set something. Terminals are not among them: there is none. */
const SETTING_IOCTL =
  /^(?:SIOCS(?!ETHTOOL)\w+|SIOC(?:ADD|DEL|BOND|BR)\w+|TUNSET\w+|\w+_SET\w*|\w*SETFLAGS|TIOCSTI|TIOCCONS|BLK(?:DISCARD|SECDISCARD|ZEROOUT|RRPART|PG|ROSET|FLSBUF)|FITRIM|FIFREEZE|LOOP_\w+|DM_(?:DEV_(?:CREATE|REMOVE|RENAME|SUSPEND)|TABLE_(?:LOAD|CLEAR)|REMOVE_ALL)|SG_IO|NVME_IOCTL_(?:RESET|FORMAT)\w*|\w*RESIZE\w*|\w*SNAP_(?:CREATE|DESTROY)\w*)/

const NETLINK_CHANGE =
  /nlmsg_type=(?:\w+ *<< *8 *\| *)?(?:NFNL_SUBSYS_\w+<<8\|)?((?:RTM|NFT_MSG|IPCTNL_MSG\w*|XFRM_MSG|TCA|IPSET_CMD)_(?:NEW|DEL|SET|ADD|FLUSH|UPD|CREATE|DESTROY|SWAP|RENAME)\w*)/

/** A change to a link that is not named, without anything to change. */
const EMPTY_LINK = /nlmsg_len=32, nlmsg_type=RTM_NEWLINK,.*ifi_index=0, ifi_flags=0, ifi_change=0\}\]?,/

/** Programs in these folders are nobody's system: a read that starts one has been led to it. */
const STRANGE_FOLDER = /^\/(?:srv|home|root|tmp|var|opt\/app|run|dev)\//

/**
 * What a run did that a read does not do. Attempts count although they failed. Files that the run itself made and took away again are
 * no change. `trace` is the output of `strace -f -yy -o`.
 */
export function deedsOf(trace: string): Traced {
  const deeds: Deed[] = []
  const programs: string[] = []
  const running = new Map<string, string>()
  const folders = new Map<string, string>()
  const own = new Set<string>()
  /** All that the run ever made: taking it away twice is no deed. */
  const once = new Set<string>()
  /** What the run made, with the deed to report should it stay. */
  const made = new Map<string, Deed>()
  let lastParent = ''
  let askedNames = false

  const isMade = (path: string): boolean => {
    for (let at = path; at !== '/' && at !== '.'; at = posix.dirname(at)) if (made.has(at)) return true
    return false
  }

  for (const { pid, name, args, result } of calls(trace)) {
    own.add(pid)
    if (!running.has(pid)) running.set(pid, running.get(lastParent) ?? 'bash')
    if (!folders.has(pid)) folders.set(pid, folders.get(lastParent) ?? '/srv/app')
    const here = folders.get(pid) ?? '/'
    const program = running.get(pid) ?? ''
    const done = /^\d/.test(result)
    const deed = (kind: DeedKind, subject: string): Deed => ({ kind, call: name, subject, program, result })
    const add = (kind: DeedKind, subject: string): void => {
      deeds.push(deed(kind, subject))
    }
    const whole = (): string => args.join(', ').slice(0, 300)
    const at = (folder: string | undefined, path: string | undefined): string => {
      const text = textOf(path)
      const base = folder === undefined ? here : behind(folder)
      // `NULL` with a descriptor: the file behind it.
      if (text === null) return behind(path) || (path === 'NULL' && base) || whole()
      const full = text === '' ? base : posix.resolve(base || '/', text)
      return full.replace(OLD_NAME, (name) => OLD_NAMES[name] ?? name)
    }
    const change = (kind: DeedKind, path: string): void => {
      if (!NOWHERE.test(path) && !isMade(path) && !/^(?:socket|pipe|anon_inode|\/memfd):/.test(path)) add(kind, path)
    }
    const make = (path: string, fresh: boolean): void => {
      if (NOWHERE.test(path) || isMade(path)) return
      if (/EEXIST/.test(result) && ALWAYS_THERE.test(path)) return
      if (done && fresh) {
        made.set(path, deed('write', path))
        once.add(path)
      } else add('write', path)
    }
    const take = (path: string): void => {
      if (made.has(path)) made.delete(path)
      else if (!isMade(path) && !(once.has(path) && /ENOENT/.test(result))) add('remove', path)
    }
    const move = (from: string, to: string): void => {
      if (!made.has(from) || !done) {
        add('write', `${from} -> ${to}`)
        return
      }
      const was = made.get(from)
      made.delete(from)
      if (was !== undefined) made.set(to, { ...was, call: name, subject: to })
    }

    switch (name) {
      case 'execve':
      case 'execveat': {
        const path = name === 'execve' ? at(undefined, args[0]) : at(args[0], args[1])
        if (!done && !/EACCES|EPERM/.test(result)) break
        if (STRANGE_FOLDER.test(path)) add('run', path)
        if (done) {
          running.set(pid, posix.basename(path))
          programs.push(posix.basename(path))
        }
        break
      }
      case 'clone':
      case 'clone3':
      case 'fork':
      case 'vfork': {
        lastParent = pid
        const child = /^\d+/.exec(result)?.[0]
        if (child !== undefined) {
          own.add(child)
          if (!running.has(child)) running.set(child, program)
          if (!folders.has(child)) folders.set(child, here)
        }
        break
      }
      case 'chdir':
        if (done) folders.set(pid, at(undefined, args[0]))
        break
      case 'fchdir':
        if (done) folders.set(pid, behind(args[0]))
        break
      case 'open':
      case 'openat':
      case 'openat2':
      case 'creat': {
        const path = name === 'open' || name === 'creat' ? at(undefined, args[0]) : at(args[0], args[1])
        const flags = name === 'creat' ? 'O_WRONLY|O_CREAT|O_TRUNC' : (args[name === 'open' ? 1 : 2] ?? '')
        if (!/O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND|O_TMPFILE/.test(flags)) break
        // A file without a name is gone with the process.
        if (/O_TMPFILE/.test(flags)) break
        if (/O_CREAT/.test(flags)) make(path, /O_EXCL/.test(flags) || /^\/(?:tmp|dev\/shm)\//.test(path))
        else change('write', path)
        break
      }
      case 'mkdir':
        make(at(undefined, args[0]), true)
        break
      case 'mkdirat':
        make(at(args[0], args[1]), true)
        break
      case 'mknod':
        make(at(undefined, args[0]), true)
        break
      case 'mknodat':
        make(at(args[0], args[1]), true)
        break
      case 'symlink':
        make(at(undefined, args[1]), true)
        break
      case 'symlinkat':
        make(at(args[1], args[2]), true)
        break
      case 'link':
        make(at(undefined, args[1]), true)
        break
      case 'linkat':
        make(at(args[2], args[3]), true)
        break
      case 'unlink':
      case 'rmdir':
        take(at(undefined, args[0]))
        break
      case 'unlinkat':
        take(at(args[0], args[1]))
        break
      case 'rename':
        move(at(undefined, args[0]), at(undefined, args[1]))
        break
      case 'renameat':
      case 'renameat2':
        move(at(args[0], args[1]), at(args[2], args[3]))
        break
      case 'truncate':
        change('write', at(undefined, args[0]))
        break
      case 'ftruncate':
      case 'fallocate':
        change('write', behind(args[0]))
        break
      case 'chmod':
      case 'chown':
      case 'lchown':
      case 'utime':
      case 'utimes':
      case 'setxattr':
      case 'lsetxattr':
      case 'removexattr':
      case 'lremovexattr':
        change('metadata', at(undefined, args[0]))
        break
      case 'fchmod':
      case 'fchown':
      case 'fsetxattr':
      case 'fremovexattr':
        change('metadata', behind(args[0]))
        break
      case 'fchmodat':
      case 'fchmodat2':
      case 'fchownat':
      case 'utimensat':
      case 'futimesat':
        change('metadata', at(args[0], args[1]))
        break
      case 'kill':
      case 'tkill':
      case 'rt_sigqueueinfo':
      case 'pidfd_send_signal':
      case 'tgkill':
      case 'rt_tgsigqueueinfo': {
        const signal = args[name === 'tgkill' || name === 'rt_tgsigqueueinfo' ? 2 : 1]
        const to = (/^-?\d+/.exec(args[0] ?? '')?.[0] ?? '').replace(/^-/, '')
        if (signal !== '0' && !own.has(to) && to !== '0') add('signal', whole())
        break
      }
      case 'connect': {
        const address = args[1] ?? ''
        const path = /sun_path=(@?"[^"]*")/.exec(address)?.[1]?.replaceAll('"', '')
        if (path !== undefined) {
          if (!NAME_SERVICE.test(path)) add('connect', path)
        } else if (/_port=htons\(53\)/.test(address)) askedNames = true
        else if (/AF_INET|AF_VSOCK|AF_BLUETOOTH/.test(address))
          add('connect', address.replace(/, sin6_flowinfo.*?inet_pton\(AF_INET6, /, ' '))
        break
      }
      case 'bind': {
        const address = args[1] ?? ''
        const path = /sun_path="([^"]*)"/.exec(address)?.[1]
        if (path !== undefined) make(posix.resolve(here, path), true)
        else if (/AF_INET/.test(address) && !/_port=htons\(0\)/.test(address)) add('listen', address)
        break
      }
      case 'sendto':
      case 'sendmsg':
      case 'sendmmsg': {
        const text = args.join(', ')
        const changed = NETLINK_CHANGE.exec(text)
        if (changed) add('system', `netlink ${changed[1]} ${EMPTY_LINK.test(text) ? 'of nothing' : text.slice(0, 200)}`)
        if (/sa_family=AF_INET/.test(text) && !/_port=htons\(53\)/.test(text))
          add('connect', /\{sa_family=AF_INET[^}]*\}/.exec(text)?.[0] ?? text.slice(0, 200))
        const path = /sun_path=(@?"[^"]*")/.exec(text)?.[1]?.replaceAll('"', '')
        if (path !== undefined && !NAME_SERVICE.test(path)) add('connect', path)
        break
      }
      case 'ioctl':
        if (SETTING_IOCTL.test(args[1] ?? '') && !isMade(behind(args[0]))) add('system', `ioctl ${whole()}`)
        break
      case 'adjtimex':
      case 'clock_adjtime':
        if (!/modes=0[,}]/.test(whole())) add('system', `${name} ${whole()}`)
        break
      case 'syslog':
        if (/CLEAR|CONSOLE/.test(args[0] ?? '')) add('system', `syslog ${args[0]}`)
        break
      case 'bpf':
        if (!/^BPF_(?:\w+_GET_|OBJ_GET|BTF_GET|MAP_LOOKUP|LINK_GET)/.test(args[0] ?? ''))
          add('system', `bpf ${args[0]}`)
        break
      case 'keyctl':
        if (!/^KEYCTL_(?:GET_|READ|DESCRIBE|SEARCH)/.test(args[0] ?? '')) add('system', `keyctl ${whole()}`)
        break
      case 'quotactl':
        if (!/Q_X?GET|Q_SYNC/.test(args[0] ?? '')) add('system', `quotactl ${whole()}`)
        break
      case 'shmget':
        if (!/IPC_CREAT/.test(whole())) break
        // Shared memory without a name, taken away by whoever made it.
        if (args[0] === 'IPC_PRIVATE' && done) made.set(`shm:${result}`, deed('system', `shmget ${whole()}`))
        else add('system', `shmget ${whole()}`)
        break
      case 'msgget':
      case 'semget':
      case 'mq_open':
        if (/IPC_CREAT|O_CREAT/.test(whole())) add('system', `${name} ${whole()}`)
        break
      case 'shmctl':
        if (/IPC_RMID/.test(whole()) && made.delete(`shm:${args[0]}`)) break
        if (/IPC_RMID|IPC_SET|SHM_(?:UN)?LOCK/.test(whole())) add('system', `shmctl ${whole()}`)
        break
      case 'msgctl':
      case 'semctl':
        if (/IPC_RMID|IPC_SET|SETVAL|SETALL/.test(whole())) add('system', `${name} ${whole()}`)
        break
      case 'ptrace':
        if (!/PTRACE_TRACEME/.test(args[0] ?? '')) add('system', `ptrace ${whole()}`)
        break
      case 'setpriority':
      case 'ioprio_set':
        if (!own.has(args[1] ?? '') && args[1] !== '0') add('system', `${name} ${whole()}`)
        break
      case 'sched_setaffinity':
      case 'sched_setscheduler':
      case 'prlimit64':
        if (name === 'prlimit64' && args[2] === 'NULL') break
        if (!own.has(args[0] ?? '') && args[0] !== '0') add('system', `${name} ${whole()}`)
        break
      default:
        add('system', `${name} ${whole()}`)
    }
  }
  return { deeds: [...deeds, ...made.values()], programs, askedNames }
}
