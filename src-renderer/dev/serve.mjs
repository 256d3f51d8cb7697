import { createReadStream, existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join, normalize } from 'node:path'

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.woff2': 'font/woff2' }
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; connect-src 'none'"

/**
 * Serves a built dev page under the app's own content security policy.
 * @param {string} dir
 * @returns {Promise<{page: string, close: () => void}>}
 */
export async function serve(dir) {
  const server = createServer((request, response) => {
    const path = join(dir, normalize(new URL(request.url, 'http://x').pathname))
    if (path.endsWith('favicon.ico')) return response.writeHead(204).end()
    if (!path.startsWith(dir) || !existsSync(path)) return response.writeHead(404).end()
    response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'text/plain', 'content-security-policy': CSP })
    return createReadStream(path).pipe(response)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { page: `http://127.0.0.1:${server.address().port}/dev/index.html`, close: () => server.close() }
}
