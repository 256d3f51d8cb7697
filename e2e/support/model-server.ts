import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/** One request as the server got it. */
export interface ModelRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: ModelRequestBody
}

/** The part of a chat completion request that scripts look at. */
export interface ModelRequestBody {
  readonly model?: string
  readonly stream?: boolean
  readonly messages: readonly {
    readonly role: string
    readonly content?: string | null
    readonly tool_call_id?: string
    readonly tool_calls?: readonly {
      readonly id: string
      readonly type: string
      readonly function: { readonly name: string; readonly arguments: string }
    }[]
  }[]
  readonly tools?: readonly { readonly type: string; readonly function: { readonly name: string } }[]
}

export interface ScriptedCall {
  /** Left out: an id of its own. An empty text is sent as it is. */
  readonly id?: string
  /** `run` unless said otherwise. */
  readonly name?: string
  /** An object is sent as JSON, a text byte for byte (malformed, for instance). */
  readonly arguments: Readonly<Record<string, unknown>> | string
}

/**
 * What one request is answered with.
 * - `text`: words in small pieces; `calls`: tool calls, after a text if there is one. `style` says how a call is streamed:
 *   in fragments by index (the usual way), whole in one piece, or whole and without any index
 * - `status`: an HTTP error
 * - `cut`: begins to answer and ends without a finish reason, by a proper end or by a reset connection
 * - `hang`: begins to answer (or does not even begin) and then stays silent until the client goes away
 * - `stream-error`: an error object inside the stream
 * - `empty`: a complete answer that holds nothing
 * - `raw`: any body at all
 */
export type ModelStep =
  | {
      readonly kind: 'text'
      readonly text: string
      readonly piece?: number
      readonly delayMs?: number
      readonly comments?: boolean
      readonly finish?: string
    }
  | {
      readonly kind: 'calls'
      readonly calls: readonly ScriptedCall[]
      readonly text?: string
      readonly style?: 'fragments' | 'whole' | 'no-index'
      readonly finish?: string
    }
  | { readonly kind: 'status'; readonly status: number; readonly message?: string; readonly retryAfter?: string }
  | { readonly kind: 'cut'; readonly text?: string; readonly how?: 'end' | 'reset' }
  | { readonly kind: 'hang'; readonly text?: string; readonly headers?: boolean; readonly commentEveryMs?: number }
  | { readonly kind: 'stream-error'; readonly message: string; readonly text?: string }
  | { readonly kind: 'empty' }
  | { readonly kind: 'raw'; readonly body: string; readonly contentType?: string; readonly status?: number }

export type ModelScript = readonly (ModelStep | ((request: ModelRequest) => ModelStep))[]

export interface ModelServer {
  /** The base URL, with `/v1`. */
  readonly url: string
  /** Every request so far, oldest first. */
  readonly requests: readonly ModelRequest[]
  /** Appends a step to the script. */
  push(...steps: ModelScript): void
  /** What is answered when the script is used up; an error 500 unless set. */
  otherwise(step: ModelScript[number]): void
  /** Resolves once `count` requests have come in. */
  received(count: number): Promise<void>
  /** Ends the server and every open connection. */
  stop(): Promise<void>
}

/**
 * Starts an OpenAI-compatible chat completion endpoint on the loopback interface that answers one request after the other from a
 * script, as server-sent events over real HTTP. For tests.
 */
export async function startModelServer(script: ModelScript = []): Promise<ModelServer> {
  const steps = [...script]
  const requests: ModelRequest[] = []
  const waiting: { readonly count: number; readonly resolve: () => void }[] = []
  const sockets = new Set<Socket>()
  const timers = new Set<NodeJS.Timeout>()
  let last: ModelScript[number] = { kind: 'status', status: 500, message: 'the script of the model server is used up' }
  let counter = 0

  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const path = incoming.url ?? '/'
      if (incoming.method !== 'POST' || path !== '/v1/chat/completions') {
        sendJson(response, 404, { error: { message: `no such path: ${path}` } })
        return
      }
      let body: ModelRequestBody
      try {
        body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as ModelRequestBody
      } catch {
        sendJson(response, 400, { error: { message: 'the body is not JSON' } })
        return
      }
      const request = { method: incoming.method, path, headers: incoming.headers, body }
      requests.push(request)
      for (const waiter of waiting) if (requests.length >= waiter.count) waiter.resolve()
      const next = steps.shift() ?? last
      void answer(typeof next === 'function' ? next(request) : next, response)
    })
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })

  function chunk(delta: Readonly<Record<string, unknown>>, finish: string | null = null): string {
    const data = {
      id: 'chatcmpl-scripted',
      object: 'chat.completion.chunk',
      created: 0,
      model: 'scripted',
      choices: [{ index: 0, delta, finish_reason: finish }],
    }
    return `data: ${JSON.stringify(data)}\n\n`
  }

  function open(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
    response.flushHeaders()
    response.write(chunk({ role: 'assistant', content: '' }))
  }

  function close(response: ServerResponse, finish: string): void {
    response.write(chunk({}, finish))
    response.end('data: [DONE]\n\n')
  }

  async function answer(step: ModelStep, response: ServerResponse): Promise<void> {
    switch (step.kind) {
      case 'text': {
        open(response)
        for (const piece of pieces(step.text, step.piece ?? 7)) {
          if (step.comments === true) response.write(': PROCESSING\n\n')
          response.write(chunk({ content: piece }))
          if (step.delayMs !== undefined) await pause(step.delayMs)
        }
        close(response, step.finish ?? 'stop')
        return
      }
      case 'calls': {
        open(response)
        if (step.text !== undefined) response.write(chunk({ content: step.text }))
        step.calls.forEach((call, index) => {
          counter += 1
          const id = call.id ?? `call_${counter}`
          const name = call.name ?? 'run'
          const text = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments)
          const style = step.style ?? 'fragments'
          if (style === 'fragments') {
            response.write(chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }))
            for (const piece of pieces(text, 9)) {
              response.write(chunk({ tool_calls: [{ index, function: { arguments: piece } }] }))
            }
          } else {
            const whole = { id, type: 'function', function: { name, arguments: text } }
            response.write(chunk({ tool_calls: [style === 'whole' ? { index, ...whole } : whole] }))
          }
        })
        close(response, step.finish ?? 'tool_calls')
        return
      }
      case 'status': {
        if (step.retryAfter !== undefined) response.setHeader('retry-after', step.retryAfter)
        sendJson(response, step.status, { error: { message: step.message ?? `scripted ${step.status}` } })
        return
      }
      case 'cut': {
        open(response)
        if (step.text !== undefined) response.write(chunk({ content: step.text }))
        if (step.how === 'reset') {
          // What was written has to leave before the connection is torn down.
          await pause(30)
          response.socket?.resetAndDestroy()
        } else {
          response.end()
        }
        return
      }
      case 'hang': {
        if (step.headers === false) return
        open(response)
        if (step.text !== undefined) response.write(chunk({ content: step.text }))
        while (step.commentEveryMs !== undefined && !response.destroyed) {
          await pause(step.commentEveryMs)
          response.write(': still here\n\n')
        }
        return
      }
      case 'stream-error': {
        open(response)
        if (step.text !== undefined) response.write(chunk({ content: step.text }))
        response.write(`data: ${JSON.stringify({ error: { message: step.message, code: 502 } })}\n\n`)
        response.end('data: [DONE]\n\n')
        return
      }
      case 'empty': {
        open(response)
        close(response, 'stop')
        return
      }
      case 'raw': {
        response.writeHead(step.status ?? 200, { 'content-type': step.contentType ?? 'text/event-stream' })
        response.end(step.body)
        return
      }
    }
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        timers.delete(timer)
        resolve()
      }, ms)
      timers.add(timer)
    })
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo

  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    push(...more) {
      steps.push(...more)
    },
    otherwise(step) {
      last = step
    },
    received(count) {
      return new Promise((resolve) => {
        if (requests.length >= count) resolve()
        else waiting.push({ count, resolve })
      })
    },
    async stop() {
      for (const timer of timers) clearTimeout(timer)
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

function pieces(text: string, size: number): readonly string[] {
  const characters = [...text]
  const out: string[] = []
  for (let at = 0; at < characters.length; at += size) out.push(characters.slice(at, at + size).join(''))
  return out
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
