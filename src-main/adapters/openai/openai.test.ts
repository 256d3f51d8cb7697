import { createServer } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { type ModelScript, type ModelServer, startModelServer } from '../../../e2e/support/model-server'
import { type ModelEndpoint, type ModelEvent, ModelFailure, type PromptMessage, type ToolSpec } from '../../ports'
import { CallCollector } from './calls'
import { normaliseBaseUrl, retryAfterMs, withoutKey } from './failures'
import { createOpenAiModel, type OpenAiOptions } from './index'

const KEY = 'sk-test-4f9d2c7b1a8e6035'
const TOOLS: readonly ToolSpec[] = [
  { name: 'run', description: 'runs', parameters: { type: 'object', properties: {} } },
]
const HELLO: readonly PromptMessage[] = [
  { role: 'system', content: 'be brief' },
  { role: 'user', content: 'hello' },
]

const servers: ModelServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop()
})

async function serve(...script: ModelScript): Promise<ModelServer> {
  const server = await startModelServer(script)
  servers.push(server)
  return server
}

interface Heard {
  readonly events: readonly ModelEvent[]
  readonly text: string
  readonly calls: readonly Extract<ModelEvent, { kind: 'call' }>[]
  readonly done: string | null
  readonly failure: ModelFailure | null
}

async function hear(
  baseUrl: string,
  more: {
    readonly apiKey?: string | null
    readonly messages?: readonly PromptMessage[]
    readonly options?: OpenAiOptions
    readonly signal?: AbortSignal
    readonly onEvent?: (event: ModelEvent) => void
  } = {},
): Promise<Heard> {
  const endpoint: ModelEndpoint = { baseUrl, model: 'scripted', apiKey: more.apiKey === undefined ? KEY : more.apiKey }
  const events: ModelEvent[] = []
  let failure: ModelFailure | null = null
  try {
    const stream = createOpenAiModel(more.options).stream(
      endpoint,
      more.messages ?? HELLO,
      TOOLS,
      more.signal ?? new AbortController().signal,
    )
    for await (const event of stream) {
      events.push(event)
      more.onEvent?.(event)
    }
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error
    failure = error
  }
  const done = events.filter((event) => event.kind === 'done')
  expect(done.length).toBe(failure === null ? 1 : 0)
  if (failure === null) expect(events.at(-1)?.kind).toBe('done')
  return {
    events,
    text: events.map((event) => (event.kind === 'text' ? event.text : '')).join(''),
    calls: events.filter((event) => event.kind === 'call'),
    done: done[0]?.reason ?? null,
    failure,
  }
}

describe('what a model says', () => {
  it('streams text in pieces, comment lines or not', async () => {
    const server = await serve({ kind: 'text', text: 'Grüße – all is well 👍', piece: 3, comments: true })
    const heard = await hear(server.url)
    expect(heard.text).toBe('Grüße – all is well 👍')
    expect(heard.events.length).toBeGreaterThan(3)
    expect(heard.done).toBe('stop')
  })

  it('sends the key, the tools and the conversation, and nothing about this computer', async () => {
    const server = await serve({ kind: 'text', text: 'ok' })
    await hear(`${server.url}///`, {
      messages: [
        ...HELLO,
        { role: 'assistant', content: null, toolCalls: [{ callId: 'c1', name: 'run', arguments: '{"a":1}' }] },
        { role: 'tool', callId: 'c1', content: 'done' },
      ],
    })
    const request = server.requests[0]
    expect(request?.headers.authorization).toBe(`Bearer ${KEY}`)
    expect(Object.keys(request?.headers ?? {}).filter((name) => /^(x-stainless|openai)-/.test(name))).toEqual([])
    expect(request?.body).toMatchObject({ model: 'scripted', stream: true, tools: [{ function: { name: 'run' } }] })
    expect(request?.body.messages.slice(2)).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'run', arguments: '{"a":1}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'done' },
    ])
  })

  it('sends no authorization without a key', async () => {
    const server = await serve({ kind: 'text', text: 'ok' })
    expect((await hear(server.url, { apiKey: null })).text).toBe('ok')
    expect(server.requests[0]?.headers.authorization).toBeUndefined()
  })

  it.each(['fragments', 'whole', 'no-index'] as const)('takes calls streamed as %s', async (style) => {
    const server = await serve({
      kind: 'calls',
      style,
      text: 'I look.',
      calls: [
        { id: 'a', arguments: { target: 'local', command: 'df -h "ü"' } },
        { id: 'b', name: 'other', arguments: { x: 1 } },
      ],
    })
    const heard = await hear(server.url)
    expect(heard.text).toBe('I look.')
    expect(heard.calls).toEqual([
      { kind: 'call', callId: 'a', name: 'run', arguments: '{"target":"local","command":"df -h \\"ü\\""}' },
      { kind: 'call', callId: 'b', name: 'other', arguments: '{"x":1}' },
    ])
    expect(heard.done).toBe('calls')
  })

  it('gives ids to calls that have none or share one, and knows calls behind a plain "stop"', async () => {
    const server = await serve({
      kind: 'calls',
      finish: 'stop',
      calls: [
        { id: '', arguments: '{"n":1}' },
        { id: 'x', arguments: '{"n":2}' },
        { id: 'x', arguments: '{"n":3}' },
      ],
    })
    const heard = await hear(server.url)
    expect(heard.calls.map((call) => call.arguments)).toEqual(['{"n":1}', '{"n":2}', '{"n":3}'])
    expect(new Set(heard.calls.map((call) => call.callId)).size).toBe(3)
    expect(heard.calls.every((call) => call.callId !== '')).toBe(true)
    expect(heard.done).toBe('calls')
  })

  it('hands malformed arguments on as they are', async () => {
    const server = await serve({ kind: 'calls', calls: [{ arguments: '{"target": "local", ' }] })
    expect((await hear(server.url)).calls[0]?.arguments).toBe('{"target": "local", ')
  })

  it('takes an answer that is not streamed', async () => {
    const body = JSON.stringify({
      choices: [
        {
          message: {
            role: 'assistant',
            content: 'whole',
            tool_calls: [{ id: 'q', type: 'function', function: { name: 'run', arguments: '{}' } }],
          },
          finish_reason: 'tool_calls',
        },
      ],
    })
    const server = await serve({ kind: 'raw', contentType: 'application/json', body })
    const heard = await hear(server.url)
    expect([heard.text, heard.calls.length, heard.done]).toEqual(['whole', 1, 'calls'])
  })

  it('says so when the length limit was met', async () => {
    const server = await serve({ kind: 'text', text: 'half a sent', finish: 'length' })
    expect((await hear(server.url)).done).toBe('length')
  })

  it('does not mind odd chunks', async () => {
    const body = [
      ': hi',
      'data: {"choices":[]}',
      'data: {"object":"x"}',
      'data: {"choices":[{"delta":null,"finish_reason":""}]}',
      'data: {"choices":[{"delta":{"content":"fine","reasoning":"hm"},"finish_reason":null}]}',
      'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}',
      'data: {"choices":[],"usage":{"total_tokens":3}}',
      '',
    ].join('\n\n')
    const server = await serve({ kind: 'raw', body })
    expect((await hear(server.url)).text).toBe('fine')
  })
})

describe('what goes wrong', () => {
  it('names a wrong key, and never shows it', async () => {
    const server = await serve({ kind: 'status', status: 401, message: `Incorrect API key provided: ${KEY}` })
    const { failure } = await hear(server.url)
    expect(failure?.code).toBe('unauthorised')
    expect(failure?.message).toContain('Settings')
    expect(failure?.message).not.toContain(KEY)
    expect(failure?.message).not.toContain(KEY.slice(0, 10))
  })

  it.each([
    [403, 'unauthorised'],
    [404, 'not_found'],
    [402, 'refused'],
    [400, 'protocol'],
    [500, 'unreachable'],
    [503, 'unreachable'],
  ])('maps status %i to %s and asks once', async (status, code) => {
    const server = await serve({ kind: 'status', status, message: 'because' })
    const { failure } = await hear(server.url)
    expect(failure?.code).toBe(code)
    expect(failure?.message).toContain('because')
    expect(failure?.message).toContain(String(status))
    expect(server.requests.length).toBe(1)
  })

  it('suggests /v1 where it is missing, and sends nothing there by itself', async () => {
    const server = await serve()
    const { failure } = await hear(server.url.replace('/v1', ''))
    expect(failure?.code).toBe('not_found')
    expect(failure?.message).toContain(`try ${server.url}`)
    expect(server.requests.length).toBe(0)
  })

  it('reads how long to wait', async () => {
    const server = await serve({ kind: 'status', status: 429, retryAfter: '7' })
    const { failure } = await hear(server.url)
    expect([failure?.code, failure?.retryAfterMs]).toEqual(['rate_limited', 7000])
    expect(failure?.message).toContain('7 s')
  })

  it('names an endpoint that is down', async () => {
    const gate = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => gate.once('listening', resolve))
    const address = gate.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    await new Promise((resolve) => gate.close(resolve))
    const { failure } = await hear(`http://127.0.0.1:${port}/v1`)
    expect(failure?.code).toBe('unreachable')
    expect(failure?.message).toContain('ECONNREFUSED')
    expect(failure?.message).toContain(`127.0.0.1:${port}`)
  })

  it('names a host that does not exist', async () => {
    const { failure } = await hear('http://no-such-host.invalid/v1')
    expect(failure?.code).toBe('unreachable')
    expect(failure?.message).toMatch(/ENOTFOUND|EAI_AGAIN/)
  })

  it.each(['end', 'reset'] as const)('sees that a stream was cut (%s)', async (how) => {
    const server = await serve({ kind: 'cut', text: 'half', how })
    const heard = await hear(server.url)
    expect([heard.text, heard.failure?.code]).toEqual(['half', 'cut'])
  })

  it('hands no call on from a stream that was cut', async () => {
    const chunk = {
      choices: [
        { index: 0, delta: { tool_calls: [{ index: 0, id: 'a', function: { name: 'run', arguments: '{}' } }] } },
      ],
    }
    const server = await serve({ kind: 'raw', body: `data: ${JSON.stringify(chunk)}\n\n` })
    const heard = await hear(server.url)
    expect([heard.calls.length, heard.failure?.code]).toEqual([0, 'cut'])
  })

  it('reads an error object inside the stream', async () => {
    const server = await serve({ kind: 'stream-error', text: 'so f', message: 'Provider returned error' })
    const { failure } = await hear(server.url)
    expect(failure?.code).toBe('refused')
    expect(failure?.message).toContain('Provider returned error')
  })

  it('reads an error object with status 200', async () => {
    const server = await serve({
      kind: 'raw',
      contentType: 'application/json',
      body: `{"error":"overloaded, key ${KEY}"}`,
    })
    const { failure } = await hear(server.url)
    expect(failure?.code).toBe('refused')
    expect(failure?.message).toContain('overloaded')
    expect(failure?.message).not.toContain(KEY)
  })

  it('knows a web page and nonsense for what they are', async () => {
    const server = await serve(
      { kind: 'raw', contentType: 'text/html; charset=utf-8', body: '<html>Welcome</html>' },
      { kind: 'raw', body: 'data: {broken\n\n' },
    )
    expect((await hear(server.url)).failure?.code).toBe('protocol')
    expect((await hear(server.url)).failure?.code).toBe('protocol')
  })

  it('knows an empty answer and a refusal', async () => {
    const refusal = { choices: [{ index: 0, delta: { refusal: 'I will not' }, finish_reason: 'stop' }] }
    const server = await serve({ kind: 'empty' }, { kind: 'raw', body: `data: ${JSON.stringify(refusal)}\n\n` })
    expect((await hear(server.url)).failure?.code).toBe('empty')
    const { failure } = await hear(server.url)
    expect(failure?.code).toBe('refused')
    expect(failure?.message).toContain('I will not')
  })

  it('gives up on silence in the middle of an answer', async () => {
    const server = await serve({ kind: 'hang', text: 'wait' })
    const heard = await hear(server.url, { options: { timeoutMs: 150 } })
    expect([heard.text, heard.failure?.code]).toEqual(['wait', 'cut'])
  })

  it('gives up on a server that never begins', async () => {
    const server = await serve({ kind: 'hang', headers: false })
    expect((await hear(server.url, { options: { firstByteMs: 150 } })).failure?.code).toBe('unreachable')
  })

  it('takes comment lines as a sign of life', async () => {
    const server = await serve({ kind: 'hang', text: 'x', commentEveryMs: 50 })
    const controller = new AbortController()
    const timer = setTimeout(() => controller.abort(), 600)
    const heard = await hear(server.url, { options: { timeoutMs: 250 }, signal: controller.signal })
    clearTimeout(timer)
    expect([heard.done, heard.failure]).toEqual(['aborted', null])
  })

  it('ends as aborted, before and in the middle of an answer', async () => {
    const server = await serve({ kind: 'hang', text: 'begun' }, { kind: 'hang', headers: false })
    const middle = new AbortController()
    const heard = await hear(server.url, {
      signal: middle.signal,
      onEvent: (event) => event.kind === 'text' && middle.abort(),
    })
    expect([heard.text, heard.done]).toEqual(['begun', 'aborted'])
    const before = new AbortController()
    const waiting = hear(server.url, { signal: before.signal })
    await server.received(2)
    before.abort()
    expect((await waiting).done).toBe('aborted')
    const never = new AbortController()
    never.abort()
    expect((await hear(server.url, { signal: never.signal })).done).toBe('aborted')
    expect(server.requests.length).toBe(2)
  })

  it('refuses addresses and keys that cannot be sent, without showing them', async () => {
    expect((await hear('not an address')).failure?.code).toBe('unreachable')
    const inside = await hear(`http://user:${KEY}@127.0.0.1/v1`)
    expect(inside.failure?.code).toBe('protocol')
    expect(inside.failure?.message).not.toContain(KEY)
    const odd = await hear('http://127.0.0.1:9/v1', { apiKey: 'sk-шлюз-шлюз-1234' })
    expect(odd.failure?.code).toBe('unauthorised')
    expect(odd.failure?.message).not.toContain('шлюз')
  })

  it('does not follow a redirect with the key', async () => {
    const server = await serve({ kind: 'raw', status: 307, body: '' })
    expect((await hear(server.url)).failure?.code).toBe('protocol')
  })
})

describe('small parts', () => {
  it('normalises base URLs', () => {
    expect(normaliseBaseUrl(' http://h/v1/ ')).toBe('http://h/v1')
    expect(normaliseBaseUrl('https://h/api/v1/chat/completions')).toBe('https://h/api/v1')
    expect(normaliseBaseUrl('http://h:11434')).toBe('http://h:11434')
  })

  it('takes keys out of texts in every form', () => {
    expect(withoutKey(`a ${KEY} b`, KEY)).toBe('a [key] b')
    expect(withoutKey(`key "${KEY.slice(0, 9)}****${KEY.slice(-4)}" is bad`, KEY)).toBe('key "[key]" is bad')
    expect(withoutKey(Buffer.from(KEY).toString('base64'), KEY)).not.toContain(
      Buffer.from(KEY).toString('base64').slice(0, 12),
    )
    expect(withoutKey('nothing to none', 'none')).toBe('nothing to [key]')
    expect(withoutKey('plain', null)).toBe('plain')
  })

  it('reads retry-after in all its forms', () => {
    const now = Date.UTC(2024, 0, 1)
    expect(retryAfterMs(new Headers({ 'retry-after': '1.5' }), now)).toBe(1500)
    expect(retryAfterMs(new Headers({ 'retry-after': 'Mon, 01 Jan 2024 00:00:20 GMT' }), now)).toBe(20_000)
    expect(retryAfterMs(new Headers({ 'retry-after-ms': '250' }), now)).toBe(250)
    expect(retryAfterMs(new Headers({ 'retry-after': 'soon' }), now)).toBeNull()
    expect(retryAfterMs(new Headers(), now)).toBeNull()
  })

  it('tells calls apart that share an index, and joins repeated headers', () => {
    const two = new CallCollector()
    two.add({ index: 0, id: 'a', function: { name: 'run', arguments: '{"n":1}' } })
    two.add({ index: 0, id: 'b', function: { name: 'run', arguments: { n: 2 } } })
    two.add(null)
    expect(two.complete(() => 'new').map((call) => [call.callId, call.arguments])).toEqual([
      ['a', '{"n":1}'],
      ['b', '{"n":2}'],
    ])
    const one = new CallCollector()
    one.add({ index: 0, id: 'a', function: { name: 'run', arguments: '{"n"' } })
    one.add({ index: 0, id: 'a', function: { name: 'run', arguments: ':1}' } })
    one.add({ index: 1, function: { name: 'run' } })
    expect(one.complete(() => 'new')).toEqual([
      { callId: 'a', name: 'run', arguments: '{"n":1}' },
      { callId: 'new', name: 'run', arguments: '{}' },
    ])
  })
})
