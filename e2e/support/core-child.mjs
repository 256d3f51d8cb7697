/**
 * A core without a window that asks, approves and runs until it is killed. For the crash matrix.
 * Arguments: home, folder for what the commands write, number of the first command.
 */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const [home, folder, first] = process.argv.slice(2)
const root = resolve(import.meta.dirname, '../..')
const { createCore, NO_SECRETS } = await import(pathToFileURL(resolve(root, 'out/main/core.js')).href)
const core = createCore({ home, resources: root, version: 'crash', secrets: NO_SECRETS, headless: true })
const operator = { surface: 'window', operator: true }
const ask = async (route, input) => {
  const answer = await core.dispatch(operator, route, input)
  if (!answer.ok) throw new Error(`${route}: ${answer.error.message}`)
  return answer.value
}
// The first request reads the rules; what is to be interrupted is what comes after.
await ask('executions.request', { target: 'local', command: 'uname -s', purpose: null, session: null })
process.stdout.write('up\n')
for (let n = Number(first); ; n++) {
  const command = `echo ${n} >> ${folder}/${n}`
  const execution = await ask('executions.request', { target: 'local', command, purpose: null, session: null })
  process.stdout.write(`asked ${n} ${execution.id}\n`)
  if (n % 5 === 4) continue
  const approval = execution.approval
  await ask('approvals.answer', { id: approval.id, answer: { kind: 'approve', phrase: null }, digest: approval.digest })
  process.stdout.write(`approved ${n}\n`)
  if (n % 3 === 0)
    while ((await ask('executions.get', { id: execution.id })).state === 'running')
      await new Promise((go) => setTimeout(go, 1))
}
