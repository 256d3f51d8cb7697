import { type ModelEndpoint, ModelFailure } from '../../ports'

const MAX_SERVER_TEXT = 600

/** The base URL as requests use it: no white space, no trailing slash, no path of a single request. `/v1` is never guessed. */
export function normaliseBaseUrl(text: string): string {
  return text
    .trim()
    .replace(/\/+$/, '')
    .replace(/\/chat\/completions$/, '')
    .replace(/\/+$/, '')
}

/** Takes the key, and words that begin or end as it does, out of a text that somebody else wrote. */
export function withoutKey(text: string, apiKey: string | null): string {
  const key = apiKey?.trim() ?? ''
  if (key === '') return text
  if (key.length < 6) {
    // Short ones are placeholders such as "none"; only whole words, or every sentence that holds these letters would break.
    return text.replace(/[A-Za-z0-9_.-]+/g, (word) => (word === key ? '[key]' : word))
  }
  let clean = text
  for (const form of new Set([apiKey ?? '', key, encodeURIComponent(key), Buffer.from(key).toString('base64')])) {
    if (form !== '') clean = clean.split(form).join('[key]')
  }
  if (key.length < 12) return clean
  const head = key.slice(0, 8)
  const tail = key.slice(-8)
  return clean.replace(/[^\s"'`,;()[\]{}<>]+/g, (word) => (word.includes(head) || word.includes(tail) ? '[key]' : word))
}

/** Where the endpoint is, as it may be shown: credentials and query are left out. */
export function shownUrl(baseUrl: string): string {
  try {
    const url = new URL(baseUrl)
    return `${url.protocol}//${url.host}${url.pathname}`.replace(/\/$/, '')
  } catch {
    return 'the base URL'
  }
}

/** Reads the sentence out of whatever body an endpoint answers a fault with. */
export function serverText(body: string): string {
  let text = body
  try {
    text = textOf(JSON.parse(body)) ?? body
  } catch {
    // Plain text or a page; shown as it is, shortened.
  }
  const line = text
    .replace(/<(style|script)[\s\S]*?<\/\1>/gi, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  return line.length > MAX_SERVER_TEXT ? `${line.slice(0, MAX_SERVER_TEXT)}…` : line
}

function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.length === 0 ? null : textOf(value[0])
  if (typeof value !== 'object' || value === null) return null
  const record = value as Readonly<Record<string, unknown>>
  for (const name of ['error', 'message', 'detail', 'msg']) {
    const found = textOf(record[name])
    if (found !== null) return found
  }
  return null
}

/** `retry-after` in seconds or as a date, or the millisecond header some endpoints send, as milliseconds. */
export function retryAfterMs(headers: Headers, now: number): number | null {
  const ms = Number.parseFloat(headers.get('retry-after-ms') ?? '')
  if (Number.isFinite(ms) && ms >= 0) return Math.ceil(ms)
  const text = headers.get('retry-after')?.trim()
  if (text === undefined || text === '') return null
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number.parseFloat(text) * 1000)
  const date = Date.parse(text)
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

/** The failure for an answer that is not a success. */
export function statusFailure(
  endpoint: ModelEndpoint,
  status: number,
  body: string,
  retryAfter: number | null,
): ModelFailure {
  const at = shownUrl(endpoint.baseUrl)
  const said = serverText(withoutKey(body, endpoint.apiKey))
  const quote = said === '' ? '' : ` It said: "${said}"`
  if (status === 401 || status === 403) {
    const why =
      endpoint.apiKey === null
        ? 'no key is set. Enter one in Settings, Model.'
        : 'the key is wrong, expired or not allowed to use this model. Check it in Settings, Model.'
    return new ModelFailure('unauthorised', `The model endpoint ${at} refused access (${status}): ${why}${quote}`)
  }
  if (status === 404) {
    const base = normaliseBaseUrl(endpoint.baseUrl)
    const hint = /\/v\d+[a-z]*(\/|$)/.test(base)
      ? `Check the model name "${endpoint.model}" and the base URL in Settings, Model.`
      : `Most endpoints end in /v1: try ${shownUrl(`${base}/v1`)} as base URL in Settings, Model, or check the model name "${endpoint.model}".`
    return new ModelFailure('not_found', `The model endpoint ${at} found nothing there (404). ${hint}${quote}`)
  }
  if (status === 429) {
    const when =
      retryAfter === null
        ? 'Wait a little and try again'
        : `Try again in ${Math.max(1, Math.ceil(retryAfter / 1000))} s`
    return new ModelFailure(
      'rate_limited',
      `The model endpoint ${at} is limiting requests (429). ${when}, or check the limits of your account.${quote}`,
      retryAfter,
    )
  }
  if (status === 402) {
    return new ModelFailure(
      'refused',
      `The model endpoint ${at} asks for payment (402). Check the credit of your account.${quote}`,
    )
  }
  if (status === 408 || status >= 500) {
    return new ModelFailure(
      'unreachable',
      `The model endpoint ${at} failed (${status}). The fault is on its side: try again, or look at the server's log.${quote}`,
      retryAfter,
    )
  }
  if (status >= 300 && status < 400) {
    return new ModelFailure(
      'protocol',
      `The model endpoint ${at} answered with a redirect (${status}). Enter its final address as base URL.`,
    )
  }
  return new ModelFailure(
    'protocol',
    `The model endpoint ${at} did not accept the request (${status}). Check that the model "${endpoint.model}" can use tools and take this much text.${quote}`,
  )
}

const UNREACHABLE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there. Start the server, or check address and port',
  ENOTFOUND: 'the name cannot be resolved. Check the spelling and the network',
  EAI_AGAIN: 'the name cannot be resolved right now. Check the network',
  ECONNRESET: 'the connection was closed. Try again',
  EPIPE: 'the connection was closed. Try again',
  UND_ERR_SOCKET: 'the connection was closed. Try again',
  ETIMEDOUT: 'it did not answer in time. Check the address and the network',
  UND_ERR_CONNECT_TIMEOUT: 'it did not answer in time. Check the address and the network',
  UND_ERR_HEADERS_TIMEOUT: 'it took the request and did not answer. Look at its log',
  EHOSTUNREACH: 'there is no route to it. Check the network',
  ENETUNREACH: 'there is no network to reach it. Check the network',
  ERR_INVALID_URL: 'this is not a valid address. Correct the base URL in Settings, Model',
}

/** The failure for a request that never got an answer. */
export function connectionFailure(endpoint: ModelEndpoint, error: unknown): ModelFailure {
  const at = shownUrl(endpoint.baseUrl)
  const code = codeOf(error)
  const known = UNREACHABLE[code ?? '']
  if (known !== undefined)
    return new ModelFailure('unreachable', `The model endpoint ${at} cannot be reached: ${known} (${code}).`)
  if (code !== null && /CERT|TLS|SSL|SELF_SIGNED|ISSUER/.test(code)) {
    return new ModelFailure(
      'unreachable',
      `The model endpoint ${at} showed a certificate that is not trusted (${code}). Install its authority on this computer, or correct the address.`,
    )
  }
  const what = code ?? withoutKey(deepestMessage(error), endpoint.apiKey)
  return new ModelFailure(
    'unreachable',
    `The model endpoint ${at} cannot be reached: ${what}. Check the base URL in Settings, Model, and the network.`,
  )
}

function* causes(error: unknown): Generator<object> {
  let current: unknown = error
  for (let depth = 0; depth < 8 && typeof current === 'object' && current !== null; depth += 1) {
    yield current
    if (current instanceof AggregateError && current.errors.length > 0) yield* causes(current.errors[0])
    current = (current as { readonly cause?: unknown }).cause
  }
}

function codeOf(error: unknown): string | null {
  let found: string | null = null
  for (const cause of causes(error)) {
    const code = (cause as { readonly code?: unknown }).code
    if (typeof code === 'string' && code !== '') found = code
  }
  return found
}

function deepestMessage(error: unknown): string {
  let found = ''
  for (const cause of causes(error)) {
    if (cause instanceof Error && cause.message !== '') found = cause.message
  }
  return found === '' ? String(error) : found
}
