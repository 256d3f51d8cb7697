import type { AnswerPlace, BlastRadius, ExecutionState, ExecutionView, Risk } from '../../src-preload/contract/model'
import type { Out } from './io'
import { wordShown } from './started'
import { markedLines, type Paint, visibleLine } from './visible'

const RISK_WORDS: Readonly<Record<Risk, string>> = {
  read_only: 'read-only',
  reversible_low: 'reversible, low',
  config_mutation: 'changes something',
  destructive: 'DESTRUCTIVE',
}

/** What became of a request, in the words that every place uses. Denied, expired, timed out and undeliverable are four different things. */
export const STATE_WORDS: Readonly<Record<ExecutionState, string>> = {
  requested: 'requested',
  pending_approval: 'waiting',
  approved: 'approved',
  running: 'running',
  completed: 'completed',
  failed: 'failed',
  timed_out: 'timed out',
  cancelled: 'cancelled',
  denied: 'denied',
  expired: 'expired',
  undeliverable: 'undeliverable',
  unknown: 'unknown',
}

/** A risk as a word and colour. */
export function riskWord(risk: Risk, paint: Paint): string {
  const colour = risk === 'destructive' ? 'red' : risk === 'read_only' ? 'green' : 'yellow'
  return paint(colour, `${RISK_WORDS[risk]} (${risk})`)
}

/** The command whole, nothing hidden in it, with `^^^^` under what made it risky. */
export function commandLines(
  command: string,
  spans: readonly { readonly start: number; readonly end: number; readonly risk: Risk }[],
  paint: Paint,
): string {
  const risky = spans.filter((span) => span.risk !== 'read_only')
  return markedLines(command, risky)
    .map(({ text, marks }) => `  | ${text}\n${marks === '' ? '' : `  | ${paint('red', marks)}\n`}`)
    .join('')
}

const MOST_NAMED = 8

/** What depends on the places a command changes, or that nothing is known to. */
function blastShown({ total, dependents }: BlastRadius): string {
  if (total === 0) return 'nothing else that is known of'
  const named = dependents.slice(0, MOST_NAMED).map(({ slug, steps }) => {
    const far = steps > 1 ? ` (${steps} steps away)` : ''
    return `${visibleLine(slug)}${far}`
  })
  const more = total > named.length ? ` and ${total - named.length} more` : ''
  return `${total} ${total === 1 ? 'other depends' : 'others depend'} on it: ${named.join(', ')}${more}`
}

const WHERE: Readonly<Record<AnswerPlace, string>> = {
  anywhere: '',
  card: ' It is answered on its card or here, not by words in chat, a notification or the tray.',
  phrase:
    ' It is answered on its card, or here where no window runs; not by words in chat, a notification or the tray.',
}

/** Everything an operator needs before answering. */
export function card(view: ExecutionView, paint: Paint, now: number = Date.now()): string {
  const lines: string[] = []
  const add = (name: string, text: string) => lines.push(`  ${paint('dim', `${name}:`.padEnd(10))} ${text}`)
  const approval = view.approval
  lines.push(paint('bold', `${approval?.id ?? view.id}`))
  add('Target', visibleLine(view.target) + (view.user === null ? '' : ` as ${visibleLine(view.user)}`))
  if (view.cwd !== null) add('Folder', visibleLine(view.cwd))
  add('Asked by', visibleLine(view.principal.id))
  if (view.purpose !== null) add('Why', visibleLine(view.purpose))
  if (view.verify !== null) add('Confirm', `${visibleLine(view.verify)} (runs afterwards)`)
  add('Risk', riskWord(view.risk, paint))
  for (const reason of view.classification.reasons)
    lines.push(`      - ${visibleLine(`${reason.sentence} [${reason.rule}]`)}`)
  if (view.classification.coverage === 'partial') lines.push('      - Not all of it was understood.')
  const waits = approval?.state === 'pending'
  if (view.blast !== undefined) {
    if (view.blast.targets.length > 1) add('Reaches', view.blast.targets.map(visibleLine).join(', '))
    add('Affects', blastShown(view.blast))
  }
  if (waits && view.undo != null) {
    add('Undo', visibleLine(view.undo.sentence))
    for (const { canPutBack, sentence } of view.undo.items)
      if (!canPutBack) lines.push(`      - ${visibleLine(sentence)}`)
  }
  if (view.undoOf != null) add('Takes back', visibleLine(view.undoOf))
  if (view.undoState != null) {
    const how = view.undoState.state === 'ready' ? ` See: nomos executions undo ${view.id}` : ''
    add('Undo', `${visibleLine(view.undoState.sentence)}${how}`)
  }
  if (waits && view.preview != null) add('Preview', `${visibleLine(view.preview)}: nomos executions preview ${view.id}`)
  add('Command', view.redacted ? '(secrets in it are hidden)' : '')
  const decoded = (view.argv ?? [])
    .map((words) => `  ${paint('dim', 'Decoded:  ')} ${words.map(wordShown).join(' ')}\n`)
    .join('')
  const sandbox = view.sandbox === 'files' ? `  ${paint('dim', 'Sandbox:  ')} can read files and nothing else\n` : ''
  const body = `${commandLines(view.command, view.classification.spans, paint)}${decoded}${sandbox}`
  if (waits) {
    const minutes = Math.max(0, Math.round((approval.expiresAt - now) / 60_000))
    return `${lines.join('\n')}\n${body}  Expires in ${minutes} min.${approval.outcome === 'confirm' ? ' Takes a typed phrase.' : ''}${view.answerAt === undefined ? '' : WHERE[view.answerAt]}\n`
  }
  return `${lines.join('\n')}\n${body}`
}

/** One line of a list. */
export function listLine(view: ExecutionView, paint: Paint): string {
  const at = new Date(view.requestedAt).toISOString().replace('T', ' ').slice(0, 19)
  const command = visibleLine(view.command)
  const short = command.length > 80 ? `${command.slice(0, 79)}…` : command
  const exit = view.exitCode === null ? '' : ` exit ${view.exitCode}`
  return `${view.id}  ${at}  ${paint('bold', STATE_WORDS[view.state])}${exit}  ${view.risk}  ${visibleLine(view.target)}  ${short}`
}

/**
 * Output of a command on its way to a terminal: what could move the cursor, set the title or draw a false prompt is shown, not obeyed.
 * Into a pipe or file it goes as it is.
 */
export function outputText(out: Out): (text: string) => string {
  if (out.isTTY !== true) return (text) => text
  let held = ''
  return (text) => {
    let whole = held + text
    held = ''
    if (whole.endsWith('\r')) {
      held = '\r'
      whole = whole.slice(0, -1)
    }
    return whole
      .replace(/\r\n/g, '\n')
      .split('\n')
      .map((line) =>
        line
          .split('\r')
          .map((part) => part.split('\t').map(visibleLine).join('\t'))
          .join('\n'),
      )
      .join('\n')
  }
}
