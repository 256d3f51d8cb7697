import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestbed, type Testbed } from './testbed'

const ROUNDS = Number(process.env.UNDO_ROUNDS ?? 60)

let bed: Testbed
beforeAll(() => {
  bed = createTestbed({ undo: true })
})
afterAll(() => bed.stop())

/** Numbers that are the same at every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 3266489917) | 0
    return (state >>> 8) % below
  }
}

const NAMES = ['a', 'b', 'c', 'd', 'd/a', 'd/e', 'd/e/f', 'l', 'ld', 'new', 'new/x', 'd/new', './a', 'd/../b', 'n w']
const FORMS = [
  'cp X Y',
  'cp -a X Y',
  'cp -T X Y',
  'mv X Y',
  'mv -n X Y',
  'mv X Z Y',
  'rm -f X',
  'rm X Y',
  'ln -s X Y',
  'ln -sf X Y',
  'ln -sfn X Y',
  'ln -f X Y',
  'mkdir X',
  'mkdir -p X',
  'echo new > X',
  'echo more >> X',
  'sed -i s/o/0/g X',
  'sed -i.bak s/o/0/ X',
  'chmod 600 X',
  'chmod 751 X',
  'chown 7:8 X',
  'touch X',
  'truncate -s 2 X',
  'install -m 700 X Y',
  'cat X | tee Y',
  "cat > X <<'E'\nlines\nE\ntrue",
  'cat X > Y',
  'ln -s X Y; echo through > Y',
  'ln -f X Y && truncate -s 1 Y',
  'mv l Y; echo through > Y',
]

/** Everything that a person could tell apart, but for times. */
const picture = (folder: string): string =>
  execFileSync(
    'sh',
    [
      '-c',
      'find . -mindepth 1 -printf "%p|%y|%m|%U:%G|%l\\n" | sort; find . -type f -print0 | sort -z | xargs -0 -r md5sum',
    ],
    { cwd: folder },
  ).toString()

it('whatever was said to come back whole comes back as it was', async () => {
  let whole = 0
  for (let round = 0; round < ROUNDS; round++) {
    const random = numbers(round * 7919 + Number(process.env.UNDO_SEED ?? 1))
    const folder = mkdtempSync(join(tmpdir(), 'nomos-undo-'))
    try {
      for (const name of ['a', 'b', 'c']) writeFileSync(join(folder, name), `content of ${name}`, { mode: 0o640 })
      mkdirSync(join(folder, 'd/e'), { recursive: true })
      writeFileSync(join(folder, 'd/a'), 'another a\n')
      writeFileSync(join(folder, 'd/e/f'), 'deep\0')
      symlinkSync('a', join(folder, 'l'))
      symlinkSync('d', join(folder, 'ld'))
      const name = (): string => `'${NAMES[random(NAMES.length)]}'`
      const part = (): string => (FORMS[random(FORMS.length)] ?? '').replace(/\b[XYZ]\b/g, name)
      const command = Array.from({ length: 1 + random(3) }, part).join(['; ', ' && ', '\n'][random(3)])
      const before = picture(folder)
      const asked = await bed.ask(command, { cwd: folder })
      if (asked.undo?.verdict !== 'whole' || asked.state !== 'pending_approval') continue
      whole += 1
      await bed.approve(asked, asked.approval?.phrase ?? null)
      await bed.until(asked.id, 'completed', 'failed')
      const changed = picture(folder)
      while (bed.store.undoKept(asked.id).some(({ after }) => after === null))
        await new Promise((go) => setTimeout(go, 2))
      const ended = bed.store.execution(asked.id)
      if (ended === null) throw new Error('it is gone')
      if (changed === before) continue
      const undo = await bed.undo.request(ended).catch((error: Error) => error)
      if (undo instanceof Error) {
        // Only a hard link or a time can have changed.
        expect(changed, `${round}: ${command}: ${undo.message}`).toBe(before)
        continue
      }
      const back = await bed.ask(undo.command, { purpose: undo.purpose, input: undo.input, undoOf: ended.id })
      if (back.state === 'pending_approval') await bed.approve(back, back.approval?.phrase ?? null)
      const undone = await bed.until(back.id, 'completed', 'failed', 'denied')
      expect(undone.state, `${round}: ${command}\n→ ${undo.command}\n${undone.output}`).toBe('completed')
      expect(picture(folder), `${round}: ${command}\n→ ${undo.command}`).toBe(before)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
  // The most of it is not left out.
  expect(whole).toBeGreaterThan(ROUNDS / 4)
}, 300_000)
