/**
 * A core without a window that is killed at one exact place: before or after its n-th commit once it is up. For the crash matrix.
 * Arguments: home, folder for what the commands write, number of the first command, at which step to die (2k-1: before the k-th
 * commit, 2k: after it). The database library is wrapped from outside: the product knows nothing of this.
 */
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const [home, folder, first, dieAt] = process.argv.slice(2)
const root = resolve(import.meta.dirname, '../..')
const load = createRequire(pathToFileURL(resolve(root, 'out/main/core.js')).href)
const Database = load(Number(process.versions.napi) >= 10 ? 'better-sqlite3' : 'better-sqlite3-napi9')

let armed = false
let steps = 0
function step() {
  if (armed && ++steps === Number(dieAt)) process.kill(process.pid, 'SIGKILL')
}
const { transaction } = Database.prototype
Database.prototype.transaction = function stepped(work) {
  const made = transaction.call(this, work)
  const around =
    (run) =>
    (...given) => {
      step()
      const result = run(...given)
      step()
      return result
    }
  return Object.assign(around(made), {
    default: around(made.default),
    deferred: around(made.deferred),
    immediate: around(made.immediate),
    exclusive: around(made.exclusive),
  })
}

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
armed = true
for (let n = Number(first); ; n++) {
  const command = `echo ${n} >> ${folder}/${n}`
  const execution = await ask('executions.request', { target: 'local', command, purpose: null, session: null })
  process.stdout.write(`asked ${n} ${execution.id}\n`)
  const { id, digest } = execution.approval
  const answer = n % 4 === 3 ? { kind: 'deny', note: 'not this one' } : { kind: 'approve', phrase: null }
  await ask('approvals.answer', { id, answer, digest })
  while (['approved', 'running'].includes((await ask('executions.get', { id: execution.id })).state))
    await new Promise((go) => setTimeout(go, 1))
}
