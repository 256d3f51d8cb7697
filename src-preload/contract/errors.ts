import { z } from 'zod'

/** Closed list of error kinds that cross the border. `message` beside it is for people, this is for code. */
export const ERROR_CODES = [
  'bad_input',
  'unknown_route',
  'forbidden',
  'not_found',
  'target_unknown',
  'command_empty',
  'command_nul',
  'already_settled',
  'expired',
  'wrong_phrase',
  'phrase_paused',
  'drift',
  'turn_active',
  'model_unset',
  'model_failed',
  'runs_blocked',
  'conflict',
  'unavailable',
  'internal',
] as const
export const ErrorCode = z.enum(ERROR_CODES)
export type ErrorCode = z.infer<typeof ErrorCode>

/** Says what happened, why and what to do; `field` names the input it is about. */
export const Failure = z.object({
  code: ErrorCode,
  message: z.string(),
  field: z.string().nullable(),
  detail: z.string().nullable(),
})
export type Failure = z.infer<typeof Failure>

/** What every request answers: a value or a failure, never a thrown exception (a rejected `invoke` loses code and data). */
export type Envelope<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: Failure }

/** Thrown inside main to answer a request with a failure. */
export class NomosError extends Error {
  readonly code: ErrorCode
  readonly field: string | null
  readonly detail: string | null
  constructor(code: ErrorCode, message: string, options: { field?: string; detail?: string } = {}) {
    super(message)
    this.name = 'NomosError'
    this.code = code
    this.field = options.field ?? null
    this.detail = options.detail ?? null
  }
}
