import { randomBytes } from 'node:crypto'
import type OpenAI from 'openai'
import {
  type Log,
  type Model,
  type ModelEndpoint,
  type ModelEvent,
  ModelFailure,
  type PromptMessage,
  type ToolSpec,
} from '../../ports'
import { CallCollector } from './calls'
import {
  connectionFailure,
  normaliseBaseUrl,
  retryAfterMs,
  serverText,
  shownUrl,
  statusFailure,
  withoutKey,
} from './failures'

export interface OpenAiOptions {
  /** How long the endpoint may stay silent in the middle of an answer; 60 s unless set. Comment lines count as a sign of life. */
  readonly timeoutMs?: number
  /** How long it may take until the first byte of an answer: local models are loaded from disk by then; 180 s unless set. */
  readonly firstByteMs?: number
  readonly log?: Log
}

type Params = OpenAI.Chat.Completions.ChatCompletionCreateParamsStreaming
type Chunk = OpenAI.Chat.Completions.ChatCompletionChunk

const MAX_FAULT_BODY = 64 * 1024
/** What follows the finish reason (usage, `[DONE]`) is not worth waiting for. */
const AFTER_FINISH_MS = 2000

/**
 * The model port over any OpenAI-compatible endpoint (OpenRouter, OpenAI, Ollama, llama.cpp, vLLM). The library is loaded at the first
 * use. It never retries; the caller does.
 */
export function createOpenAiModel(options: OpenAiOptions = {}): Model {
  const idleMs = options.timeoutMs ?? 60_000
  const firstByteMs = options.firstByteMs ?? 180_000

  async function* stream(
    endpoint: ModelEndpoint,
    messages: readonly PromptMessage[],
    tools: readonly ToolSpec[],
    signal: AbortSignal,
  ): AsyncGenerator<ModelEvent> {
    const at = shownUrl(endpoint.baseUrl)
    checkEndpoint(endpoint)
    const watch = createWatch(signal)
    const calls = new CallCollector()
    let said = false
    let refusal = ''
    let finish: string | null = null
    try {
      const { default: Client } = await import('openai')
      const client = new Client({
        baseURL: normaliseBaseUrl(endpoint.baseUrl),
        // The library demands a key; `wire` sends the real one or none.
        apiKey: 'unset',
        adminAPIKey: null,
        organization: null,
        project: null,
        maxRetries: 0,
        // Time is kept by the watch, which knows the difference between slow and silent.
        timeout: 2_000_000_000,
        logLevel: 'off',
        fetch: wire(endpoint, watch),
      })
      watch.expect(firstByteMs, () => silent(at, firstByteMs, 'unreachable'))
      const answer = await client.chat.completions.create(toParams(endpoint, messages, tools), { signal: watch.signal })
      for await (const chunk of answer) {
        if (watch.stopped) break
        const choice = firstChoice(chunk)
        if (choice === null) continue
        const { delta } = choice
        if (typeof delta.content === 'string' && delta.content !== '') {
          said = true
          yield { kind: 'text', text: delta.content }
        }
        if (typeof delta.refusal === 'string') refusal += delta.refusal
        if (Array.isArray(delta.tool_calls)) for (const part of delta.tool_calls) calls.add(part)
        if (typeof choice.finish_reason === 'string' && choice.finish_reason !== '') {
          finish = choice.finish_reason
          watch.finishing()
        }
      }
    } catch (error) {
      // After the finish reason the answer is whole, however the connection then ended.
      if (finish === null && !signal.aborted) {
        const failure = watch.failure ?? toFailure(endpoint, error, said || !calls.empty || watch.answered)
        options.log?.warn('a model request failed', { endpoint: at, code: failure.code })
        throw sealed(failure, endpoint)
      }
    } finally {
      watch.end()
    }

    // `abort()` ends the loop above without an error, whoever called it.
    if (signal.aborted) {
      yield { kind: 'done', reason: 'aborted' }
      return
    }
    const failure = watch.failure ?? judge(at, finish, said, refusal, calls)
    if (failure !== null) {
      options.log?.warn('a model answer failed', { endpoint: at, code: failure.code })
      throw sealed(failure, endpoint)
    }
    for (const call of calls.complete(newCallId)) yield { kind: 'call', ...call }
    yield { kind: 'done', reason: reasonOf(finish, calls) }
  }

  /** Sends a request with the headers that are needed and no others, and looks at the answer before the library does. */
  function wire(endpoint: ModelEndpoint, watch: Watch): typeof fetch {
    return async (input, init) => {
      const headers = new Headers(init?.headers)
      // What the library tells about this computer and takes from the environment stays here.
      for (const name of [...headers.keys()]) {
        if (name.startsWith('x-stainless-') || name.startsWith('openai-')) headers.delete(name)
      }
      headers.set('accept', 'text/event-stream, application/json')
      headers.set('user-agent', 'Nomos')
      headers.delete('authorization')
      const key = endpoint.apiKey?.trim() ?? ''
      if (key !== '') headers.set('authorization', `Bearer ${key}`)
      // A redirect could carry the key and the conversation somewhere else.
      const response = await fetch(input, { ...init, headers, redirect: 'manual' })
      if (!response.ok) {
        const body = await readSome(response)
        throw watch.fail(statusFailure(endpoint, response.status, body, retryAfterMs(response.headers, Date.now())))
      }
      const type = response.headers.get('content-type') ?? ''
      if (/\btext\/html\b/i.test(type)) {
        await response.body?.cancel()
        throw watch.fail(
          new ModelFailure(
            'protocol',
            `${shownUrl(endpoint.baseUrl)} answered with a web page instead of a model's answer. ` +
              'The base URL probably lacks its end, such as /v1. Correct it in Settings, Model.',
          ),
        )
      }
      if (/\bapplication\/json\b/i.test(type)) return asStream(await response.text())
      if (response.body === null) return response
      const body = response.body.pipeThrough(
        new TransformStream<Uint8Array, Uint8Array>({
          transform(bytes, controller) {
            watch.alive(idleMs, () => silent(shownUrl(endpoint.baseUrl), idleMs))
            controller.enqueue(bytes)
          },
        }),
      )
      return new Response(body, { status: response.status, headers: response.headers })
    }
  }

  return { stream }
}

/** Keeps the time of one request and remembers why it was ended. */
interface Watch {
  readonly signal: AbortSignal
  readonly failure: ModelFailure | null
  readonly stopped: boolean
  /** True once anything of an answer came in. */
  readonly answered: boolean
  expect(ms: number, failure: () => ModelFailure): void
  alive(ms: number, failure: () => ModelFailure): void
  finishing(): void
  fail(failure: ModelFailure): ModelFailure
  end(): void
}

function createWatch(outer: AbortSignal): Watch {
  const controller = new AbortController()
  const abort = () => controller.abort()
  if (outer.aborted) abort()
  else outer.addEventListener('abort', abort, { once: true })
  let timer: NodeJS.Timeout | null = null
  let failure: ModelFailure | null = null
  let answered = false
  let finishing = false

  const set = (ms: number, then: () => void) => {
    if (timer !== null) clearTimeout(timer)
    timer = setTimeout(then, ms)
    timer.unref()
  }
  const expect = (ms: number, make: () => ModelFailure) =>
    set(ms, () => {
      failure ??= make()
      abort()
    })

  return {
    signal: controller.signal,
    get failure() {
      return failure
    },
    get stopped() {
      return controller.signal.aborted
    },
    get answered() {
      return answered
    },
    expect,
    alive(ms, make) {
      answered = true
      if (!finishing) expect(ms, make)
    },
    finishing() {
      finishing = true
      set(AFTER_FINISH_MS, abort)
    },
    fail(reason) {
      failure ??= reason
      return failure
    },
    end() {
      if (timer !== null) clearTimeout(timer)
      outer.removeEventListener('abort', abort)
      // Lets go of the connection, also when the caller stopped listening in the middle.
      abort()
    },
  }
}

function checkEndpoint(endpoint: ModelEndpoint): void {
  let url: URL
  try {
    url = new URL(normaliseBaseUrl(endpoint.baseUrl))
  } catch {
    throw new ModelFailure(
      'unreachable',
      'The base URL of the model is not a valid address. Correct it in Settings, Model, for example http://127.0.0.1:11434/v1',
    )
  }
  if (url.username !== '' || url.password !== '') {
    throw new ModelFailure(
      'protocol',
      'The base URL of the model holds a user name or password, which is not sent. Put the secret into the key field in Settings, Model.',
    )
  }
  if (endpoint.apiKey !== null && !/^[\x21-\x7e]*$/.test(endpoint.apiKey.trim())) {
    throw new ModelFailure(
      'unauthorised',
      'The key of the model holds white space or characters that no key has, so it was not sent. Enter it again in Settings, Model.',
    )
  }
}

function toParams(endpoint: ModelEndpoint, messages: readonly PromptMessage[], tools: readonly ToolSpec[]): Params {
  const params: Params = { model: endpoint.model, stream: true, messages: messages.map(toMessage) }
  if (tools.length > 0) {
    params.tools = tools.map((tool) => ({
      type: 'function',
      function: { name: tool.name, description: tool.description, parameters: { ...tool.parameters } },
    }))
  }
  return params
}

function toMessage(message: PromptMessage): Params['messages'][number] {
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, content: message.content }
    case 'tool':
      return { role: 'tool', tool_call_id: message.callId, content: message.content }
    case 'assistant':
      if (message.toolCalls.length === 0) return { role: 'assistant', content: message.content ?? '' }
      return {
        role: 'assistant',
        content: message.content,
        tool_calls: message.toolCalls.map((call) => ({
          id: call.callId,
          type: 'function',
          function: { name: call.name, arguments: call.arguments },
        })),
      }
  }
}

/** Servers leave out or null what the types promise, so nothing is taken for granted. */
function firstChoice(chunk: Chunk): {
  readonly delta: Readonly<Record<string, unknown>>
  readonly finish_reason: unknown
} | null {
  const loose = chunk as unknown as { readonly choices?: unknown } | null
  const choice: unknown = Array.isArray(loose?.choices) ? loose.choices[0] : undefined
  if (typeof choice !== 'object' || choice === null) return null
  const { delta, finish_reason } = choice as { readonly delta?: unknown; readonly finish_reason?: unknown }
  const known = typeof delta === 'object' && delta !== null ? (delta as Readonly<Record<string, unknown>>) : {}
  return { delta: known, finish_reason }
}

/** What is wrong with an answer that came to its end. */
function judge(
  at: string,
  finish: string | null,
  said: boolean,
  refusal: string,
  calls: CallCollector,
): ModelFailure | null {
  if (finish === null) {
    return new ModelFailure(
      'cut',
      `The answer from ${at} was cut off before its end. Try again; if it happens often, look at the server's log.`,
    )
  }
  if (finish === 'error') {
    return new ModelFailure(
      'refused',
      `The model behind ${at} failed in the middle of its answer. Try again, or try another model.`,
    )
  }
  if (said || !calls.empty) return null
  if (refusal !== '') return new ModelFailure('refused', `The model refused to answer: "${serverText(refusal)}"`)
  if (finish === 'content_filter') return null
  if (finish === 'length') {
    return new ModelFailure(
      'empty',
      `The model at ${at} used up its length limit without saying anything. Raise the limit on the server, or try another model.`,
    )
  }
  return new ModelFailure('empty', `The model at ${at} answered with nothing. Try again, or try another model.`)
}

function reasonOf(finish: string | null, calls: CallCollector): 'stop' | 'calls' | 'length' | 'filtered' {
  if (finish === 'length') return 'length'
  if (finish === 'content_filter') return 'filtered'
  // Some servers say "stop" although they want calls carried out.
  return calls.empty ? 'stop' : 'calls'
}

function silent(at: string, ms: number, code: 'cut' | 'unreachable' = 'cut'): ModelFailure {
  const seconds = Math.ceil(ms / 1000)
  return new ModelFailure(
    code,
    `The model endpoint ${at} was silent for ${seconds} s, so it was given up. Try again, or look at the server's log.`,
  )
}

/** What an error of the library or of the connection means. */
function toFailure(endpoint: ModelEndpoint, error: unknown, begun: boolean): ModelFailure {
  if (error instanceof ModelFailure) return error
  const at = shownUrl(endpoint.baseUrl)
  if (error instanceof SyntaxError) {
    return new ModelFailure(
      'protocol',
      `The model endpoint ${at} sent something that is no model's answer. Check the base URL in Settings, Model.`,
    )
  }
  // The library throws an error object found inside the stream, whose own words are in `error`.
  const inside = typeof error === 'object' && error !== null && 'error' in error ? error.error : undefined
  if (inside !== undefined && inside !== null) {
    const said = serverText(typeof inside === 'string' ? inside : JSON.stringify(inside))
    const code = typeof inside === 'object' && 'code' in inside ? Number(inside.code) : Number.NaN
    if (code === 429) {
      return new ModelFailure(
        'rate_limited',
        `The model endpoint ${at} is limiting requests. Wait a little and try again. It said: "${said}"`,
      )
    }
    return new ModelFailure(
      'refused',
      `The model endpoint ${at} reported a fault instead of an answer: "${said}". Try again, or try another model.`,
    )
  }
  if (begun) {
    return new ModelFailure('cut', `The connection to ${at} broke in the middle of the answer. Try again.`)
  }
  return connectionFailure(endpoint, error)
}

/** The last look at a message before it leaves: whoever wrote its parts, the key is not in it. */
function sealed(failure: ModelFailure, endpoint: ModelEndpoint): ModelFailure {
  const message = withoutKey(failure.message, endpoint.apiKey)
  return message === failure.message ? failure : new ModelFailure(failure.code, message, failure.retryAfterMs)
}

/** An endpoint that does not stream answers with one JSON object; here it becomes a stream of one piece. */
function asStream(body: string): Response {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    value = { error: { message: `not valid JSON: ${serverText(body)}` } }
  }
  const { choices, error } = (typeof value === 'object' && value !== null ? value : {}) as Readonly<
    Record<string, unknown>
  >
  const choice = (Array.isArray(choices) ? choices[0] : undefined) as
    | { readonly message?: unknown; readonly finish_reason?: unknown }
    | undefined
  const data =
    choice === undefined
      ? { error: error ?? { message: serverText(body) } }
      : { choices: [{ index: 0, delta: choice.message ?? {}, finish_reason: choice.finish_reason ?? 'stop' }] }
  return new Response(`data: ${JSON.stringify(data)}\n\ndata: [DONE]\n\n`, {
    headers: { 'content-type': 'text/event-stream' },
  })
}

/** The beginning of the body of a fault; a server that never ends it must not hold the request. */
async function readSome(response: Response): Promise<string> {
  const reader = response.body?.getReader()
  if (reader === undefined) return ''
  const decoder = new TextDecoder()
  let text = ''
  const late = setTimeout(() => void reader.cancel().catch(() => undefined), 3000)
  try {
    while (text.length < MAX_FAULT_BODY) {
      const { value, done } = await reader.read()
      if (done) break
      text += decoder.decode(value, { stream: true })
    }
  } catch {
    // What there is has to do.
  } finally {
    clearTimeout(late)
    void reader.cancel().catch(() => undefined)
  }
  return text
}

function newCallId(): string {
  return `call_${randomBytes(9).toString('hex')}`
}
