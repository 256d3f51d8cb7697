import { join } from 'node:path'
import { z } from 'zod'
import { type Classification, POSTURES, Posture } from '../../../src-preload/contract/model'
import { loadRiskRules } from '../../adapters/policy-files'
import { resourcesFolder } from '../../adapters/system'
import { cachesOf, classify } from '../../domain/risk'
import { homeOf } from '../app'
import { CliFailure, EXIT, usage } from '../exits'
import { byDefault, explanation, onlyPostureAgainst, widthOf } from '../explain'
import { type Io, writeAll } from '../io'
import { readOptions } from '../options'
import type { Command } from '../program'
import { startedBy } from '../started'
import { painter } from '../visible'

/** A command has 16 KB before it is too large to be understood; a line far beyond that is not read into memory. */
const MAX_LINE = 8 * 1024 * 1024
const WRITE_AT = 64 * 1024

// A declared risk of another type is unknown, and an unknown one counts as config_mutation: it does not hide the command.
const Line = z.object({ command: z.string(), declaredRisk: z.unknown().optional() })

type Judge = (command: string, declaredRisk: string | null) => Classification

/** `nomos classify` */
export const classifyCommand: Command = async (args, io) => {
  const { options, rest } = readOptions(
    args,
    {
      json: { kind: 'flag' },
      explain: { kind: 'flag' },
      jsonl: { kind: 'flag' },
      posture: { kind: 'text' },
      risk: { kind: 'text' },
    },
    'before',
  )
  const posture = Posture.safeParse(options.posture ?? 'default')
  if (!posture.success) throw usage(`--posture takes ${POSTURES.join(' or ')}, not ${JSON.stringify(options.posture)}.`)
  if (options.jsonl && rest.length > 0) throw usage('with --jsonl the commands come from standard input.')
  if (!options.jsonl && rest.length === 0)
    throw usage('name a command, or use --jsonl to read them from standard input. See: nomos help classify')

  const rules = readRules()
  const nomosHome = homeOf(io)
  const judge: Judge = (command, declaredRisk) =>
    classify(command, { rules, declaredRisk, posture: posture.data, nomosHome })
  if (options.jsonl) return await judgeLines(io, judge, options.risk)

  const command = rest.join(' ')
  const verdict = judge(command, options.risk)
  const caches = cachesOf(verdict.reasons, rules)
  if (options.json) {
    const more = options.explain ? { ...byDefault(command, verdict), caches, starts: startedBy(command) } : {}
    io.stdout.write(`${answer(command, verdict, more)}\n`)
  } else {
    const paint = painter(io.stdout, io.env)
    const width = widthOf(io.stdout, io.env)
    const otherwise = { rules, declaredRisk: options.risk, posture: 'every-segment' as const, nomosHome }
    const text = explanation(command, verdict, {
      paint,
      width,
      posture: posture.data,
      whole: options.explain,
      readsOtherwise: onlyPostureAgainst(verdict) && classify(command, otherwise).risk === 'read_only',
      caches,
    })
    await writeAll(io.stdout, text)
  }
  return EXIT.done
}

function readRules() {
  try {
    return loadRiskRules(join(resourcesFolder(), 'policies', 'risk'))
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error)
    throw new CliFailure(
      EXIT.failed,
      'rules',
      `the risk rules cannot be used, so nothing can be judged: ${what}. "nomos policy lint" lists all faults.`,
    )
  }
}

function answer(command: string, verdict: Classification, more: Readonly<Record<string, unknown>> = {}): string {
  const { risk, reasons, effects, coverage, spans, flags } = verdict
  return JSON.stringify({ command, risk, reasons, effects, coverage, spans, flags, ...more })
}

async function judgeLines(io: Io, judge: Judge, fallbackRisk: string | null): Promise<number> {
  let number = 0
  let malformed = false
  let out = ''
  const decoder = new TextDecoder('utf-8', { fatal: true })

  /** Exactly one line, whatever comes: who counts lines must not slip. */
  const answerLine = (bytes: Buffer | null): string => {
    number += 1
    try {
      if (bytes === null) throw new Error(`the line has more than ${MAX_LINE} bytes`)
      const text = decoder.decode(bytes)
      if (text.trim() === '') throw new Error('the line is empty')
      const line = Line.safeParse(JSON.parse(text))
      if (!line.success) throw new Error('not an object with a text "command"')
      const declared = line.data.declaredRisk ?? fallbackRisk
      const risk = declared === null || typeof declared === 'string' ? declared : JSON.stringify(declared)
      return answer(line.data.command, judge(line.data.command, risk))
    } catch (error) {
      malformed = true
      const what = error instanceof Error ? error.message : String(error)
      // With a class, so that a reader that looks at nothing else does not take it for harmless.
      return JSON.stringify({ error: what, line: number, risk: 'config_mutation' })
    }
  }

  let parts: Buffer[] = []
  let size = 0
  let tooLong = false
  const endLine = async (): Promise<void> => {
    out += `${answerLine(tooLong ? null : Buffer.concat(parts, size))}\n`
    parts = []
    size = 0
    tooLong = false
    if (out.length >= WRITE_AT) await flush()
  }
  const flush = async (): Promise<void> => {
    const ready = out
    out = ''
    if (ready !== '') await writeAll(io.stdout, ready)
  }

  for await (const piece of io.stdin) {
    const chunk = typeof piece === 'string' ? Buffer.from(piece) : piece
    let from = 0
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, from)) {
      keep(chunk.subarray(from, end))
      await endLine()
      from = end + 1
    }
    keep(chunk.subarray(from))
    // Somebody may send one line and wait for its answer before the next.
    await flush()
  }
  // A last line without a line break is a line; nothing after the last break is none.
  if (size > 0 || tooLong) await endLine()
  await flush()
  return malformed ? EXIT.failed : EXIT.done

  function keep(bytes: Buffer): void {
    if (tooLong || bytes.length === 0) return
    if (size + bytes.length > MAX_LINE) {
      tooLong = true
      parts = []
      size = 0
      return
    }
    parts.push(bytes)
    size += bytes.length
  }
}
