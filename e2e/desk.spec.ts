import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright'
import { afterAll, afterEach, beforeEach, describe, it } from 'vitest'
import { cardOf, expect, expectState, forgetHomes, launch, type NomosApp, run, send } from './support/app'
import {
  answer,
  ask,
  assistant,
  call,
  events,
  executionOf,
  executions,
  expectAccessible,
  furnish,
  ledger,
  linesOf,
  notices,
  resultsOf,
  saidTo,
  seen,
  setModel,
  users,
  waiting,
} from './support/asking'
import { type ModelServer, startModelServer } from './support/model-server'
import { sshdPath, startSshd } from './support/sshd'

const FINAL_WORDS = 'That is all of it.'

let server: ModelServer
let scratch: string
let nomos: NomosApp
const cleanups: (() => unknown)[] = []

const start = async (home?: string): Promise<NomosApp> => {
  nomos = await launch({ ...(home === undefined ? {} : { home }), flags: ['--password-store=basic'] })
  nomos.page.setDefaultTimeout(15_000)
  // A pointer that happens to rest over a card would keep the conversation from following its end.
  await nomos.page.mouse.move(2, 2)
  return nomos
}
const restart = async (): Promise<NomosApp> => {
  const { home } = nomos
  await nomos.close()
  return start(home)
}

beforeEach(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'nomos-desk-'))
  server = await startModelServer()
})
afterEach(async () => {
  await nomos.close()
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  await server.stop()
  rmSync(scratch, { recursive: true, force: true })
})
afterAll(forgetHomes)

const finalWords = (page: Page): Promise<void> => expect(assistant(page).last()).toContainText(FINAL_WORDS)
const settlement = (card: Locator): Locator => card.getByTestId('settlement')
/** A card pinned by its id: a later one may hold the same text. */
async function pinned(page: Page, command: string): Promise<Locator> {
  const id = (await cardOf(page, command).getAttribute('data-testid')) ?? ''
  return page.locator('main').getByTestId(id)
}
/** The agent asks for these in one answer, and what it says after that is pushed as well. */
async function propose(page: Page, words: string, commands: readonly string[]): Promise<void> {
  server.push({ kind: 'calls', text: 'I propose this.', calls: commands.map((command) => call(command)) })
  server.push({ kind: 'text', text: FINAL_WORDS })
  await send(page, words)
  for (const command of commands) await expectState(cardOf(page, command), 'pending_approval')
  for (const command of commands) await seen(cardOf(page, command))
}
const room = async (page: Page, name: string): Promise<void> => {
  await page.getByTestId(`room-${name}`).click()
  await expect(page.getByTestId(`room-${name}`)).toHaveAttribute('aria-current', 'page')
}

describe('words in the chat', () => {
  beforeEach(async () => {
    await start()
    await setModel(nomos.page, server.url)
  })

  it('"go ahead" runs what was asked for just before, once, and the agent goes on by itself', async () => {
    const { page } = nomos
    const file = join(scratch, 'made')
    await propose(page, 'please make it', [`echo x >> ${file}`])
    await expectAccessible(page, 'a card that waits')
    await send(page, 'Go ahead!')
    await expectState(cardOf(page, file), 'completed')
    await finalWords(page)
    expect(linesOf(file)).toBe(1)
    await expect(users(page).last()).toContainText('Go ahead!')
    await expect(settlement(cardOf(page, file))).toContainText('by you in the chat')
    await expect(settlement(cardOf(page, file))).toContainText('with the words “Go ahead!”')
    await expect(notices(page)).toContainText(['Approved by your words'])
    expect(server.requests.length).toBe(2)
    const [result] = resultsOf(server.requests[1], file)
    expect(result).toContain('state: completed')
    expect(result).toContain('"Go ahead!"')
    expect(saidTo(server.requests[1], 'user')).toContain('[Nomos: Approved by your words')
    // Said again when nothing waits it is a message like any other, and nothing runs again.
    server.push({ kind: 'text', text: 'There is nothing left to do.' })
    await send(page, 'go ahead')
    await expect(assistant(page).last()).toContainText('nothing left to do')
    expect(linesOf(file)).toBe(1)
    await expectAccessible(page, 'approved by words')
    const settled = await ledger(page, 'approval.settled')
    expect(settled).toHaveLength(1)
    expect(JSON.stringify(settled[0]?.data)).toContain('Go ahead!')
  })

  it('"yes but not the second" grants nothing, is asked again, and reaches the agent later', async () => {
    const { page } = nomos
    const first = join(scratch, 'first')
    const second = join(scratch, 'second')
    await propose(page, 'make two', [`touch ${first}`, `touch ${second}`])
    await send(page, 'yes but not the second')
    await expect(page.getByTestId('composer-queued')).toContainText('Nothing was approved')
    await expect(notices(page).last()).toContainText('Nothing was approved')
    await expectAccessible(page, 'words that were not clear')
    for (const path of [first, second]) await expectState(cardOf(page, path), 'pending_approval')
    expect(server.requests.length).toBe(1)
    await cardOf(page, first).getByTestId('approve').click()
    await expectState(cardOf(page, first), 'completed')
    expect(server.requests.length).toBe(1)
    await cardOf(page, second).getByTestId('deny').click()
    await finalWords(page)
    expect([existsSync(first), existsSync(second)]).toEqual([true, false])
    expect(server.requests.length).toBe(2)
    expect(saidTo(server.requests[1], 'user')).toContain('yes but not the second')
    expect(resultsOf(server.requests[1], second)[0]).toContain('state: denied')
    await expect(page.getByTestId('composer-queued')).toHaveCount(0)
  })

  it('of several only what can be undone is granted; the rest takes its phrase and is named', async () => {
    const { page } = nomos
    const made = join(scratch, 'made')
    const gone = join(scratch, 'gone')
    mkdirSync(gone)
    await propose(page, 'tidy up', [`touch ${made}`, `rm -rf ${gone}`])
    await send(page, 'yes')
    await expectState(cardOf(page, made), 'completed')
    const removal = await pinned(page, `rm -rf ${gone}`)
    await expectState(removal, 'pending_approval')
    expect(existsSync(gone)).toBe(true)
    await expect(notices(page).last()).toContainText('takes the phrase typed on its card')
    await send(page, 'yes, do it')
    await expect(notices(page).last()).toContainText('takes the phrase')
    await expectState(removal, 'pending_approval')
    await removal.getByTestId('phrase').fill('rm local')
    await removal.getByTestId('phrase-confirm').click()
    await expectState(removal, 'completed')
    await finalWords(page)
    expect(existsSync(gone)).toBe(false)
    expect(saidTo(server.requests[1], 'user')).toContain('takes the phrase')
  })

  it('"no" denies and the agent is told, "wait" leaves it, questions and conditions grant nothing', async () => {
    const { page } = nomos
    const never = join(scratch, 'never')
    await propose(page, 'make it', [`touch ${never}`])
    await send(page, 'hold on')
    await expect(notices(page).last()).toContainText('Left as it is')
    for (const words of ['go ahead?', 'yes if the backup is done', 'sure, once it is dark', 'ok']) {
      const before = await users(page).count()
      await send(page, words)
      await expect(users(page)).toHaveCount(before + 1)
      await expectState(cardOf(page, never), 'pending_approval')
    }
    expect(existsSync(never)).toBe(false)
    await send(page, 'no')
    await expectState(cardOf(page, never), 'denied')
    await finalWords(page)
    await expect(settlement(cardOf(page, never))).toContainText('with the words “no”')
    await expect(events(page).last()).toContainText('Exec denied')
    expect(resultsOf(server.requests[1], never)[0]).toMatch(/state: denied[\s\S]*The operator said no/)
    expect(existsSync(never)).toBe(false)
  })

  it('words never reach what the operator asked for, nor a card that was never in sight', async () => {
    const { page } = nomos
    const mine = join(scratch, 'mine')
    const own = await run(page, 'local', `touch ${mine}`)
    await expectState(own, 'pending_approval')
    server.push({ kind: 'text', text: 'What shall I go ahead with?' })
    await send(page, 'go ahead')
    await expect(assistant(page).last()).toContainText('What shall I')
    await expect(notices(page).last()).toContainText('approved nothing')
    await expect(notices(page).last()).toContainText(`touch ${mine}`)
    await expectState(own, 'pending_approval')

    // The first of many stands far above what is in sight when the conversation is opened at its end.
    const commands = Array.from({ length: 14 }, (_, index) => `echo ${index} >> ${scratch}/many-${index}`)
    const [first = '', last = ''] = [commands[0], commands.at(-1)]
    server.push({ kind: 'calls', calls: commands.map((command) => call(command)) })
    await send(page, 'make many')
    await expect(waiting(page)).toHaveCount(15)
    await page.reload()
    await expect(waiting(page)).toHaveCount(15)
    await page.mouse.move(2, 2)
    await expect(page.getByTestId('turn-status')).toBeInViewport()
    await seen(cardOf(page, last))
    await expect(cardOf(page, first)).not.toBeInViewport()
    server.push({ kind: 'text', text: FINAL_WORDS })
    await send(page, 'go ahead')
    await expectState(cardOf(page, last), 'completed')
    await expect(notices(page).last()).toContainText('Approved by your words')
    await expect(notices(page).last()).toContainText('not in sight when you sent it and still wait')
    await expectState(cardOf(page, first), 'pending_approval')
    expect(linesOf(`${scratch}/many-0`)).toBe(0)
    await expectState(cardOf(page, mine), 'pending_approval')
    // Brought into sight it is reached, and the words are still about the same answer of the agent.
    await cardOf(page, first).scrollIntoViewIfNeeded()
    await seen(cardOf(page, first))
    await send(page, 'go ahead')
    await expectState(cardOf(page, first), 'completed')
    await expectState(cardOf(page, mine), 'pending_approval')
    expect(existsSync(mine)).toBe(false)
  })

  it('/approve answers by id; its faults are said under the composer and the text stays', async () => {
    const { page } = nomos
    const once = join(scratch, 'once')
    const card = await run(page, 'local', `touch ${once}`)
    const { approval } = await executionOf(page, `touch ${once}`)
    const id = approval?.id ?? ''
    const removal = await run(page, 'local', `rm -rf ${scratch}/what`)
    const dangerous = (await executionOf(page, `rm -rf ${scratch}/what`)).approval?.id ?? ''
    const denied = await run(page, 'local', `touch ${scratch}/denied`)
    const other = (await executionOf(page, `touch ${scratch}/denied`)).approval?.id ?? ''
    for (const [text, message] of [
      ['/approve', /id/i],
      ['/approve apr_nothing allow-once', /no request "apr_nothing"/],
      [`/approve ${id} maybe`, /allow-once/],
      [`/approve ${dangerous} allow-once`, /cannot be undone/i],
      [`/approve ${id.slice(0, 9)} deny`, /several/],
      ['/approve apr_ deny', /no id/],
    ] as const) {
      await send(page, text)
      await expect(page.getByTestId('composer-error')).toContainText(message)
      await expect(page.getByTestId('composer')).toHaveValue(text)
    }
    await expectAccessible(page, 'a fault of /approve')
    expect(existsSync(once)).toBe(false)
    await send(page, `/approve ${id} allow-once`)
    await expectState(card, 'completed')
    await expect(page.getByTestId('composer')).toHaveValue('')
    expect(existsSync(once)).toBe(true)
    await send(page, `/approve ${id} deny`)
    await expect(page.getByTestId('composer-error')).toContainText(/approved/i)
    await expect(page.getByTestId('composer')).toHaveValue(`/approve ${id} deny`)
    // What follows the kind of an id is enough where it names one.
    await send(page, `/approve ${other.replace('apr_', '')} deny`)
    await expectState(denied, 'denied')
    await expectState(removal, 'pending_approval')
  })
})

describe('answers of a card', () => {
  it('"Request changes" denies it, and the note reaches the agent as the result of the call', async () => {
    const { page } = await start()
    await setModel(page, server.url)
    await propose(page, 'make it', [`touch ${scratch}/wrong`])
    const card = await pinned(page, `touch ${scratch}/wrong`)
    await card.getByTestId('request-changes').click()
    await expect(card.getByTestId('changes-note')).toBeFocused()
    await expect(card.getByTestId('send-changes')).toBeDisabled()
    await card.getByTestId('changes-note').fill('Use the folder /srv instead, and say why.')
    await expectAccessible(page, 'request changes')
    await card.getByTestId('send-changes').click()
    await expectState(card, 'denied')
    await finalWords(page)
    await expect(settlement(card)).toContainText('by you on a card')
    await expect(card).toContainText('Use the folder /srv instead, and say why.')
    const [result] = resultsOf(server.requests[1], '/wrong')
    expect(result).toContain('state: denied')
    expect(result).toContain('Use the folder /srv instead, and say why.')
    expect(result).toContain('The operator wants it otherwise')
    expect(existsSync(`${scratch}/wrong`)).toBe(false)
    await expectAccessible(page, 'changes requested')
  })

  it('identical requests of two sessions are one card with a count, and one press answers both', async () => {
    const { page } = await start()
    await setModel(page, server.url)
    const command = `echo x >> ${scratch}/both`
    for (const words of ['make it here', 'make it there']) {
      await page.getByTestId('session-new').click()
      server.push({ kind: 'calls', calls: [call(command, { purpose: words })] })
      await send(page, words)
      await expectState(cardOf(page, command), 'pending_approval')
    }
    await expect(cardOf(page, command).getByTestId('alike')).toContainText('1 more request asks')
    await room(page, 'approvals')
    const group = page.locator('main [data-group="true"]')
    await expect(group).toHaveCount(1)
    await expect(group.getByTestId('group-count')).toHaveText('2 identical requests')
    await expect(group).toContainText('make it here')
    await expect(group).toContainText('make it there')
    await expectAccessible(page, 'a group')
    server.otherwise({ kind: 'text', text: FINAL_WORDS })
    await group.getByTestId('approve-group').click()
    await expect
      .poll(async () => (await executions(page)).map(({ state }) => state))
      .toEqual(['completed', 'completed'])
    expect(linesOf(`${scratch}/both`)).toBe(2)
    expect(await ledger(page, 'approval.settled')).toHaveLength(2)
    await server.received(4)
  })

  it('"Approve all non-destructive" lists them, leaves out what cannot be undone, and runs each once', async () => {
    const { page } = await start()
    mkdirSync(join(scratch, 'kept'))
    for (const index of [1, 2, 3]) await run(page, 'local', `echo x >> ${scratch}/all-${index}`)
    await run(page, 'local', `rm -rf ${scratch}/kept`)
    await room(page, 'approvals')
    await page.getByTestId('approve-all').click()
    const dialog = page.getByRole('dialog')
    await expect(dialog).toBeVisible()
    await expect(page.getByTestId('approve-all-confirm')).not.toBeFocused()
    for (const index of [1, 2, 3]) await expect(page.getByTestId('approve-all-list')).toContainText(`all-${index}`)
    await expect(page.getByTestId('approve-all-left')).toContainText('rm -rf')
    expect(linesOf(`${scratch}/all-1`)).toBe(0)
    await expectAccessible(page, 'approve all')
    // What arrives while it stands open is not in it.
    await ask(page, 'executions.request', {
      target: 'local',
      command: `echo x >> ${scratch}/late`,
      purpose: null,
      session: null,
    })
    await expect(dialog).toContainText('1 more arrived')
    await expect(page.getByTestId('approve-all-confirm')).toHaveText('Approve these 3')
    await page.getByTestId('approve-all-confirm').click()
    await expect(dialog).toHaveCount(0)
    await expect.poll(() => [1, 2, 3].map((index) => linesOf(`${scratch}/all-${index}`))).toEqual([1, 1, 1])
    await expect(waiting(page)).toHaveCount(2)
    expect(existsSync(`${scratch}/kept`)).toBe(true)
    expect(linesOf(`${scratch}/late`)).toBe(0)
    expect(await ledger(page, 'approval.settled')).toHaveLength(3)
  })

  it('a wrong phrase says what was expected, and more than five in a minute pause the field', async () => {
    const { page } = await start()
    mkdirSync(join(scratch, 'kept'))
    const card = await run(page, 'local', `rm -rf ${scratch}/kept`)
    for (let index = 0; index < 5; index += 1) {
      await card.getByTestId('phrase').fill(`rm locale${index}`)
      await card.getByTestId('phrase-confirm').click()
      await expect(card.getByTestId('card-problem')).toContainText('rm local')
      await expect.poll(async () => (await ledger(page, 'approval.refused')).length).toBe(index + 1)
    }
    await card.getByTestId('phrase').fill('rm local')
    await card.getByTestId('phrase-confirm').click()
    await expect(card.getByTestId('card-problem')).toContainText(/Too many/)
    await expectState(card, 'pending_approval')
    expect(existsSync(`${scratch}/kept`)).toBe(true)
  })
})

describe('what depends on a place', () => {
  it('stands on the card, and many dependents or "prod" take the answer away from words', {
    timeout: 120_000,
  }, async () => {
    await start()
    const { home } = nomos
    await nomos.close()
    const names = Array.from({ length: 6 }, (_, index) => `service:s${index}`)
    furnish(
      home,
      `INSERT INTO entities VALUES ('local', 'service', '{}', 1, 1);
       ${names.map((name) => `INSERT INTO entities VALUES ('${name}', 'service', '{}', 1, 1);`).join('\n')}
       ${names.map((name, index) => `INSERT INTO relationships VALUES ('${name}', 'depends_on', '${index === 5 ? 'service:s0' : 'local'}');`).join('\n')}`,
    )
    const { page } = await start(home)
    await setModel(page, server.url)
    await propose(page, 'make it', [`touch ${scratch}/blast`])
    const card = await pinned(page, `touch ${scratch}/blast`)
    await expect(card.getByTestId('blast')).toContainText('6')
    await expect(card.getByTestId('blast')).toContainText('service:s0')
    await expect(card.getByTestId('card-only')).toContainText('others depend on it')
    await send(page, 'go ahead')
    await expect(notices(page).last()).toContainText('on its card only')
    await expectState(card, 'pending_approval')
    const id = (await executionOf(page, `touch ${scratch}/blast`)).approval?.id ?? ''
    await send(page, `/approve ${id} allow-once`)
    await expect(page.getByTestId('composer-error')).toContainText(/card/)
    expect(existsSync(`${scratch}/blast`)).toBe(false)
    await page.getByTestId('composer').fill('')
    await expectAccessible(page, 'blast radius')
    await card.getByTestId('approve').click()
    await expectState(card, 'completed')
    await finalWords(page)
  })

  it('nothing known is said as that, and a target tagged prod is answered on its card', {
    timeout: 120_000,
  }, async (context) => {
    if (sshdPath() === null) context.skip()
    const { page } = await start()
    await setModel(page, server.url)
    const sshd = await startSshd()
    cleanups.push(() => sshd.stop())
    const host = {
      slug: 'shop',
      address: sshd.address,
      port: sshd.port,
      user: sshd.user,
      auth: 'key' as const,
      keyPath: sshd.clientKeyPath,
      tags: ['prod'],
    }
    await ask(page, 'hosts.save', { host, replaces: null })
    await ask(page, 'hosts.test', { host, passphrase: null })
    await ask(page, 'hosts.trust', { host, fingerprint: sshd.hostFingerprint })
    const command = `touch ${scratch}/prod`
    server.push({ kind: 'calls', calls: [call(command, { target: 'host:shop' })] }, { kind: 'text', text: FINAL_WORDS })
    await send(page, 'make it there')
    await expectState(cardOf(page, command), 'pending_approval')
    const card = await pinned(page, command)
    await seen(card)
    await expect(card.getByTestId('blast')).toContainText('Nothing is known to depend on it.')
    await expect(card.getByTestId('card-only')).toContainText('tagged prod')
    await send(page, 'yes')
    await expect(notices(page).last()).toContainText('on its card only')
    await expectState(card, 'pending_approval')
    await room(page, 'approvals')
    await expect(page.getByTestId('approve-all')).toHaveCount(0)
    await waiting(page).getByTestId('approve').click()
    await expect.poll(() => existsSync(`${scratch}/prod`)).toBe(true)
  })
})

describe('before and after', () => {
  it('a preview shows what would happen and changes nothing', { timeout: 120_000 }, async () => {
    const { page } = await start()
    const file = join(scratch, 'conf.ini')
    writeFileSync(file, 'port=80\nname=shop\n', { mode: 0o640 })
    const before = statSync(file, { bigint: true })
    const edit = await run(page, 'local', `sed -i s/80/8080/ ${file}`)
    await edit.getByTestId('preview').click()
    await expect(edit.getByTestId('preview-panel')).toContainText('port=8080')
    await expect(edit.getByTestId('preview-panel')).toContainText('port=80')
    await expect(edit.getByTestId('preview-panel')).toContainText('only reads')
    await expectAccessible(page, 'a preview')
    expect(readFileSync(file, 'utf8')).toBe('port=80\nname=shop\n')
    expect(statSync(file, { bigint: true }).mtimeNs).toBe(before.mtimeNs)

    const folder = join(scratch, 'folder')
    mkdirSync(join(folder, 'inner'), { recursive: true })
    for (let index = 0; index < 5; index += 1) writeFileSync(join(folder, 'inner', `f${index}`), 'x'.repeat(1000))
    const removal = await run(page, 'local', `rm -r ${folder}`)
    await removal.getByTestId('preview').click()
    await expect(removal.getByTestId('preview-panel')).toContainText(/5 files/)
    expect(existsSync(join(folder, 'inner', 'f4'))).toBe(true)
    await expectState(removal, 'pending_approval')
    await removal.getByTestId('preview-close').click()
    await expect(removal.getByTestId('preview-panel')).toHaveCount(0)

    // Every read a preview made went through the gate, and none of them had to ask.
    const reads = (await executions(page)).filter(({ principal }) => principal.kind !== 'operator')
    for (const { risk, state } of reads) expect([risk, state]).toEqual(['read_only', 'completed'])
    await expectState(edit, 'pending_approval')
    expect(await ledger(page, 'approval.settled')).toEqual([])
  })

  it('a preview of a package manager simulates', { timeout: 120_000 }, async (context) => {
    if (!existsSync('/usr/bin/apt-get')) context.skip()
    const { page } = await start()
    const install = await run(page, 'local', 'apt-get install -y bash')
    await install.getByTestId('preview').click()
    await expect(install.getByTestId('preview-panel')).toContainText('apt-get --simulate install bash', {
      timeout: 60_000,
    })
    await expect(install.getByTestId('preview-panel')).toContainText(/bash/)
    await expectState(install, 'pending_approval')
  })

  it('undo puts bytes and mode back through a request of its own, also after a restart', {
    timeout: 180_000,
  }, async () => {
    await start()
    const conf = join(scratch, 'conf.ini')
    writeFileSync(conf, 'port=80\n')
    chmodSync(conf, 0o640)
    const copy = join(scratch, 'copy.ini')
    writeFileSync(copy, 'an older copy\n')
    const script = join(scratch, 'script.sh')
    writeFileSync(script, 'echo hi\n')
    chmodSync(script, 0o600)
    const changes = [`sed -i s/80/8080/ ${conf}`, `cp ${conf} ${copy}`, `chmod 755 ${script}`]
    for (const command of changes) {
      const card = await run(nomos.page, 'local', command)
      await expect(card.getByTestId('undo-offer')).toContainText(/can be put back/)
      await card.getByTestId('approve').click()
      await expectState(card, 'completed')
      await expect(card.getByTestId('undo')).toBeVisible()
    }
    expect(readFileSync(conf, 'utf8')).toBe('port=8080\n')
    expect(readFileSync(copy, 'utf8')).toBe('port=8080\n')
    expect(statSync(script).mode & 0o777).toBe(0o755)
    await expectAccessible(nomos.page, 'undo is offered')

    await restart()
    const { page } = nomos
    const shows = ['+port=80', '+an older copy', 'rights 0755 now, 0600 after']
    for (const [index, command] of [...changes.entries()].reverse()) {
      const card = await pinned(page, command)
      await card.getByTestId('undo').click()
      await expect(card.getByTestId('undo-show')).toBeVisible()
      const request = page.locator('main [data-state="pending_approval"]')
      await expect(request).toHaveCount(1)
      await expect(request.getByTestId('undo-of')).toContainText('takes back')
      const pin = page.locator('main').getByTestId((await request.getAttribute('data-testid')) ?? '')
      if ((await pin.getByTestId('phrase').count()) > 0) throw new Error(`undoing ${command} takes a phrase`)
      await pin.getByTestId('preview').click()
      await expect(pin.getByTestId('preview-panel')).toContainText(shows[index] ?? '')
      await expectAccessible(page, 'the request of an undo')
      await pin.getByTestId('approve').click()
      await expectState(pin, 'completed')
    }
    expect(readFileSync(conf, 'utf8')).toBe('port=80\n')
    expect(statSync(conf).mode & 0o777).toBe(0o640)
    expect(readFileSync(copy, 'utf8')).toBe('an older copy\n')
    expect(statSync(script).mode & 0o777).toBe(0o600)
  })

  it('a run of more than ten seconds says so, with its end; a denied one says that', async () => {
    const { page } = await start()
    const denied = await run(page, 'local', `touch ${scratch}/denied`)
    await denied.getByTestId('deny').click()
    await expect(events(page)).toHaveCount(1)
    const [first] = await executions(page)
    await expect(events(page)).toContainText([`Exec denied (run ${first?.approval?.id})`])
    const slow = await run(page, 'local', 'true; sleep 12')
    await slow.getByTestId('approve').click()
    await expectState(slow, 'running')
    const id = (await executionOf(page, 'true; sleep 12')).approval?.id
    await expect(events(page).last()).toContainText(`Exec running (run ${id})`, { timeout: 14_000 })
    await expect(events(page).last()).toContainText(`Exec finished (run ${id})`)
    await expectAccessible(page, 'lines about runs')
  })
})

describe('the same truth everywhere', () => {
  it('after a reload, in a second window and after a restart; the late answer hears who was first', {
    timeout: 150_000,
  }, async () => {
    await start()
    await setModel(nomos.page, server.url)
    const file = join(scratch, 'shared')
    await propose(nomos.page, 'make it', [`echo x >> ${file}`])
    await nomos.page.reload()
    await expectState(cardOf(nomos.page, file), 'pending_approval')
    await restart()
    await expectState(cardOf(nomos.page, file), 'pending_approval')
    const { page } = nomos
    const second = await nomos.secondWindow()
    await second.locator('[data-testid^="session-ses"]').first().click()
    await expectState(cardOf(second, file), 'pending_approval')
    const { approval } = await executionOf(page, `echo x >> ${file}`)
    await cardOf(second, file).getByTestId('deny').click()
    await expectState(cardOf(page, file), 'denied')
    await expectState(cardOf(second, file), 'denied')
    await expect(settlement(cardOf(page, file))).toHaveText(
      (await settlement(cardOf(second, file)).textContent()) ?? '',
    )
    const late = await answer(page, 'approvals.answer', {
      id: approval?.id,
      answer: { kind: 'approve', phrase: null },
      digest: approval?.digest,
    })
    expect(late).toMatchObject({ ok: false, error: { code: 'already_settled' } })
    expect(JSON.stringify(late)).toContain('denied already, by the operator on its card')
    expect(linesOf(file)).toBe(0)
    expect(await ledger(page, 'approval.settled')).toHaveLength(1)
    expect(await ledger(page, 'approval.refused')).toHaveLength(1)
    // And where nothing is right any more, it says which: unknown, or another digest.
    expect(
      await answer(page, 'approvals.answer', { id: 'apr_none', answer: { kind: 'deny', note: null }, digest: 'x' }),
    ).toMatchObject({ error: { code: 'not_found' } })
  })

  it('the history is narrowed by end, risk, target and text', async () => {
    const { page } = await start()
    await expectState(await run(page, 'local', 'uname -a'), 'completed')
    const made = await run(page, 'local', `touch ${scratch}/made`)
    await made.getByTestId('approve').click()
    await expectState(made, 'completed')
    const denied = await run(page, 'local', `rm -rf ${scratch}/other`)
    await denied.getByTestId('deny').click()
    await expectState(denied, 'denied')
    await room(page, 'approvals')
    const listed = page.locator('main [data-card]')
    const commands = async (): Promise<string[]> =>
      (await Promise.all((await listed.all()).map((card) => card.textContent()))).map((text) =>
        text?.includes('uname') ? 'read' : text?.includes('rm -rf') ? 'removal' : 'change',
      )
    await page.getByTestId('history-asked').click()
    await expect.poll(commands).toEqual(['removal', 'change', 'read'])
    await expectAccessible(page, 'history')
    await page.getByTestId('history-risk').selectOption('destructive')
    await expect.poll(commands).toEqual(['removal'])
    await page.getByTestId('history-risk').selectOption('')
    await page.getByTestId('history-filter').selectOption('completed')
    await expect.poll(commands).toEqual(['change', 'read'])
    await page.getByTestId('history-text').fill('MADE')
    await expect.poll(commands).toEqual(['change'])
    await page.getByTestId('history-text').fill('nobody wrote this')
    await expect(page.getByTestId('history-empty')).toBeVisible()
    await page.getByTestId('history-clear').click()
    await page.getByTestId('history-target').selectOption('local')
    await expect.poll(commands).toEqual(['removal', 'change'])
    await page.getByTestId('history-surface').selectOption('chat')
    await expect(page.getByTestId('history-empty')).toBeVisible()
    // The filters outlive a change of room.
    await room(page, 'chat')
    await room(page, 'approvals')
    await expect(page.getByTestId('history-surface')).toHaveValue('chat')
  })

  it('"Never automatic" on a target makes its reads ask, stands above every room while on, and is switched off there', async () => {
    const { page } = await start()
    await expectState(await run(page, 'local', 'uname -a'), 'completed')
    const choose = async (words: string): Promise<void> => {
      await page.keyboard.press('Control+k')
      await page.getByTestId('palette-input').fill(words)
      await page.keyboard.press('Enter')
      await expect(page.getByTestId('palette-input')).toHaveCount(0)
    }
    await choose('never automatic on local')
    await expect(page.getByTestId('switch-strip')).toContainText('Never automatic on local')
    const asked = await run(page, 'local', 'uname -r')
    await expectState(asked, 'pending_approval')
    await room(page, 'fleet')
    await expect(page.getByTestId('switch-off-local')).toBeVisible()
    await expectAccessible(page, 'a switch is on')
    await page.getByTestId('switch-off-local').click()
    await expect(page.getByTestId('switch-strip')).toHaveCount(0)
    await room(page, 'chat')
    // It approved nothing that waits.
    await expectState(asked, 'pending_approval')
    await expectState(await run(page, 'local', 'uname -s'), 'completed')
    for (const [words, says, read] of [
      ['ask about everything', 'Everything is asked about', 'uname -m'],
      ['pause automatic runs', 'Automatic runs are paused', 'uname -n'],
    ] as const) {
      await choose(words)
      await expect(page.getByTestId('switch-strip')).toContainText(says)
      await expectState(await run(page, 'local', read), 'pending_approval')
      await choose(words)
      await expect(page.getByTestId('switch-strip')).toHaveCount(0)
    }
    await expectState(asked, 'pending_approval')
  })
})

describe('the keyboard alone', () => {
  it('approves, requests changes, previews and takes back', { timeout: 120_000 }, async () => {
    const { page } = await start()
    const type = async (text: string): Promise<void> => {
      await page.keyboard.press('Escape')
      await page.keyboard.press('/')
      await expect(page.getByTestId('composer')).toBeFocused()
      await page.keyboard.type(text)
      await page.keyboard.press('Enter')
    }
    /** Tab until this is focused. */
    const tabTo = async (card: Locator, testId: string): Promise<void> => {
      for (let presses = 0; presses < 20; presses += 1) {
        if ((await card.getByTestId(testId).count()) > 0) {
          const there = await card.getByTestId(testId).evaluate((one) => one === document.activeElement)
          if (there) return
        }
        await page.keyboard.press('Tab')
      }
      throw new Error(`Tab does not reach ${testId}`)
    }
    const focusCard = async (card: Locator): Promise<void> => {
      await page.keyboard.press('Escape')
      await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
      await page.keyboard.press('j')
      await expect(card).toBeFocused()
    }
    const file = join(scratch, 'conf.ini')
    writeFileSync(file, 'port=80\n')
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
    await type(`/run local sed -i s/80/8080/ ${file}`)
    const edit = page.locator('main [data-card]').first()
    await expectState(edit, 'pending_approval')
    await focusCard(edit)
    await tabTo(edit, 'preview')
    await page.keyboard.press('Enter')
    await expect(edit.getByTestId('preview-panel')).toContainText('port=8080')
    await expect(edit.getByTestId('preview')).toBeFocused()
    await page.keyboard.press('Escape')
    await expect(edit.getByTestId('preview-panel')).toHaveCount(0)
    await tabTo(edit, 'approve')
    await page.keyboard.press('Enter')
    await expectState(edit, 'completed')
    // The keyboard stays on the card it was used on.
    await expect(edit).toBeFocused()
    await tabTo(edit, 'undo')
    await page.keyboard.press('Enter')
    const request = page.locator('main [data-card]').nth(1)
    await expectState(request, 'pending_approval')
    await focusCard(request)
    await page.keyboard.press('a')
    await page.keyboard.press('a')
    await expectState(request, 'completed')
    expect(readFileSync(file, 'utf8')).toBe('port=80\n')

    await type(`/run local touch ${scratch}/wrong`)
    const wrong = page.locator('main [data-card]').nth(2)
    await expectState(wrong, 'pending_approval')
    await focusCard(wrong)
    await tabTo(wrong, 'request-changes')
    await page.keyboard.press('Enter')
    await expect(wrong.getByTestId('changes-note')).toBeFocused()
    await page.keyboard.type('another name')
    await page.keyboard.press('Escape')
    await expect(wrong.getByTestId('request-changes')).toBeFocused()
    await page.keyboard.press('Enter')
    await expect(wrong.getByTestId('changes-note')).toHaveValue('another name')
    await tabTo(wrong, 'send-changes')
    await page.keyboard.press('Enter')
    await expectState(wrong, 'denied')
    await expect(wrong).toContainText('another name')
    expect(existsSync(`${scratch}/wrong`)).toBe(false)
  })
})
