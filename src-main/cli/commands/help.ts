import { EXIT, usage } from '../exits'
import { nearest } from '../near'
import { readOptions } from '../options'
import type { Command } from '../program'

interface Page {
  readonly usage: readonly string[]
  readonly what: string
  readonly more: readonly string[]
}

const PAGES: Readonly<Record<string, Page>> = {
  classify: {
    usage: [
      'nomos classify [--explain] [--posture default|every-segment] [--risk CLASS] COMMAND…',
      'nomos classify --jsonl',
    ],
    what: 'Says how risky a command is. Needs no app.',
    more: [
      'The first word that is not an option begins the command. One argument is taken byte for byte, several are joined by blanks.',
      '--explain also shows what is started, wrappers taken off, what it touches and how much was understood.',
      '--posture every-segment judges as if lines of several reads were let through; the app has a setting of its own.',
      '--jsonl reads {"command", "declaredRisk"?} lines from standard input and answers each with one line, in order;',
      'a malformed line is answered with {"error", "line"} and makes the exit code 1.',
    ],
  },
  policy: {
    usage: ['nomos policy lint [FOLDER]'],
    what: 'Checks the policy files: form, roles, patterns, doubles, and that every example holds. Needs no app.',
    more: [
      'Without a folder those of this installation are checked. Each fault is named with file, line, field and what to do.',
      'Answers 0 when all is in order, 1 when not.',
    ],
  },
  run: {
    usage: ['nomos run [--json] [--why TEXT] TARGET [--why TEXT] COMMAND…'],
    what: 'Asks for a command to be run; the gate decides as for every other request.',
    more: [
      'What follows the target is the command; "--" and "--json" in it belong to it. Output is streamed.',
      'Of a very long output the middle is not kept.',
      "The exit code is the command's, or 1 when it did not run to its end. Ctrl-C stops the run.",
    ],
  },
  executions: {
    usage: [
      'nomos executions list [-n COUNT] [--state STATE]…',
      'nomos executions show ID',
      'nomos executions cancel ID',
      'nomos executions start ID',
      'nomos executions preview ID',
      'nomos executions undo ID',
    ],
    what: 'What was asked for and what became of it. The beginning of an id is enough when it fits one only.',
    more: [
      'start is for what was approved and not started because Nomos ended in between; it asks for a code at a terminal.',
      'preview shows what a waiting command would do, by commands that only read; undo asks to take back what a run changed, as a request of its own.',
    ],
  },
  approvals: {
    usage: [
      'nomos approvals pending',
      'nomos approvals approve ID [--phrase TEXT]',
      'nomos approvals approve ID --always [--expires WHEN] [--session-only]',
      'nomos approvals deny ID [--note TEXT]',
      'nomos approvals changes ID TEXT',
      'nomos approvals history [--target T] [--risk R]… [--agent A] [--surface S] [--state S]… [--text T] [--limit COUNT]',
      'nomos approvals watch',
      'nomos approvals get',
      'nomos approvals set --file FILE|--stdin [--dry-run] [--base VERSION]',
      'nomos approvals allowlist list [--agent A] [--target T]',
      'nomos approvals allowlist add PROGRAM [--arg-pattern PATTERN] [--agent A] [--target T] [--session S] [--expires WHEN] [--sudo]',
      'nomos approvals allowlist add PROGRAM --exact [-- ARGUMENT…]',
      'nomos approvals allowlist remove ID [--agent A]',
    ],
    what: 'What waits for an answer, answering it, and what needs no answer: the file of the host.',
    more: [
      'Answers and changes are taken at a terminal only: all of it is shown and a short code has to be typed.',
      'What needs a typed phrase is answered on its card, or here when Nomos runs without a window.',
      'changes denies it and sends TEXT back to whoever asked. pending shows requests of the same command at the same place as one line.',
      'history has what was asked about and has ended: denied (somebody said no), expired (nobody answered in time), "timed out" (it ran too',
      'long and was stopped), undeliverable (nobody could be asked), completed, failed, cancelled, unknown.',
      '--always also stores these very words for this agent and target, until WHEN or for this session only. Shells, interpreters,',
      'package runners, git and wrappers are never stored.',
      'get prints exec-approvals.json without the token of its socket; set puts another one in its place (JSON5 is taken), keeps socket',
      'and token, shows the difference and keeps a backup. --base is the version of "get --json" that an edit started from.',
      'PROGRAM is a bare name that is found through PATH (rg), a path or a glob (/usr/bin/rg, ~/bin/*). A PATTERN is searched in the',
      'arguments joined by blanks: write ^…$ to mean all of them. Without a pattern any arguments are let through.',
      'An entry counts for this computer unless --target names another place, and not behind sudo unless --sudo is given.',
      'WHEN: 30m, 1h30m, 7d, 18:00, 2030-01-31, never. get, list and --dry-run need no app.',
    ],
  },
  'exec-policy': {
    usage: [
      'nomos exec-policy show [--agent A] [--target T] [--session S]',
      'nomos exec-policy set FIELD=VALUE… [--agent A] [--layer both|host|requested] [--dry-run]',
      'nomos exec-policy preset [cautious|allowlist|deny-all|yolo] [--dry-run]',
      'nomos exec-policy undo',
    ],
    what: 'The policy for commands: what is asked for (config.json), what the host allows (exec-approvals.json), what holds.',
    more: [
      'show has each field with where it comes from; the stricter of the two holds. It needs no app.',
      'set and preset write both files in one step; --layer names one. FIELD=inherit takes a field out again.',
      'Fields: security (deny, allowlist, full), ask (off, on-miss, always), askFallback (deny, allowlist, full), and on or off:',
      'autoAllowReadOnly, autoAllowSkills, riskGate, strictInlineEval, commandHighlighting.',
      'Changes are shown and take a code at a terminal; what opens everything takes the word yolo besides. undo takes back the last save.',
      'A target with a policy of its own is reported as managed by the node: what is saved here does not reach it.',
    ],
  },
  switches: {
    usage: [
      'nomos switches [show]',
      'nomos switches pause-automatic on|off',
      'nomos switches ask-about-everything on|off',
      'nomos switches never-auto TARGET on|off',
    ],
    what: 'What stops or asks about everything, or at one target. They answer nothing that waits.',
    more: [
      'pause-automatic: unattended work stops, and reads ask. ask-about-everything: nothing runs without a question.',
      'never-auto: nothing runs by itself at TARGET, whatever the policy, the allowlist or a grant say.',
      'Each change takes a code at a terminal.',
    ],
  },
  grants: {
    usage: [
      'nomos grants list',
      'nomos grants kinds',
      'nomos grants add TARGET KIND… --for TIME [--agent A] [--note TEXT]',
      'nomos grants revoke ID',
    ],
    what: 'Kinds of commands that run unasked for a while: nomos grants add host:web reads restarts --for 30m',
    more: [
      'TIME: 30m, 2h, 18:00; at most 24 hours. Never what cannot be undone, and never what reaches Nomos itself.',
      'add and revoke take a code at a terminal.',
    ],
  },
  ledger: {
    usage: ['nomos ledger verify', 'nomos ledger tail [-n COUNT]'],
    what: 'Reads the record, from its file: with the app running or not.',
    more: ['verify answers 0 when the chain is intact, 1 when it is not and names the row.'],
  },
  doctor: {
    usage: ['nomos doctor', 'nomos doctor resolve PROBLEM ACTION'],
    what: 'Numbered checks with what to do about each.',
    more: ['Without a running app it looks at the files itself. resolve asks for a code at a terminal.'],
  },
  version: { usage: ['nomos version'], what: 'The version of this command.', more: [] },
  help: { usage: ['nomos help [COMMAND]'], what: 'This.', more: [] },
}

const EXITS = [
  'Exit codes: 0 done; 1 failed, denied, malformed input or not intact; 2 not understood;',
  '            3 no app runs; 4 no operator at a terminal; 130 ended with Ctrl-C.',
]

/** `nomos help [command]` */
export const helpCommand: Command = async (args, io) => {
  const { options, rest } = readOptions(args, { json: { kind: 'flag' } })
  const topic = rest[0]
  if (topic === undefined) {
    if (options.json) {
      io.stdout.write(`${JSON.stringify({ commands: PAGES })}\n`)
      return EXIT.done
    }
    const lines = Object.entries(PAGES).map(([name, page]) => `  ${name.padEnd(11)} ${page.what}`)
    io.stdout.write(
      [
        'Usage: nomos COMMAND … (--json with every one)',
        '',
        ...lines,
        '',
        ...EXITS,
        'More: nomos help COMMAND',
        '',
      ].join('\n'),
    )
    return EXIT.done
  }
  const page = Object.hasOwn(PAGES, topic) ? PAGES[topic] : undefined
  if (page === undefined) {
    const near = nearest(topic, Object.keys(PAGES))
    throw usage(
      `there is no command ${JSON.stringify(topic)}.${near === null ? '' : ` Did you mean "nomos help ${near}"?`}`,
    )
  }
  if (options.json) io.stdout.write(`${JSON.stringify({ command: topic, ...page })}\n`)
  else {
    const lines = page.usage.map((line, index) => `${index === 0 ? 'Usage: ' : '       '}${line}`)
    io.stdout.write([...lines, '', page.what, ...page.more, '', ...EXITS, ''].join('\n'))
  }
  return EXIT.done
}
