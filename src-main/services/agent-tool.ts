import { z } from 'zod'
import { RISKS } from '../../src-preload/contract/model'
import type { ToolSpec } from '../ports'

/** What a `run` call asks for once its arguments were read. */
export interface RunInput {
  readonly target: string
  readonly command: string
  readonly purpose: string | null
  readonly declaredRisk: string | null
  readonly cwd: string | null
  readonly verify: string | null
}

/** A call as the model wrote it. */
export interface RawCall {
  readonly callId: string
  readonly name: string
  readonly arguments: string
}

/** The one general tool, as it is offered to a model. */
export const RUN_TOOL: ToolSpec = {
  name: 'run',
  description:
    'Runs one shell command on a target and gives back its state, exit code and output. A gate that you cannot influence decides ' +
    'whether it runs at once, waits for the operator, or is denied. Use one command for one purpose; look before you change anything.',
  parameters: {
    type: 'object',
    properties: {
      target: { type: 'string', description: 'Where to run it: "local" for this computer, or "host:<name>".' },
      command: { type: 'string', description: 'The shell command, exactly as it shall run. No interactive programs.' },
      purpose: {
        type: 'string',
        description: 'One sentence for the operator: why this command, and what it will change.',
      },
      risk: {
        type: 'string',
        enum: [...RISKS],
        description: 'Your honest judgement. It can only make the gate stricter.',
      },
      cwd: { type: 'string', description: 'Absolute path of the folder to run it in. Leave out for the default.' },
      verify: { type: 'string', description: 'A read-only command that shows afterwards whether it worked.' },
    },
    required: ['target', 'command', 'purpose'],
    additionalProperties: false,
  },
}

const optionalText = z
  .string()
  .nullish()
  // Small models fill what they leave out with an empty text.
  .transform((value) => (value === undefined || value === null || value.trim() === '' ? null : value))

const RunArguments = z.strictObject({
  target: z.string().trim().min(1, 'is empty; name where to run the command, e.g. "local"'),
  command: z.string().refine((value) => value.trim() !== '', 'is empty; write the shell command'),
  purpose: z.string().refine((value) => value.trim() !== '', 'is empty; say in one sentence why'),
  risk: optionalText,
  cwd: optionalText,
  verify: optionalText,
})

/** Reads a call, or says in a text for the model what is wrong with it. Nothing has been asked of the gate by then. */
export function readRunCall(
  call: RawCall,
): { readonly ok: true; readonly input: RunInput } | { readonly ok: false; readonly error: string } {
  if (call.name !== RUN_TOOL.name) {
    return failed(`there is no tool ${JSON.stringify(call.name)}; the only tool is "run".`)
  }
  let value: unknown
  try {
    value = JSON.parse(call.arguments)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return failed(`the arguments are not valid JSON (${why}). Send one JSON object with target, command and purpose.`)
  }
  const read = RunArguments.safeParse(value)
  if (!read.success) {
    const what = read.error.issues.map((issue) => {
      const field = issue.path.length === 0 ? 'arguments' : issue.path.join('.')
      return `${field}: ${issue.message}`
    })
    return failed(`${what.join('; ')}. Allowed are target, command, purpose, risk, cwd and verify, all of them texts.`)
  }
  const { target, command, purpose, risk, cwd, verify } = read.data
  return { ok: true, input: { target, command, purpose, declaredRisk: risk, cwd, verify } }
}

function failed(what: string): { readonly ok: false; readonly error: string } {
  return { ok: false, error: `Not run: ${what}` }
}

/** Gives every call of one answer its own id, also where a server repeats ids or sends none. */
export function withUniqueIds(calls: readonly RawCall[], newId: () => string): readonly RawCall[] {
  const seen = new Set<string>()
  return calls.map((call) => {
    const callId = call.callId === '' || seen.has(call.callId) ? newId() : call.callId
    seen.add(callId)
    return { ...call, callId }
  })
}

/**
 * The arguments with every text redacted, still valid JSON when they were. Redacting the JSON text itself could swallow a closing
 * quote together with a secret.
 */
export function redactArguments(text: string, redact: (text: string) => string): string {
  try {
    return JSON.stringify(redactDeep(JSON.parse(text), redact))
  } catch {
    // Not JSON, or nested deeper than a stack goes.
    return redact(text)
  }
}

function redactDeep(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return redact(value)
  if (Array.isArray(value)) return value.map((item) => redactDeep(item, redact))
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [redact(name), redactDeep(item, redact)]))
  }
  return value
}
