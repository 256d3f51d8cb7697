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
    ],
    what: 'What was asked for and what became of it. The beginning of an id is enough when it fits one only.',
    more: [
      'start is for what was approved and not started because Nomos ended in between; it asks for a code at a terminal.',
    ],
  },
  approvals: {
    usage: [
      'nomos approvals pending',
      'nomos approvals approve ID [--phrase TEXT]',
      'nomos approvals deny ID [--note TEXT]',
      'nomos approvals watch',
    ],
    what: 'What waits for an answer, and answering it.',
    more: [
      'Answers are taken at a terminal only: the whole command is shown and a short code has to be typed.',
      'What needs a typed phrase is answered on its card, or here when Nomos runs without a window.',
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
