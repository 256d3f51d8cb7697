import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, it } from 'vitest'
import { cardOf, expect, expectState, forgetHomes, launch, type NomosApp, run, send } from './support/app'
import { atTerminal, nomos } from './support/cli'

let nomosApp: NomosApp
let scratch: string
beforeEach(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'nomos-run-'))
  nomosApp = await launch()
})
afterEach(async () => {
  await nomosApp.close()
  rmSync(scratch, { recursive: true, force: true })
})
afterAll(forgetHomes)

const processes = (pattern: string): string[] =>
  spawnSync('pgrep', ['-f', pattern], { encoding: 'utf8' })
    .stdout.split('\n')
    .filter((line) => line !== '')

describe('without any model', () => {
  it('a read runs at once, a change after its approval, a denied one never, what cannot be undone after the phrase', async () => {
    const { page } = nomosApp
    const read = await run(page, 'local', 'uname -a')
    await expectState(read, 'completed')
    await expect(read).toHaveAttribute('data-risk', 'read_only')
    await expect(read.getByTestId('output')).toContainText('Linux')

    const folder = join(scratch, 'made here')
    const change = await run(page, 'local', `mkdir '${folder}'`)
    await expectState(change, 'pending_approval')
    await expect(change).toHaveAttribute('data-risk', 'config_mutation')
    await expect(change.getByTestId('approve')).not.toBeFocused()
    expect(existsSync(folder)).toBe(false)
    await change.getByTestId('approve').click()
    await expectState(change, 'completed')
    expect(existsSync(folder)).toBe(true)
    await expect(change.getByTestId('settlement')).toContainText(/approved/i)

    const denied = await run(page, 'local', `touch ${scratch}/never`)
    await expectState(denied, 'pending_approval')
    await denied.getByTestId('deny').click()
    await expectState(denied, 'denied')

    const removal = await run(page, 'local', `rm -rf '${folder}'`)
    await expect(removal).toHaveAttribute('data-risk', 'destructive')
    await expect(removal.getByTestId('approve')).toHaveCount(0)
    await removal.getByTestId('phrase').fill('rm it')
    await removal.getByTestId('phrase-confirm').click()
    await expect(removal.getByTestId('card-problem')).toContainText('rm local')
    expect(existsSync(folder)).toBe(true)
    await removal.getByTestId('phrase').fill('rm local')
    await removal.getByTestId('phrase-confirm').click()
    await expectState(removal, 'completed')
    expect(existsSync(folder)).toBe(false)
    expect(existsSync(`${scratch}/never`)).toBe(false)

    // All of it is in the ledger, and the ledger holds.
    await page.getByTestId('room-activity').click()
    await page.getByTestId('ledger-verify').click()
    await expect(page.getByTestId('ledger-report')).toContainText(/intact/i)
    expect(await page.getByTestId('ledger-row').count()).toBeGreaterThan(8)
  })

  it('the command is taken byte for byte, with a purpose, and faults are said under the composer', async () => {
    const { page } = nomosApp
    await send(page, `/run local --why "see the dashes" printf '%s|' -- "a  b" '$HOME' '\\n'`)
    const card = cardOf(page, 'printf')
    await card.waitFor()
    await expect(card).toContainText('see the dashes')
    if ((await card.getAttribute('data-state')) === 'pending_approval') await card.getByTestId('approve').click()
    await expectState(card, 'completed')
    await expect(card.getByTestId('output')).toContainText('a  b|$HOME|\\n|')

    for (const [text, message] of [
      ['/run', /target/i],
      ['/run local ', /command/i],
      ['/run host:nowhere ls', /Known: local/],
      ['/rum local ls', /no command "\/rum"/],
    ] as const) {
      await send(page, text)
      await expect(page.getByTestId('composer-error')).toContainText(message)
      // What was typed is not lost.
      await expect(page.getByTestId('composer')).toHaveValue(text)
    }
  })

  it('a running command shows its output as it comes, and Stop ends its whole group', async () => {
    const { page } = nomosApp
    const marker = `31${process.pid}`
    const card = await run(page, 'local', `echo begun; sleep ${marker} & sleep ${marker}`)
    await card.getByTestId('approve').click()
    await expectState(card, 'running')
    await expect(card.getByTestId('output')).toContainText('begun')
    expect(processes(`sleep ${marker}`).length).toBeGreaterThan(0)
    await card.getByTestId('stop').click()
    await expectState(card, 'cancelled')
    await expect.poll(() => processes(`^sleep ${marker}`)).toEqual([])
  })

  it('a pending approval survives a reload and a restart', async () => {
    const file = join(scratch, 'later')
    const first = await run(nomosApp.page, 'local', `touch ${file}`)
    await expectState(first, 'pending_approval')
    await nomosApp.page.reload()
    await expectState(cardOf(nomosApp.page, `touch ${file}`), 'pending_approval')
    await nomosApp.close()

    nomosApp = await launch({ home: nomosApp.home })
    const card = cardOf(nomosApp.page, `touch ${file}`)
    await expectState(card, 'pending_approval')
    expect(existsSync(file)).toBe(false)
    await card.getByTestId('approve').click()
    await expectState(card, 'completed')
    expect(existsSync(file)).toBe(true)
  })

  it('two windows answering: one counts, both show the truth', async () => {
    const command = `echo once >> ${scratch}/count`
    const card = await run(nomosApp.page, 'local', command)
    const second = await nomosApp.secondWindow()
    await second.locator('[data-testid^="session-ses"]').first().click()
    const other = cardOf(second, command)
    await expectState(other, 'pending_approval')
    await Promise.all([
      card
        .getByTestId('approve')
        .click({ timeout: 3000 })
        .catch(() => undefined),
      other
        .getByTestId('deny')
        .click({ timeout: 3000 })
        .catch(() => undefined),
    ])
    await expect(card).toHaveAttribute('data-state', /completed|denied/)
    const state = (await card.getAttribute('data-state')) ?? ''
    await expectState(other, state)
    expect(existsSync(join(scratch, 'count')) ? readFileSync(join(scratch, 'count'), 'utf8') : '').toBe(
      state === 'completed' ? 'once\n' : '',
    )
  })

  it('the command line answers the same approval at a terminal; the late answer of the window is refused', async () => {
    const { page, home } = nomosApp
    const card = await run(page, 'local', `touch ${scratch}/by-cli`)
    const id = ((await card.getAttribute('data-testid')) ?? '').replace('card-', '')
    const pending = JSON.parse(nomos(home, ['approvals', 'pending', '--json']).stdout) as unknown
    const approval = JSON.stringify(pending).match(/apr_[0-9a-z]+/)?.[0] ?? ''
    expect(approval).not.toBe('')

    // Not at a terminal: nothing is answered.
    const piped = nomos(home, ['approvals', 'approve', approval])
    expect(piped.status).not.toBe(0)
    expect(piped.stderr).toMatch(/terminal/)
    await expectState(card, 'pending_approval')

    const answered = await atTerminal(home, ['approvals', 'approve', approval])
    expect(answered.output).toContain(`touch ${scratch}/by-cli`)
    expect(answered.status).toBe(0)
    await expectState(card, 'completed')
    await expect(card.getByTestId('settlement')).toContainText(/terminal|command line|cli/i)
    expect(existsSync(`${scratch}/by-cli`)).toBe(true)
    const late = await page.evaluate(
      ([approvalId]) =>
        window.nomos.request('approvals.answer', { id: approvalId, answer: { kind: 'deny', note: null }, digest: 'x' }),
      [approval],
    )
    expect(late).toMatchObject({ ok: false, error: { code: 'already_settled' } })
    expect(id).toMatch(/^exe_/)
  })

  it('a run cannot answer for itself, whatever it tries', async () => {
    const { page, home } = nomosApp
    const waiting = await run(page, 'local', `touch ${scratch}/trick`)
    await expectState(waiting, 'pending_approval')
    const approval =
      JSON.stringify(JSON.parse(nomos(home, ['approvals', 'pending', '--json']).stdout)).match(/apr_[0-9a-z]+/)?.[0] ??
      ''
    // A script that looks harmless on its card and then plays the operator at a terminal of its own making.
    const script = join(scratch, 'innocent.sh')
    writeFileSync(
      script,
      `export NOMOS_HOME=${home}\nfor way in "" "setsid"; do $way script -qec "node ${process.cwd()}/out/main/cli.js approvals approve ${approval}" /dev/null </dev/null; done\n`,
    )
    const card = await run(page, 'local', `bash ${script}`)
    await card.getByTestId('approve').click()
    await expect(card).toHaveAttribute('data-state', /completed|failed/, { timeout: 40_000 })
    await expectState(waiting, 'pending_approval')
    expect(existsSync(`${scratch}/trick`)).toBe(false)
    // It came as far as the app, was turned away there, and that stands in the ledger.
    expect(nomos(home, ['ledger', 'tail', '-n', '20', '--json']).stdout).toContain('approval.refused')
  })

  it('the conversation follows its end, and what one sends is always in sight', async () => {
    const { page } = nomosApp
    for (const command of ['cat /etc/services', 'ls /usr/bin', 'ls -la /etc', 'uname -a', 'cat /etc/services']) {
      const card = await run(page, 'local', command)
      await expectState(card, 'completed')
      await expect(card).toBeInViewport()
    }
    // A reader who went up stays there while a run writes on.
    await page.getByLabel('Conversation').evaluate((box) => box.scrollTo(0, 0))
    const at = () => page.getByLabel('Conversation').evaluate((box) => box.scrollTop)
    await expect.poll(at).toBe(0)
    nomos(nomosApp.home, ['run', 'local', 'uname -s'])
    expect(await at()).toBe(0)
  })

  it('told to end by the system while a command runs, it stops the command, writes that down and goes', async () => {
    const { page, home, app } = nomosApp
    const marker = `32${process.pid}`
    const card = await run(page, 'local', `true; sleep ${marker}`)
    await card.getByTestId('approve').click()
    await expectState(card, 'running')
    const child = app.process()
    const gone = new Promise((go) => child.once('exit', go))
    const begun = Date.now()
    child.kill('SIGTERM')
    await gone
    expect(Date.now() - begun).toBeLessThan(9000)
    expect(processes(`^sleep ${marker}`)).toEqual([])
    nomosApp = await launch({ home })
    await expectState(cardOf(nomosApp.page, `sleep ${marker}`), 'cancelled')
  })

  it('killed while a command runs, it says unknown afterwards and runs nothing again', async () => {
    const { page, home } = nomosApp
    const card = await run(page, 'local', `echo x >> ${scratch}/ran; sleep 5`)
    await card.getByTestId('approve').click()
    await expectState(card, 'running')
    await expect.poll(() => existsSync(`${scratch}/ran`)).toBe(true)
    await nomosApp.kill()
    nomosApp = await launch({ home })
    const after = cardOf(nomosApp.page, `echo x >> ${scratch}/ran`)
    await expectState(after, 'unknown')
    await expect(after.getByTestId('state-reason')).toContainText(/not seen/)
    await expect(after.getByTestId('again')).toBeVisible()
    await new Promise((go) => setTimeout(go, 1000))
    expect(readFileSync(`${scratch}/ran`, 'utf8')).toBe('x\n')
    const verified = nomos(home, ['ledger', 'verify'])
    expect(verified.stdout).toMatch(/intact/)
    // Again is a new request, with a card of its own.
    await after.getByTestId('again').click()
    await expect(nomosApp.page.locator('main [data-state="pending_approval"]')).toHaveCount(1)
  })

  it('the agent-facing folder of Nomos is out of reach without the phrase', async () => {
    const { page, home } = nomosApp
    mkdirSync(join(scratch, 'd'))
    for (const command of [
      `cat ${home}/exec-approvals.json`,
      'nomos approvals approve apr_1',
      `echo '{}' > ${home}/exec-approvals.json`,
    ]) {
      const card = await run(page, 'local', command)
      await expectState(card, 'pending_approval')
      await expect(card.getByTestId('phrase')).toBeVisible()
      await card.getByTestId('deny').click()
      await expectState(card, 'denied')
    }
  })
})
