import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, it } from 'vitest'
import { electronCommand } from '../scripts/start.mjs'
import { expect, expectState, forgetHomes, launch, newHome, picture, run, send } from './support/app'
import { nomos } from './support/cli'

afterAll(forgetHomes)

describe('a start that finds something broken', () => {
  it('a damaged database: the app opens, says what and where, runs nothing, and goes on after it was set aside', async () => {
    const home = newHome()
    const database = join(home, 'nomos.db')
    const damaged = `not a database, ${'x'.repeat(5000)}`
    writeFileSync(database, damaged)
    const app = await launch({ home })
    const { page } = app
    await expect(page.getByTestId('health-bar')).toContainText('damaged')
    await expect(page.getByTestId('health-bar')).toContainText(database)
    await picture(page, 'damaged-database')
    await send(page, '/run local uname -a')
    await expect(page.getByTestId('composer-error')).toContainText(/damaged/)
    expect(readFileSync(database, 'utf8')).toBe(damaged)

    await page.getByTestId('health-act-set-aside').click()
    await expect(page.getByTestId('health-bar')).toHaveCount(0)
    const kept = readdirSync(join(home, 'quarantine'))
    expect(kept).toHaveLength(1)
    expect(readFileSync(join(home, 'quarantine', kept[0] ?? ''), 'utf8')).toBe(damaged)
    await page.getByTestId('composer').fill('')
    await expectState(await run(page, 'local', 'uname -s'), 'completed')
    await app.close()
    expect(nomos(home, ['ledger', 'verify']).status).toBe(0)
  })

  it('a broken approvals file: nothing runs until it is mended or set aside', async () => {
    const home = newHome()
    const file = join(home, 'exec-approvals.json')
    writeFileSync(file, '{ "version": 1, "defaults": { "security": "everything" } }', { mode: 0o600 })
    const app = await launch({ home })
    const { page } = app
    await expect(page.getByTestId('health-bar')).toContainText('defaults.security')
    await send(page, '/run local uname -a')
    await expect(page.getByTestId('composer-error')).toContainText('defaults.security')

    // Mended from outside: it counts at the next decision, without a restart.
    writeFileSync(file, '{ "version": 1, "defaults": { "ask": "always" } }', { mode: 0o600 })
    await page.getByTestId('composer').fill('')
    const asked = await run(page, 'local', 'uname -a')
    await expectState(asked, 'pending_approval')
    await expect(page.getByTestId('health-bar')).toHaveCount(0)
    await asked.getByTestId('deny').click()

    // Broken again while it runs, then set aside: the cautious policy holds.
    writeFileSync(file, '{ "version": 2 }', { mode: 0o600 })
    await send(page, '/run local uname -r')
    await expect(page.getByTestId('health-bar')).toContainText('version')
    await page.getByTestId('health-act-set-aside').click()
    await expect(page.getByTestId('health-bar')).toHaveCount(0)
    expect(existsSync(file)).toBe(false)
    expect(readdirSync(join(home, 'quarantine'))).toHaveLength(1)
    await page.getByTestId('composer').fill('')
    await expectState(await run(page, 'local', 'uname -n'), 'completed')
    await app.close()
  })

  it('a changed byte in the ledger: verify names the row, and a cut end stops runs until it is accepted', async () => {
    const home = newHome()
    const first = await launch({ home })
    await expectState(await run(first.page, 'local', 'uname -s'), 'completed')
    await first.close()
    const database = join(home, 'nomos.db')
    const whole = readFileSync(database)
    const bytes = Buffer.from(whole)
    const at = bytes.lastIndexOf('"command":"uname -s"')
    expect(at).toBeGreaterThan(0)
    bytes[at + 11] = 'U'.charCodeAt(0)
    writeFileSync(database, bytes)
    const broken = nomos(home, ['ledger', 'verify'])
    expect(broken.status).toBe(1)
    expect(broken.stdout + broken.stderr).toMatch(/row 2\b/)
    writeFileSync(database, whole)
    expect(nomos(home, ['ledger', 'verify']).stdout).toMatch(/intact/)

    // The head says more rows than there are.
    writeFileSync(join(home, 'ledger.head'), `99 ${'a'.repeat(64)}`.padEnd(95).concat('\n'))
    const second = await launch({ home })
    await expect(second.page.getByTestId('health-bar')).toContainText('cut off')
    await send(second.page, '/run local uname -s')
    await expect(second.page.getByTestId('composer-error')).toContainText('cut off')
    await second.page.getByTestId('health-act-accept').click()
    await expect(second.page.getByTestId('health-bar')).toHaveCount(0)
    await second.page.getByTestId('composer').fill('')
    await expectState(await run(second.page, 'local', 'uname -r'), 'completed')
    await second.close()
    expect(nomos(home, ['ledger', 'verify']).stdout).toMatch(/intact/)
  })

  it('a rule file with a fault: the window and the command line name file, line and field, and nothing runs unasked', async () => {
    // An installation of its own, so that its policies can be broken.
    const root = newHome()
    for (const name of ['out', 'policies', 'package.json', 'resources'])
      cpSync(join(import.meta.dirname, '..', name), join(root, name), { recursive: true })
    symlinkSync(join(import.meta.dirname, '../node_modules'), join(root, 'node_modules'))
    const file = join(root, 'policies', 'risk', 'programs', 'versions.yaml')
    const good = readFileSync(file, 'utf8')
    writeFileSync(file, good.replace(/^ {4}summary:/m, '    sumary:'))
    const place = /programs\/versions\.yaml:\d+ \(programs\.0/

    const home = newHome()
    const app = await launch({ home, root })
    const { page } = app
    const asked = await run(page, 'local', 'uname -s')
    await expectState(asked, 'pending_approval')
    await expect(asked).toHaveAttribute('data-risk', 'destructive')
    await expect(page.getByTestId('health-bar')).toContainText(place)
    await picture(page, 'broken-rules')
    await asked.getByTestId('phrase').fill('uname local')
    await asked.getByTestId('phrase-confirm').click()
    await expectState(asked, 'completed')

    const cli = (args: readonly string[]) =>
      spawnSync(process.execPath, [join(root, 'out', 'main', 'cli.js'), ...args], {
        encoding: 'utf8',
        env: { ...process.env, NOMOS_HOME: home },
      })
    const classified = cli(['classify', 'uname -s'])
    expect(classified.status).toBe(1)
    expect(classified.stderr).toMatch(place)
    const lint = cli(['policy', 'lint'])
    expect(lint.status).toBe(1)
    expect(lint.stdout).toMatch(place)

    writeFileSync(file, good)
    await page.getByTestId('health-act-recheck').click()
    await expect(page.getByTestId('health-bar')).toHaveCount(0)
    await expectState(await run(page, 'local', 'uname -r'), 'completed')
    expect(cli(['policy', 'lint']).status).toBe(0)
    await app.close()
  })

  it('a folder whose path is too long for a socket: the app works and says what does not', async () => {
    const home = join(newHome(), 'a'.repeat(60), 'b'.repeat(60))
    mkdirSync(home, { recursive: true })
    const app = await launch({ home })
    await expect(app.page.getByTestId('health-bar')).toContainText(/NOMOS_HOME|shorter/)
    await expectState(await run(app.page, 'local', 'uname -s'), 'completed')
    await app.close()
  })
})

describe('a folder that cannot be had', () => {
  it.each([
    ['a file', '/etc/hostname', 'is not a folder'],
    ['below a file', '/etc/hostname/nomos', 'is not a folder'],
    ['a relative path', 'relative/x', 'not an absolute path'],
    ['a place that takes no folders', '/proc/nomos', 'cannot keep its data'],
  ])('%s: one sentence with the remedy, and an end', (_name, home, words) => {
    const command = electronCommand()
    const window = spawnSync(command.executable, command.args, {
      encoding: 'utf8',
      timeout: 20_000,
      env: { ...process.env, ...command.env, CI: '1', NOMOS_HOME: home },
    })
    expect(window.status).toBe(1)
    expect(window.stderr).toContain(words)
    expect(window.stderr).toContain('NOMOS_HOME')
    const headless = spawnSync(process.execPath, ['out/main/headless.js'], {
      encoding: 'utf8',
      timeout: 20_000,
      env: { ...process.env, NOMOS_HOME: home },
    })
    expect(headless.status).not.toBe(0)
    expect(headless.stderr).toContain(words)
  })
})

describe('the nomos command', () => {
  it('classifies without an app, one line for one line', () => {
    const home = newHome()
    const lines = ['df -h', '', 'rm -rf /var/lib/x', 'systemctl restart caddy', 'ls | wc -l']
    const asked = lines.map((command) => JSON.stringify({ command })).join('\n')
    const { status, stdout, stderr } = nomos(home, ['classify', '--jsonl'], `${asked}\n`)
    expect(status).toBe(0)
    expect(stderr).toBe('')
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { command: string; risk: string })
    expect(answers.map(({ command }) => command)).toEqual(lines)
    expect(answers.map(({ risk }) => risk)).toEqual([
      'read_only',
      'config_mutation',
      'destructive',
      'config_mutation',
      'config_mutation',
    ])
  })

  it('says that no app runs, and works with one', async () => {
    const home = newHome()
    const alone = nomos(home, ['executions', 'list'])
    expect(alone.status).toBe(3)
    expect(alone.stderr).toMatch(/not running/)
    const app = await launch({ home })
    const ran = nomos(home, ['run', 'local', 'echo', 'from the command line'])
    expect(ran.stdout + ran.stderr).toContain('from the command line')
    const listed = JSON.parse(nomos(home, ['executions', 'list', '--json']).stdout) as unknown
    expect(JSON.stringify(listed)).toContain('from the command line')
    const doctor = nomos(home, ['doctor'])
    expect(doctor.stdout).toMatch(/1\b.*\n[\s\S]*2\b/)
    expect(nomos(home, ['version']).stdout).toMatch(/\d+\.\d+\.\d+/)
    await app.close()
  })
})
