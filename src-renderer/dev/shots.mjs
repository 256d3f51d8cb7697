/**
 * Opens the window with a played core in a headless Chromium, under the app's own content security policy, takes pictures of
 * every room and scene, and lets axe look at each. Usage:
 *   npx vite build -c src-renderer/dev/vite.config.ts --outDir DIR && CHROMIUM=… node src-renderer/dev/shots.mjs DIR PICTURES [filter]
 */
import { createReadStream, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { extname, join, normalize } from 'node:path'
import { chromium } from 'playwright'

const [dir, pictures, filter = ''] = process.argv.slice(2)
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.woff2': 'font/woff2' }
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; connect-src 'none'"

const server = createServer((request, response) => {
  const path = join(dir, normalize(new URL(request.url, 'http://x').pathname))
  if (!path.startsWith(dir) || !existsSync(path)) return response.writeHead(404).end()
  response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'text/plain', 'content-security-policy': CSP })
  return createReadStream(path).pipe(response)
})
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const base = `http://127.0.0.1:${server.address().port}/dev/index.html`
mkdirSync(pictures, { recursive: true })

const SIZES = { wide: [1280, 800], mid: [900, 640], narrow: [640, 800] }
const shots = []
for (const theme of ['dark', 'light']) {
  for (const room of ['chat', 'approvals', 'activity', 'fleet', 'policy', 'settings']) {
    for (const scene of ['busy', 'empty']) shots.push({ scene, room, theme, size: 'wide' })
  }
  for (const size of ['mid', 'narrow']) {
    for (const room of ['chat', 'approvals', 'fleet', 'activity']) shots.push({ scene: 'busy', room, theme, size })
  }
  for (const size of ['wide', 'narrow']) {
    shots.push({ scene: 'error', room: 'chat', theme, size }, { scene: 'error', room: 'policy', theme, size })
    shots.push({ scene: 'long', room: 'chat', theme, size }, { scene: 'long', room: 'approvals', theme, size })
  }
  for (const size of ['wide', 'mid']) {
    for (const tab of ['allowlist', 'grants', 'simulator', 'presets']) {
      for (const scene of ['busy', 'empty', 'long']) shots.push({ scene, room: 'policy', theme, size, tab })
    }
    shots.push({ scene: 'race', room: 'policy', theme, size })
  }
  shots.push({ scene: 'new', room: 'chat', theme, size: 'wide' })
  for (const size of ['wide', 'mid'])
    for (const colours of [false, true]) shots.push({ scene: 'words', room: 'approvals', theme, size, colours })
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--force-color-profile=srgb'],
})
let findings = 0
for (const shot of shots) {
  const name = `${shot.scene}-${shot.room}-${shot.size}-${shot.theme}${shot.tab ? `-${shot.tab}` : ''}${shot.colours ? '-colours' : ''}`
  if (!name.includes(filter)) continue
  const [width, height] = SIZES[shot.size]
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: shot.theme })
  page.on('console', (line) => {
    if (['error', 'warning'].includes(line.type())) console.log(name, 'console:', line.text())
  })
  page.on('pageerror', (error) => console.log(name, 'page:', error.message))
  await page.goto(
    `${base}?scene=${shot.scene}&room=${shot.room}${shot.tab ? `&tab=${shot.tab}` : ''}${shot.colours ? '&colours' : ''}`,
  )
  await page.waitForTimeout(500)
  for (const fold of await page.getByRole('button', { name: 'Decoded words' }).all()) await fold.click()
  await page.screenshot({ path: join(pictures, `${name}.png`) })
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth)
  if (overflow) console.log(name, 'is wider than its window')
  await page.evaluate(axe)
  const { violations } = await page.evaluate(() => window.axe.run(document))
  for (const violation of violations) {
    findings += 1
    console.log(name, violation.id, violation.help)
    for (const node of violation.nodes.slice(0, 3)) {
      console.log('   ', node.target.join(' '), node.html.slice(0, 160), node.any[0]?.message ?? '')
    }
  }
  await page.close()
}
await browser.close()
server.close()
console.log(`${findings} findings of axe`)
