import { join, resolve } from 'node:path'
import { lintPolicies } from '../../adapters/policy-files'
import { resourcesFolder } from '../../adapters/system'
import { CliFailure, EXIT, usage } from '../exits'
import { type Io, writeAll } from '../io'
import { readOptions } from '../options'
import { type Command, pick } from '../program'
import { painter, visibleLine } from '../visible'

const count = (number: number, what: string): string =>
  `${number.toLocaleString('en')} ${what}${number === 1 ? '' : 's'}`

/** `nomos policy lint [folder]`: every fault of every policy file, with file, line and field. */
async function lint(args: readonly string[], io: Io): Promise<number> {
  const { options, rest } = readOptions(args, { json: { kind: 'flag' } })
  if (rest.length > 1) throw usage('name one folder.')
  const folder = rest[0] === undefined ? join(resourcesFolder(), 'policies') : resolve(rest[0])
  let report: ReturnType<typeof lintPolicies>
  try {
    report = lintPolicies(folder)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new CliFailure(EXIT.failed, 'not_found', `${folder} cannot be read: ${why}. Name a folder of policies.`)
  }
  const { faults } = report
  const exit = faults.length === 0 ? EXIT.done : EXIT.failed
  if (options.json) {
    await writeAll(io.stdout, `${JSON.stringify({ ok: faults.length === 0, ...report })}\n`)
    return exit
  }
  const paint = painter(io.stdout, io.env)
  const lines = faults.map(({ file, line, field, what, remedy }) => {
    const place = `${visibleLine(file)}${line === null ? '' : `:${line}`}`
    const named = field === null ? '' : ` (${visibleLine(field)})`
    return `${paint('bold', place)}${named}: ${visibleLine(what)}\n    ${paint('dim', visibleLine(remedy))}\n`
  })
  const held = [
    count(report.files, 'file'),
    count(report.programs, 'program'),
    count(report.rules, 'rule'),
    count(report.examples, 'example'),
  ].join(', ')
  lines.push(
    faults.length === 0
      ? `${held}: all in order.\n`
      : `\n${paint('red', count(faults.length, 'fault'))} in ${held}. With a fault that keeps the rules from loading, nothing runs by itself.\n`,
  )
  await writeAll(io.stdout, lines.join(''))
  return exit
}

/** `nomos policy` */
export const policyCommand: Command = async (args, io) => {
  const { part, args: rest } = pick('policy', args, { lint })
  return await part(rest, io)
}
