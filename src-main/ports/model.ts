/** One message of the conversation as an OpenAI-compatible endpoint takes it. */
export type PromptMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | {
      readonly role: 'assistant'
      readonly content: string | null
      readonly toolCalls: readonly { readonly callId: string; readonly name: string; readonly arguments: string }[]
    }
  | { readonly role: 'tool'; readonly callId: string; readonly content: string }

/** A tool offered to the model; `parameters` is a JSON schema. */
export interface ToolSpec {
  readonly name: string
  readonly description: string
  readonly parameters: Readonly<Record<string, unknown>>
}

/** What streams back. `done` comes last and exactly once unless the generator throws. */
export type ModelEvent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'call'; readonly callId: string; readonly name: string; readonly arguments: string }
  | { readonly kind: 'done'; readonly reason: 'stop' | 'calls' | 'length' | 'filtered' | 'aborted' }

export interface ModelEndpoint {
  readonly baseUrl: string
  readonly model: string
  readonly apiKey: string | null
}

export const MODEL_FAILURES = [
  'unreachable',
  'unauthorised',
  'rate_limited',
  'not_found',
  'cut',
  'refused',
  'empty',
  'protocol',
] as const
export type ModelFailureCode = (typeof MODEL_FAILURES)[number]

/** Thrown by `Model.stream`. `message` says what happened, why and what to do; it never holds the key. */
export class ModelFailure extends Error {
  readonly code: ModelFailureCode
  readonly retryAfterMs: number | null
  constructor(code: ModelFailureCode, message: string, retryAfterMs: number | null = null) {
    super(message)
    this.name = 'ModelFailure'
    this.code = code
    this.retryAfterMs = retryAfterMs
  }
}

export interface Model {
  /** Streams one answer. Ends with `aborted` when `signal` fires; throws `ModelFailure` on any fault, a cut stream included. */
  stream(
    endpoint: ModelEndpoint,
    messages: readonly PromptMessage[],
    tools: readonly ToolSpec[],
    signal: AbortSignal,
  ): AsyncIterable<ModelEvent>
}
