import type { GrantView } from '../../../src-preload/contract/model'
import { atTerminal } from '../answering'
import { ask, withApp } from '../app'
import { confirmed } from '../confirming'
import { EXIT, usage } from '../exits'
import { nearest } from '../near'
import { readOptions } from '../options'
import { byPrefix } from '../prefixes'
import { type Command, pick } from '../program'
import { type Paint, painter, visibleLine } from '../visible'
import { momentShown, readMinutes, timeLeft } from '../when'

/** A grant ends after this long at the latest. */
const MOST_MINUTES = 24 * 60

/** `nomos grants list|kinds|add|revoke` */
export const grantsCommand: Command = async (args, io) => {
  const { part, args: rest } = pick('grants', args, { list, kinds, add, revoke })
  return await part(rest, io)
}

function grantLine(grant: GrantView, paint: Paint, now: number): string {
  const note = grant.note === '' ? '' : `  (${visibleLine(grant.note)})`
  return `${visibleLine(grant.id)}  ${paint('bold', timeLeft(grant.expiresAt, now))}  ${visibleLine(grant.agent)} at ${visibleLine(grant.target)}: ${visibleLine(grant.kinds.join(', '))}  until ${momentShown(grant.expiresAt)}${note}\n`
}

const list: Command = async (args, io) => {
  const { options, rest } = readOptions(args, { json: { kind: 'flag' } })
  if (rest.length > 0) throw usage(`nomos grants list takes no ${JSON.stringify(rest[0])}.`)
  return await withApp(io, async (app) => {
    const grants = await ask(app, 'grants.list', {})
    if (options.json) io.stdout.write(`${JSON.stringify(grants)}\n`)
    else if (grants.length === 0) io.stdout.write('Nothing is granted now.\n')
    else for (const grant of grants) io.stdout.write(grantLine(grant, painter(io.stdout, io.env), Date.now()))
    return EXIT.done
  })
}

const kinds: Command = async (args, io) => {
  const { options, rest } = readOptions(args, { json: { kind: 'flag' } })
  if (rest.length > 0) throw usage(`nomos grants kinds takes no ${JSON.stringify(rest[0])}.`)
  return await withApp(io, async (app) => {
    const known = await ask(app, 'grants.kinds', {})
    if (options.json) io.stdout.write(`${JSON.stringify(known)}\n`)
    else
      for (const { id, sentence } of known) io.stdout.write(`${visibleLine(id).padEnd(18)} ${visibleLine(sentence)}\n`)
    return EXIT.done
  })
}

const add: Command = async (args, io) => {
  const { options, rest } = readOptions(args, {
    json: { kind: 'flag' },
    agent: { kind: 'text' },
    for: { kind: 'text' },
    note: { kind: 'text' },
  })
  const [target, ...named] = rest
  const wanted = named.flatMap((word) => word.split(',')).filter((word) => word !== '')
  if (target === undefined || wanted.length === 0)
    throw usage('name a target and what to grant there: nomos grants add host:web reads restarts --for 30m')
  if (options.for === null) throw usage('say how long: --for 30m, or --for 22:00. A grant always ends.')
  const now = Date.now()
  const minutes = readMinutes('--for', options.for, now, MOST_MINUTES)
  const agent = options.agent ?? 'main'
  return await atTerminal(io, 'grants add', async (app, terminal) => {
    const known = await ask(app, 'grants.kinds', {})
    const chosen = wanted.map((word) => {
      const found = known.find(({ id }) => id === word)
      if (found !== undefined) return found
      const ids = known.map(({ id }) => id)
      const near = nearest(word, ids)
      throw usage(
        `there is nothing to grant that is called ${JSON.stringify(word)}. ${near === null ? `There is: ${ids.join(', ')}.` : `Did you mean ${near}?`}`,
      )
    })
    terminal.write(
      `For ${minutes} min, ${visibleLine(agent)} may do at ${visibleLine(target)} without asking:\n${chosen.map(({ id, sentence }) => `  - ${visibleLine(id)}: ${visibleLine(sentence)}\n`).join('')}Never what cannot be undone, and never what reaches Nomos itself.\n`,
    )
    const grant = await confirmed(
      app,
      terminal,
      'grants.add',
      { agent, target, kinds: chosen.map(({ id }) => id), minutes, note: options.note ?? '' },
      'grant this',
    )
    io.stdout.write(
      options.json ? `${JSON.stringify(grant)}\n` : grantLine(grant, painter(io.stdout, io.env), Date.now()),
    )
    return EXIT.done
  })
}

const revoke: Command = async (args, io) => {
  const { options, rest } = readOptions(args, { json: { kind: 'flag' } })
  const [id, ...more] = rest
  if (id === undefined || more.length > 0) throw usage('nomos grants revoke needs one id. See: nomos grants list')
  return await atTerminal(io, 'grants revoke', async (app, terminal) => {
    const grant = byPrefix(id, await ask(app, 'grants.list', {}), (item) => [item.id], 'grant')
    terminal.write(grantLine(grant, painter({ isTTY: true }, io.env), Date.now()))
    await confirmed(app, terminal, 'grants.revoke', { id: grant.id }, 'revoke it')
    io.stdout.write(options.json ? `${JSON.stringify({ revoked: grant })}\n` : `${visibleLine(grant.id)} is revoked.\n`)
    return EXIT.done
  })
}
