import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createTreeSitterParser } from '../adapters/tree-sitter'
import { createTestbed, silentLog, type Testbed } from './testbed'

let bed: Testbed
afterEach(() => bed.stop())

const doubts = (id: string): readonly string[] =>
  (bed.store.execution(id)?.classification.reasons ?? [])
    .filter(({ rule }) => rule === 'gate.second-parser')
    .map(({ sentence }) => sentence)

describe('the second parser', () => {
  it('lets a read run that both see alike', async () => {
    bed = createTestbed()
    const asked = await bed.ask("un'am'e \\-s")
    const execution = await bed.until(asked.id, 'completed')
    expect(execution.output.trim()).toBe('Linux')
    expect(doubts(asked.id)).toEqual([])
  })

  it('asks about a read the two see differently', async () => {
    bed = createTestbed()
    // One takes the line continuation out, the other ends the name there.
    const asked = await bed.ask('un\\\name -s')
    expect(asked.state).toBe('pending_approval')
    expect(asked.risk).toBe('config_mutation')
    expect(doubts(asked.id)).toEqual(['A second parser sees other commands here than the first: "uname".'])
    bed.approve(asked)
    expect((await bed.until(asked.id, 'completed')).output.trim()).toBe('Linux')
  })

  it('that cannot be loaded has everything asked about, and refuses to verify', async () => {
    const errors: string[] = []
    const log = { ...silentLog, error: (message: string) => errors.push(message) }
    const missing = join(import.meta.dirname, 'no such file.wasm')
    bed = createTestbed({ secondParser: createTreeSitterParser(log, () => ({ runtime: missing, grammar: missing })) })
    const asked = await bed.ask('uname -s')
    expect(asked.state).toBe('pending_approval')
    expect(doubts(asked.id)).toEqual(['A second parser could not read this command whole.'])
    await expect(bed.ask('uname -s', { verify: 'uname -r' })).rejects.toThrow(/must only read/)
    expect(errors).toEqual(['the second shell parser cannot be loaded; every command is asked about'])
  })

  it('only raises: what cannot be undone stays that', async () => {
    bed = createTestbed()
    const asked = await bed.ask('r\\\nm -rf /srv/data')
    expect(asked.risk).toBe('destructive')
  })
})
