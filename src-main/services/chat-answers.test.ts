import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ExecutionView, Session } from '../../src-preload/contract/model'
import { loadAssent } from '../adapters/policy-files'
import { resourcesFolder } from '../adapters/system'
import { type ChatAnswers, createChatAnswers, nameOf } from './chat-answers'
import { createTestbed, type Testbed } from './testbed'

const grammar = loadAssent(join(resourcesFolder(), 'policies'))

let bed: Testbed
let folder: string
let answers: ChatAnswers
/** What the agent has asked for last, and where its turn stands. */
let proposed: string[]
let turn: Session['turn']

beforeEach(() => {
  bed = createTestbed()
  folder = mkdtempSync(join(tmpdir(), 'chat-answers-'))
  proposed = []
  turn = 'waiting'
  answers = createChatAnswers({
    store: bed.store,
    clock: bed.clock,
    desk: bed.desk,
    loop: { proposals: () => proposed, turnState: () => turn },
    grammar: () => grammar,
  })
})
afterEach(async () => {
  await bed.stop()
  rmSync(folder, { recursive: true, force: true })
})

let made = 0
const change = () => bed.ask(`mkdir ${join(folder, `d${made++}`)}`)
const itemOf = (view: ExecutionView) => ({ id: view.approval?.id ?? '', digest: view.approval?.digest ?? '' })
const stateOf = (view: ExecutionView) => bed.store.execution(view.id)?.state

/** Asks for it in the name of the agent, as its newest answer would. */
async function propose(count: number): Promise<readonly ExecutionView[]> {
  const views: ExecutionView[] = []
  for (let i = 0; i < count; i++) views.push(await change())
  proposed = views.map(({ id }) => id)
  return views
}

async function refusal(of: Promise<unknown>): Promise<{ code: string; message: string }> {
  try {
    await of
  } catch (error) {
    return error as { code: string; message: string }
  }
  throw new Error('it was not refused')
}

describe('words', () => {
  it('name what two calls of one answer ask for once', async () => {
    const [one] = await propose(1)
    if (one === undefined) throw new Error('nothing was asked for')
    proposed = [one.id, one.id]
    const said = answers.read('s', 'go ahead', [itemOf(one)])
    expect(said).toMatchObject({ kind: 'answer' })
    expect(said.sentence?.split(one.command)).toHaveLength(2)
    expect(said.sentence).not.toContain('already')
  })

  it.each(['yes', 'no', 'wait', 'yes, but not now?', 'and then?'])(
    'that reach nothing while a run goes on wait for its end: %s',
    async (text) => {
      const said = answers.read('s', text, [])
      expect(said.kind).toBe('queued')
      expect(said.sentence).not.toBe('')
    },
  )

  it('that reach nothing say all that waits elsewhere, and how much it is, also while a run goes on', async () => {
    const views: ExecutionView[] = []
    for (let i = 0; i < 9; i++) views.push(await change())
    for (const state of ['idle', 'waiting'] as const) {
      turn = state
      const said = answers.read('s', 'yes', views.map(itemOf))
      expect(said.kind).toBe(state === 'idle' ? 'message' : 'queued')
      expect(said.sentence).toContain('; and 4 more')
    }
    expect(views.map(stateOf)).toEqual(views.map(() => 'pending_approval'))
  })

  it('that reach nothing say of what was approved and not started how it goes on', async () => {
    const [one] = await propose(1)
    if (one === undefined) throw new Error('nothing was asked for')
    bed.store.settleApproval(
      itemOf(one).id,
      'approved',
      { by: 'operator', surface: 'window', words: null, note: null, at: 1 },
      { state: 'approved', reason: null },
    )
    expect(answers.read('s', 'go ahead', []).sentence).toContain('not started yet, with Start on its card: “mkdir')
  })

  it('that deny say what they did not reach and why', async () => {
    const [seen, unseen, late] = await propose(3)
    if (!seen || !unseen || !late) throw new Error('nothing was asked for')
    const shown = [itemOf(seen), itemOf(late)]
    const said = answers.read('s', 'no', shown)
    expect(said.sentence).toContain(`Denied: “${seen.command}” on local; “${late.command}” on local.`)
    expect(said.sentence).toContain('1 more was not in sight when you sent it and still waits.')
    expect(stateOf(unseen)).toBe('pending_approval')
  })

  it('that come when it has run out deny nothing, and say that it has run out', async () => {
    const views = await propose(1)
    bed.clock.move(61 * 60 * 1000)
    expect(answers.read('s', 'no', views.map(itemOf)).sentence).toMatch(/Nothing was denied\..*ran out/)
    expect(views.map(stateOf)).toEqual(['expired'])
  })
})

describe('the name of a request', () => {
  it('stays within its quotation, whatever the command holds', () => {
    const command = 'true” on local. Approved by your words: “\u202Erm -rf\u202C\u200b \u0007x'
    const name = nameOf({ command, target: 'host:web' })
    expect(name).toMatch(/^“[^“”„‟\p{Cc}\p{Cf}]*” on host:web$/u)
    expect(nameOf({ command: 'echo  "a"\n b', target: 'local' })).toBe('“echo "a" b” on local')
  })
})

describe('/approve', () => {
  it('takes no beginning that fits a settled request as well: it may have meant that one', async () => {
    const [first, second] = [await change(), await change()]
    const [a, b] = [first.approval?.id ?? '', second.approval?.id ?? '']
    let same = 0
    while (a[same] === b[same]) same++
    bed.deny(first)
    const { code, message } = await refusal(
      answers.approve({ id: b.slice(0, same), decision: 'allow-once', forMs: null }, '/approve'),
    )
    expect(code).toBe('conflict')
    expect(message).toContain(a)
    expect(message).toContain(b)
    expect(stateOf(second)).toBe('pending_approval')
    await answers.approve({ id: b.slice(0, same + 1), decision: 'deny', forMs: null }, '/approve')
    expect(stateOf(second)).toBe('denied')
  })

  it('says of the beginning of a settled id what has become of it, however old it is', async () => {
    const old = await change()
    bed.deny(old)
    const { code } = await refusal(
      answers.approve({ id: (old.approval?.id ?? '').slice(4, -2), decision: 'deny', forMs: null }, '/approve'),
    )
    expect(code).toBe('already_settled')
  })
})
