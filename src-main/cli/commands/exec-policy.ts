import {
  Ask,
  Fallback,
  PolicyFields,
  type PolicyInspection,
  type PolicyLayerView,
  type PolicySaved,
  PRESETS,
  PresetName,
  Security,
} from '../../../src-preload/contract/model'
import { ApprovalsFile, ConfigFile, execSettings, MAIN_AGENT, POLICY_FIELDS } from '../../domain/policy'
import { atTerminal } from '../answering'
import { ask } from '../app'
import { confirmed, sureToOpen } from '../confirming'
import { differenceShown } from '../difference'
import { CliFailure, EXIT, usage } from '../exits'
import { type Io, writeAll } from '../io'
import { nearest } from '../near'
import { readOptions } from '../options'
import {
  appOrFiles,
  type Draft,
  draftOfFields,
  draftOfPreset,
  type Inspected,
  isOpen,
  localInspection,
  localTexts,
  type PolicyText,
  type PolicyTexts,
  shippedPresets,
  textsOf,
} from '../policy-texts'
import { type Command, pick } from '../program'
import type { Terminal } from '../terminal'
import { type Paint, painter, visibleLine } from '../visible'

/** `nomos exec-policy show|set|preset|undo` */
export const execPolicyCommand: Command = async (args, io) => {
  const { part, args: rest } = pick('exec-policy', args, { show, set, preset, undo })
  return await part(rest, io)
}

const show: Command = async (args, io) => {
  const { options, rest } = readOptions(args, {
    json: { kind: 'flag' },
    agent: { kind: 'text' },
    target: { kind: 'text' },
    session: { kind: 'text' },
  })
  if (rest.length > 0)
    throw usage(`nomos exec-policy show takes no ${JSON.stringify(rest[0])}. See: nomos help exec-policy`)
  const agent = options.agent ?? MAIN_AGENT
  const target = options.target ?? 'local'
  const [from, found] = await appOrFiles<readonly ['app', PolicyInspection] | readonly ['local', Inspected]>(
    io,
    async (app) => {
      const inspection = await ask(app, 'policy.inspect', { agent, target, session: options.session })
      const { config } = await textsOf(app)
      return ['app', { ...inspection, managedBy: asksForNode(config, agent) ? 'node' : inspection.managedBy }]
    },
    (home) => {
      if (options.session !== null)
        throw new CliFailure(
          EXIT.noApp,
          'absent',
          '--session is known to a running Nomos only. Start it with npm start, or npm start -- --headless.',
        )
      return ['local', localInspection(home, agent, target, Date.now())]
    },
  )
  if (options.json) {
    await writeAll(io.stdout, `${JSON.stringify({ from, ...found })}\n`)
    return EXIT.done
  }
  await writeAll(io.stdout, inspectionShown(found, painter(io.stdout, io.env)))
  if (from === 'app') await writeAll(io.stdout, runningShown(found, painter(io.stdout, io.env)))
  else
    io.stderr.write('nomos: no app runs, so this is what the files say; sessions, switches and grants are not in it.\n')
  return EXIT.done
}

const valueShown = (value: string | boolean): string => (value === true ? 'on' : value === false ? 'off' : value)

function table(rows: readonly (readonly string[])[], paint: Paint): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  return rows
    .map((row, index) => {
      const line = row
        .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
        .join('  ')
      return `${index === 0 ? paint('bold', line) : line}\n`
    })
    .join('')
}

function inspectionShown(found: Inspected, paint: Paint): string {
  const cell = (layer: PolicyLayerView, field: keyof PolicyLayerView) =>
    visibleLine(`${valueShown(layer[field].value)} (${layer[field].from})`)
  const rows = [
    ['', 'requested', 'host', 'effective'],
    ...POLICY_FIELDS.map((field) => [
      field,
      cell(found.requested.layer, field),
      cell(found.host.layer, field),
      cell(found.effective, field),
    ]),
  ]
  const lines = [
    `${paint('bold', `Policy of ${visibleLine(found.agent)} at ${visibleLine(found.target)}`)}${found.session === null ? '' : ` in session ${visibleLine(found.session)}`}`,
  ]
  if (found.managedBy === 'node') lines.push(MANAGED_BY_NODE)
  const files = [
    ['requested', found.requested.file],
    ['host', found.host.file],
  ] as const
  const below = files.map(([name, { path, source, problem }]) => {
    const state =
      source === 'absent'
        ? 'not there, the built-in values hold'
        : source === 'file'
          ? 'read'
          : paint('red', `cannot be used: ${visibleLine(problem ?? '')}`)
    return `${name.padEnd(9)}  ${visibleLine(path)} (${state})`
  })
  const faulty = found.allowlist.filter(({ problem, warnings }) => problem !== null || warnings.length > 0).length
  const agent = found.agent === 'main' ? '' : ` --agent ${visibleLine(found.agent)}`
  below.push(
    `allowlist  ${found.allowlist.length} ${found.allowlist.length === 1 ? 'entry' : 'entries'}${faulty === 0 ? '' : `, ${faulty} with a note`}: nomos approvals allowlist list${agent}`,
  )
  below.push(`skills     ${found.autoAllowSkills ? 'programs of known skills run unasked' : 'not trusted'}`)
  if (found.toolDenied) below.push(paint('red', 'tools.deny names "run": nothing runs for this agent.'))
  const { security, ask: asked, riskGate } = found.effective
  if (!found.toolDenied && security.value === 'full' && asked.value === 'off' && !riskGate.value)
    below.push(paint('red', 'Nothing is asked any more, also not about what cannot be undone.'))
  return `${lines.join('\n')}\n\n${table(rows, paint)}\n${below.join('\n')}\n`
}

const MANAGED_BY_NODE =
  'managed by the node: it has a policy of its own, and what the host file here says does not reach it. Change it on the node.'

function runningShown(found: Partial<PolicyInspection>, paint: Paint): string {
  const lines: string[] = []
  const active = found.presets?.find((one) => one.active)
  const broken = found.host?.file.source === 'broken' || found.requested?.file.source === 'broken'
  if (!broken) lines.push(`preset     ${active === undefined ? 'none, the values are your own' : active.name}`)
  if (found.elevated === true)
    lines.push(paint('red', 'elevated   this session asks for full and off until /elevated off'))
  for (const bin of found.safeBins ?? [])
    if (bin.problem !== null)
      lines.push(`${paint('yellow', 'safe bin')}   ${visibleLine(bin.name)}: ${visibleLine(bin.problem)}`)
  const grants = found.grants?.length ?? 0
  if (grants > 0) lines.push(`grants     ${grants} for a time: nomos grants list`)
  return lines.map((line) => `${line}\n`).join('')
}

const CHOICES = {
  security: Security.options,
  ask: Ask.options,
  askFallback: Fallback.options,
} as const
const FLAGS = ['autoAllowReadOnly', 'autoAllowSkills', 'riskGate', 'strictInlineEval', 'commandHighlighting'] as const
const NAMES: readonly string[] = [...Object.keys(CHOICES), ...FLAGS]
const INHERIT = 'inherit'

/** `security=full ask=off` as fields of a layer; `inherit` takes one out. */
function readFields(words: readonly string[]): PolicyFields {
  if (words.length === 0)
    throw usage(`name what to set: FIELD=VALUE…, for example ask=always. Fields: ${NAMES.join(', ')}.`)
  const fields: Record<string, unknown> = {}
  for (const word of words) {
    const equals = word.indexOf('=')
    const name = equals === -1 ? word : word.slice(0, equals)
    if (!NAMES.includes(name)) {
      const near = nearest(name, NAMES)
      throw usage(
        `there is no field ${JSON.stringify(name)}. ${near === null ? `Fields: ${NAMES.join(', ')}.` : `Did you mean ${near}?`}`,
      )
    }
    if (Object.hasOwn(fields, name)) throw usage(`${name} is named twice.`)
    const value = equals === -1 ? '' : word.slice(equals + 1)
    if (value === INHERIT) fields[name] = null
    else if (name in CHOICES) {
      const options: readonly string[] = CHOICES[name as keyof typeof CHOICES]
      if (!options.includes(value))
        throw usage(`${name} takes ${options.join(', ')} or ${INHERIT}, not ${JSON.stringify(value)}.`)
      fields[name] = value
    } else {
      if (!['on', 'off', 'true', 'false'].includes(value))
        throw usage(`${name} takes on, off or ${INHERIT}, not ${JSON.stringify(value)}.`)
      fields[name] = value === 'on' || value === 'true'
    }
  }
  return PolicyFields.parse(fields)
}

const LAYERS = ['both', 'host', 'requested'] as const
type Layer = (typeof LAYERS)[number]

/** Which fields only one of the files has. */
const ONLY: Readonly<Record<string, Layer>> = { autoAllowSkills: 'host', commandHighlighting: 'requested' }

function readLayer(text: string | null, fields: PolicyFields): Layer {
  const layer = text ?? 'both'
  const found = LAYERS.find((one) => one === layer)
  if (found === undefined) throw usage(`--layer takes ${LAYERS.join(', ')}, not ${JSON.stringify(layer)}.`)
  for (const name of Object.keys(fields)) {
    const only = ONLY[name]
    if (only !== undefined && found !== 'both' && found !== only)
      throw usage(`${name} is a field of the ${only} policy only; leave out --layer ${found}.`)
  }
  return found
}

function draftShown({ diffs }: Draft, paint: Paint): string {
  return diffs
    .filter(({ diff }) => diff.length > 0)
    .map(({ path, diff }) => `${paint('bold', visibleLine(path))}\n${differenceShown(diff, paint)}`)
    .join('')
}

const unchanged = (draft: Draft): boolean => draft.diffs.every(({ diff }) => diff.length === 0)

async function nothingSaved(io: Io, texts: PolicyTexts, draft: Draft, json: boolean): Promise<number> {
  const diff = draft.diffs.flatMap((one) => one.diff)
  if (json)
    await writeAll(io.stdout, `${JSON.stringify({ saved: false, version: texts.host.version, diff, backup: null })}\n`)
  else if (unchanged(draft)) io.stdout.write('It is like that already; nothing was saved.\n')
  else await writeAll(io.stdout, draftShown(draft, painter(io.stdout, io.env)))
  return EXIT.done
}

async function report(io: Io, saved: PolicySaved, json: boolean): Promise<number> {
  if (json) await writeAll(io.stdout, `${JSON.stringify(saved)}\n`)
  else {
    const kept = saved.backup === null ? '' : ` What was there is kept: ${visibleLine(saved.backup)}`
    io.stdout.write(saved.saved ? `Saved.${kept}\n` : 'It is like that already; nothing was saved.\n')
  }
  return EXIT.done
}

/** A setting that opens everything takes the word, unless everything was open before. `agent` null: for all agents. */
async function guardOpening(terminal: Terminal, texts: PolicyTexts, draft: Draft, agent: string | null): Promise<void> {
  const host = fileOf(ApprovalsFile, texts.host.text)
  const config = fileOf(ConfigFile, texts.config.text)
  // The name of nobody: whoever neither file names.
  const opened = (agent === null ? ['', MAIN_AGENT] : [agent]).some(
    (one) => isOpen(draft, one) && !(host !== null && config !== null && isOpen({ host, config }, one)),
  )
  if (opened) await sureToOpen(terminal, shippedPresets().find(({ name }) => name === 'yolo')?.opens ?? [])
}

/** A canonical text as what it holds; null for one that is not there or broken: nothing was open then. */
function fileOf<T>(
  schema: { safeParse(data: unknown): { success: true; data: T } | { success: false } },
  text: string,
): T | null {
  try {
    const parsed = schema.safeParse(JSON.parse(text))
    return parsed.success ? parsed.data : null
  } catch {
    return null
  }
}

/** `tools.exec.host` sends the commands of an agent to a node, which has a policy of its own. */
function asksForNode(config: PolicyText, agent: string): boolean {
  return execSettings(fileOf(ConfigFile, config.text), agent, null).host === 'node'
}

const set: Command = async (args, io) => {
  const { options, rest } = readOptions(args, {
    json: { kind: 'flag' },
    agent: { kind: 'text' },
    layer: { kind: 'text' },
    'dry-run': { kind: 'flag' },
  })
  const fields = readFields(rest)
  const layer = readLayer(options.layer, fields)
  const agent = options.agent
  const draft = (texts: PolicyTexts) => draftOfFields(io, texts, layer, agent, fields)
  if (options['dry-run']) {
    const texts = await appOrFiles(io, textsOf, localTexts)
    return await nothingSaved(io, texts, draft(texts), options.json)
  }
  return await atTerminal(io, 'exec-policy set', async (app, terminal) => {
    const texts = await textsOf(app)
    const next = draft(texts)
    if (unchanged(next)) return await nothingSaved(io, texts, next, options.json)
    terminal.write(draftShown(next, painter({ isTTY: true }, io.env)))
    if (asksForNode(texts.config, agent ?? MAIN_AGENT))
      terminal.write(`${visibleLine(agent ?? MAIN_AGENT)}: ${MANAGED_BY_NODE}\n`)
    await guardOpening(terminal, texts, next, agent)
    const saved = await confirmed(
      app,
      terminal,
      'policy.save',
      {
        layer,
        agent,
        fields,
        baseVersion: layer === 'requested' ? texts.config.version : texts.host.version,
        ...(layer === 'host' ? {} : { baseConfigVersion: texts.config.version }),
      },
      'save this',
    )
    return await report(io, saved, options.json)
  })
}

const preset: Command = async (args, io) => {
  const { options, rest } = readOptions(args, { json: { kind: 'flag' }, 'dry-run': { kind: 'flag' } })
  const [name, ...more] = rest
  const known = shippedPresets()
  if (name === undefined) {
    const lines = known.map((one) => `  ${one.name.padEnd(10)} ${one.consequences}`)
    if (options.json) io.stdout.write(`${JSON.stringify(known)}\n`)
    else io.stdout.write(`Presets (nomos exec-policy preset NAME):\n${lines.join('\n')}\n`)
    return EXIT.done
  }
  const chosen = PresetName.safeParse(name)
  const found = known.find((one) => one.name === name)
  if (!chosen.success || found === undefined) {
    const near = nearest(name, PRESETS)
    throw usage(
      `there is no preset ${JSON.stringify(name)}. ${near === null ? `Presets: ${PRESETS.join(', ')}.` : `Did you mean ${near}?`}`,
    )
  }
  if (more.length > 0) throw usage(`nomos exec-policy preset takes one name, not ${JSON.stringify(more[0])} too.`)
  if (options['dry-run']) {
    const texts = await appOrFiles(io, textsOf, localTexts)
    return await nothingSaved(io, texts, draftOfPreset(io, texts, found), options.json)
  }
  return await atTerminal(io, 'exec-policy preset', async (app, terminal) => {
    const texts = await textsOf(app)
    const next = draftOfPreset(io, texts, found)
    if (unchanged(next)) return await nothingSaved(io, texts, next, options.json)
    const paint = painter({ isTTY: true }, io.env)
    terminal.write(`${paint('bold', found.title)}: ${found.consequences}\n${draftShown(next, paint)}`)
    const own = Object.keys(next.host.agents ?? {}).filter((agent) =>
      POLICY_FIELDS.some((field) => next.host.agents?.[agent]?.[field] !== undefined),
    )
    if (own.length > 0) terminal.write(`What these say for themselves stays: ${visibleLine(own.join(', '))}\n`)
    if (found.dangerous) await sureToOpen(terminal, found.opens)
    const saved = await confirmed(
      app,
      terminal,
      'policy.preset',
      { name: chosen.data, dryRun: false },
      `use ${found.name}`,
    )
    return await report(io, saved, options.json)
  })
}

const undo: Command = async (args, io) => {
  const { options, rest } = readOptions(args, { json: { kind: 'flag' } })
  if (rest.length > 0) throw usage(`nomos exec-policy undo takes no ${JSON.stringify(rest[0])}.`)
  return await atTerminal(io, 'exec-policy undo', async (app, terminal) => {
    const { undo: saves } = await ask(app, 'policy.inspect', { agent: 'main', target: 'local', session: null })
    const [last] = saves
    if (last === undefined) throw new CliFailure(EXIT.failed, 'not_found', 'there is no save to take back.')
    terminal.write(`Takes back: ${visibleLine(last.what)} (${new Date(last.at).toISOString()})\n`)
    const saved = await confirmed(app, terminal, 'policy.undo', {}, 'take it back')
    if (!options.json) await writeAll(io.stdout, differenceShown(saved.diff, painter(io.stdout, io.env)))
    return await report(io, saved, options.json)
  })
}
