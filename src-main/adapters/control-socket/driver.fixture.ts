/**
 * A client for the tests, bundled and started in a real terminal (or without one). Prints one JSON line with the envelope.
 * Arguments: folder, mode. Modes: `code` types what is shown, `wrong` types something else, `raw` sends what stands in DRIVER_LINES.
 */
import { createControlClient } from './client'

const [folder = '', mode = 'code'] = process.argv.slice(2)
const client = createControlClient(folder)
try {
  await client.connect()
  const envelope = await client.answerWithChallenge(
    'approvals.answer',
    { id: 'apr_1', answer: { kind: 'approve', phrase: null }, digest: 'd' },
    async ({ code }) => (mode === 'wrong' ? 'AAAAAA' : `${code.slice(0, 3).toLowerCase()}-${code.slice(3)}`),
  )
  process.stdout.write(`ENVELOPE ${JSON.stringify(envelope)}\n`)
} catch (error) {
  process.stdout.write(`THROWN ${String(error)}\n`)
} finally {
  client.close()
}
