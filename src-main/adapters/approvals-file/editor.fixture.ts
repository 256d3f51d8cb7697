/**
 * An editor of the approvals file for the tests, bundled and started as a process of its own.
 * Arguments: folder, name, number of entries to add. Prints `READY`, then `SAVED <n>` after each save.
 */
import { createApprovalsFile } from '.'

const [home = '', name = 'editor', count = '1'] = process.argv.slice(2)
const file = createApprovalsFile(home)
process.stdout.write('READY\n')
for (let n = 0; n < Number(count); n++) {
  await file.edit((editing) => {
    const now = editing.read()
    if (now.kind === 'broken') throw new Error(now.problem)
    const agents = now.kind === 'file' ? (now.file.agents ?? {}) : {}
    const main = agents.main ?? {}
    const allowlist = [...(main.allowlist ?? []), { id: `${name}-${n}`, pattern: `/usr/bin/${name}-${n}` }]
    editing.prepare({
      ...(now.kind === 'file' ? now.raw : { version: 1 }),
      agents: { ...agents, main: { ...main, allowlist } },
    })
    editing.commit('test')
  })
  process.stdout.write(`SAVED ${n}\n`)
}
