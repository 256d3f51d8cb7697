import { openReadOnlyLedger, StoreProblem } from '../../adapters/sqlite'
import { homeOf } from '../app'
import { CliFailure, EXIT, usage } from '../exits'
import type { Io } from '../io'
import { readCount, readOptions } from '../options'
import { type Command, pick } from '../program'
import { painter, visibleLine } from '../visible'

/** `nomos ledger verify|tail`. Reads the file itself: a record that only its keeper can check proves nothing. */
export const ledgerCommand: Command = async (args, io) => {
  const { part, args: rest } = pick('ledger', args, { verify, tail })
  return await part(rest, io)
}

const verify: Command = async (args, io) => {
  const { options, rest } = readOptions(args, { json: { kind: 'flag' } })
  if (rest.length > 0) throw usage(`nomos ledger verify takes no ${JSON.stringify(rest[0])}.`)
  const report = reading(io, (ledger) => ledger.verify())
  if (options.json) io.stdout.write(`${JSON.stringify(report)}\n`)
  else if (report.intact) io.stdout.write(`intact, ${report.entries} ${report.entries === 1 ? 'entry' : 'entries'}\n`)
  else {
    const where = report.problem === null ? '' : `: row ${report.problem.seq}: ${visibleLine(report.problem.what)}`
    io.stdout.write(`not intact${where} (${report.entries} entries)\n`)
  }
  return report.intact ? EXIT.done : EXIT.failed
}

const tail: Command = async (args, io) => {
  const { options, rest } = readOptions(args, { json: { kind: 'flag' }, count: { kind: 'text', short: 'n' } })
  if (rest.length > 0) throw usage(`nomos ledger tail takes no ${JSON.stringify(rest[0])}.`)
  const count = readCount('-n', options.count, 20, 1, 10_000)
  const entries = reading(io, (ledger) => ledger.tail(count))
  if (options.json) {
    io.stdout.write(`${JSON.stringify(entries)}\n`)
    return EXIT.done
  }
  const paint = painter(io.stdout, io.env)
  for (const entry of entries) {
    const at = new Date(entry.at).toISOString().replace('T', ' ').slice(0, 19)
    const about = [entry.executionId, entry.approvalId].filter((id) => id !== null).join(' ')
    const data = visibleLine(JSON.stringify(entry.data))
    const short = data.length > 160 ? `${data.slice(0, 159)}…` : data
    io.stdout.write(
      `${String(entry.seq).padStart(6)}  ${at}  ${paint('bold', entry.kind)}  ${visibleLine(entry.actor)}  ${about}  ${short}\n`,
    )
  }
  return EXIT.done
}

function reading<T>(io: Io, work: (ledger: ReturnType<typeof openReadOnlyLedger>) => T): T {
  const home = homeOf(io)
  try {
    const ledger = openReadOnlyLedger(home)
    try {
      return work(ledger)
    } finally {
      ledger.close()
    }
  } catch (error) {
    if (error instanceof StoreProblem) throw new CliFailure(EXIT.failed, error.code, error.message)
    throw new CliFailure(
      EXIT.failed,
      'unreadable',
      `the ledger of ${home} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}
