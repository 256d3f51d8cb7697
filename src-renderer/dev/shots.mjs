/**
 * Opens the window with a played core in a headless Chromium, under the app's own content security policy, takes pictures of
 * every room and scene, and lets axe look at each. Usage:
 *   npx vite build -c src-renderer/dev/vite.config.ts --outDir DIR && CHROMIUM=… node src-renderer/dev/shots.mjs DIR PICTURES [filter]
 */
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { chromium } from 'playwright'
import { serve } from './serve.mjs'

const [dir, pictures, filter = ''] = process.argv.slice(2)
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const server = await serve(dir)
const base = server.page
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

/** What is done before the picture, by name. */
const STEPS = {
  changes: async (page) => {
    await page.getByTestId('card-exe_everything').getByTestId('request-changes').click()
    await page.getByTestId('card-exe_everything').getByTestId('changes-note').fill('4 workers, not auto')
  },
  blast: async (page) => {
    await page.getByTestId('card-exe_everything').getByTestId('blast').getByRole('button').click()
    await page.getByTestId('card-exe_everything').getByTestId('undo-offer').getByRole('button').click()
  },
  diff: async (page) => {
    await page.getByTestId('card-exe_everything').getByTestId('preview').click()
    await page.getByText('seen at').waitFor()
    await page.getByTestId('preview-panel').scrollIntoViewIfNeeded()
  },
  count: async (page) => {
    await page.getByTestId('card-exe_remove').getByTestId('preview').click()
    await page.getByTestId('preview-count').scrollIntoViewIfNeeded()
  },
  nopreview: async (page) => {
    await page.getByTestId('card-exe_upgrade').getByTestId('preview').click()
    await page.getByTestId('preview-failed').scrollIntoViewIfNeeded()
  },
  group: async (page) => {
    await page.getByTestId('group-count').scrollIntoViewIfNeeded()
    await page.getByText('Answer each alone').click()
    await page.getByTestId('group-count').evaluate((box) => box.scrollIntoView())
  },
  bulk: async (page) => {
    await page.getByTestId('approve-all').click()
    await page.getByTestId('approve-all-confirm').waitFor()
  },
  refused: async (page) => {
    await page.getByTestId('approve-all').click()
    await page.getByTestId('approve-all-confirm').click()
    await page.waitForTimeout(300)
  },
  undo: async (page) => {
    await page.getByTestId('card-exe_undoready').getByTestId('undo').click()
    await page.waitForTimeout(700)
    await page.getByTestId('card-exe_undoready').scrollIntoViewIfNeeded()
  },
  history: async (page) => {
    await page.getByTestId('history-text').fill('e')
    await page.getByTestId('history-risk').selectOption('reversible_low')
    await page.waitForTimeout(500)
    await page.locator('#history').evaluate((head) => head.scrollIntoView())
  },
  fail: async (page) => {
    await page.getByTestId('history-text').fill('fail')
    await page.waitForTimeout(500)
    await page.locator('#history').evaluate((head) => head.scrollIntoView())
  },
  palette: async (page) => {
    await page.getByTestId('open-palette').click()
    await page.getByTestId('palette-input').fill('switch')
  },
  desktop: async (page) => page.locator('#desktop').evaluate((head) => head.scrollIntoView()),
  middle: async (page) => {
    await page.locator('[data-scroller]').evaluate((box) => {
      box.scrollTop = 40_000
    })
    await page.waitForTimeout(400)
  },
  end: async (page) =>
    page.getByRole('region', { name: 'Conversation' }).evaluate((box) => {
      box.scrollTop = box.scrollHeight
    }),
  queued: async (page) => {
    await page.getByTestId('composer').fill('and then the logs')
    await page.getByTestId('send').click()
    await page.getByTestId('composer-queued').waitFor()
  },
}
for (const theme of ['dark', 'light']) {
  for (const size of ['wide', 'mid']) {
    for (const step of [
      '',
      'blast',
      'changes',
      'diff',
      'count',
      'nopreview',
      'group',
      'bulk',
      'refused',
      'undo',
      'history',
      'fail',
      'palette',
    ])
      shots.push({ scene: 'desk', room: 'approvals', theme, size, step })
    shots.push(
      { scene: 'desk', room: 'chat', theme, size },
      { scene: 'desk', room: 'chat', theme, size, step: 'queued' },
    )
    shots.push({ scene: 'desk', room: 'chat', theme, size, step: 'end' })
    shots.push({ scene: 'desk', room: 'fleet', theme, size })
    shots.push(
      { scene: 'many', room: 'approvals', theme, size },
      { scene: 'many', room: 'approvals', theme, size, step: 'middle' },
    )
    shots.push({ scene: 'many', room: 'approvals', theme, size, step: 'bulk' })
    shots.push(
      { scene: 'busy', room: 'settings', theme, size, step: 'desktop' },
      { scene: 'long', room: 'settings', theme, size, step: 'desktop' },
    )
  }
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--force-color-profile=srgb'],
})
let findings = 0
for (const shot of shots) {
  const name = `${shot.scene}-${shot.room}-${shot.size}-${shot.theme}${shot.tab ? `-${shot.tab}` : ''}${shot.colours ? '-colours' : ''}${shot.step ? `-${shot.step}` : ''}`
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
  if (shot.step) {
    await STEPS[shot.step](page).catch((error) => console.log(name, 'step:', error.message))
    await page.waitForTimeout(250)
  }
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
