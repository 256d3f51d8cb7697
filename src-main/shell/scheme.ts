import { readFile } from 'node:fs/promises'
import { extname, join, normalize, sep } from 'node:path'
import { protocol } from 'electron'

export const SCHEME = 'nomos'
export const ORIGIN = `${SCHEME}://app`

/** Nothing but what we ship: no inline script, no eval, no connection anywhere. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "connect-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "object-src 'none'",
].join('; ')

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.woff2': 'font/woff2',
  '.woff': 'font/woff',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
}

/** Has to be called before the app is ready: only then can a scheme be given an origin of its own. */
export function registerScheme(): void {
  protocol.registerSchemesAsPrivileged([
    { scheme: SCHEME, privileges: { standard: true, secure: true, supportFetchAPI: false, corsEnabled: false } },
  ])
}

const refuse = (status: number): Response => new Response(null, { status })

/** Serves the built window from `folder` under `nomos://app/`, and nothing else. */
export function serveWindow(folder: string): void {
  protocol.handle(SCHEME, async (request) => {
    const url = new URL(request.url)
    if (request.method !== 'GET' || url.host !== 'app') return refuse(404)
    const path = normalize(join(folder, decodeURIComponent(url.pathname === '/' ? '/index.html' : url.pathname)))
    const type = TYPES[extname(path)]
    if (!path.startsWith(folder + sep) || type === undefined) return refuse(404)
    try {
      return new Response(new Uint8Array(await readFile(path)), {
        headers: {
          'Content-Type': type,
          'Content-Security-Policy': CONTENT_SECURITY_POLICY,
          'X-Content-Type-Options': 'nosniff',
          'Referrer-Policy': 'no-referrer',
        },
      })
    } catch {
      return refuse(404)
    }
  })
}
