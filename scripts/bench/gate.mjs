/**
 * How well and how fast the gate understands commands. Three parts: what it says about the corpora and about our own examples, how
 * long that takes on everyday commands against the bare parsers, and how long on texts of 16 KB in the worst shapes. All times of one
 * part come from one run, the candidates in turn on each command, so that whatever else the machine does meets all of them.
 *
 * It bundles the sources as they are, so it needs neither a build nor a display. `NOMOS_BENCH_SECONDS` is how long bad shapes are
 * searched for (default 10), `NOMOS_BENCH_SEED` where the search begins, `NOMOS_BENCH_PARTS` which parts run (`corpora`, `latency`,
 * `shapes`, `search`, with commas), `NOMOS_BENCH_CORPORA` where the corpora are.
 */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { loadParts } from './gate-bundle.mjs'
import { generators, SIZE, searched } from './gate-shapes.mjs'

const root = resolve(import.meta.dirname, '../..')
const POSTURES = ['default', 'every-segment']
const ROUNDS = 15
const WARM_UP = 4
const PARTS = ['corpora', 'latency', 'shapes', 'search']

export const name = 'gate'
/** Neither a window nor the built app is looked at. */
export const standalone = true

const quantile = (sorted, q) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))]
const ascending = (values) => Float64Array.from(values).sort()
const micro = (ms) => Math.round(ms * 10_000) / 10
const share = (part, whole) => (whole === 0 ? null : Math.round((part / whole) * 10_000) / 10_000)
const ratio = (a, b) => Math.round((a / b) * 100) / 100

function corpus(file) {
  const folder = process.env.NOMOS_BENCH_CORPORA ?? resolve(root, '../shared/corpora')
  const path = join(folder, file)
  if (!existsSync(path)) return null
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line).cmd)
}

/** What is judged, and how: the corpora from an unknown folder, our own examples from the folders they were written for. */
function judged(classify, rules, commands, posture, doubts) {
  const counts = { read_only: 0, reversible_low: 0, config_mutation: 0, destructive: 0 }
  const rows = []
  let doubted = 0
  for (const command of commands) {
    const { risk } = classify(command, { rules, posture })
    counts[risk]++
    if (risk !== 'read_only') continue
    rows.push(command)
    if (doubts(command) !== null) doubted++
  }
  return { counts, rows, doubted }
}

function corpora({ classify, doubtOf }, rules, second) {
  const doubts = (command) => doubtOf(command, second.commandNames(command))
  const result = {}
  for (const file of ['must-not-auto.jsonl', 'reads-ops.jsonl', 'reads.jsonl', 'everyday.jsonl']) {
    const commands = corpus(file)
    if (commands === null) {
      result[file] = null
      continue
    }
    const postures = {}
    for (const posture of POSTURES) {
      const { counts, rows, doubted } = judged(classify, rules, commands, posture, doubts)
      postures[posture] = {
        ...counts,
        readShare: share(counts.read_only, commands.length),
        // The second parser raises these from read-only: on honest reads every one of them is a needless question.
        doubtedBySecondParser: doubted,
        // What is read-only here is a fault, so it is shown.
        ...(file === 'must-not-auto.jsonl' ? { falseReads: counts.read_only, rows: rows.slice(0, 20) } : {}),
      }
    }
    result[file] = { commands: commands.length, ...postures }
  }
  return { ...result, ownExamples: ownExamples({ classify }, rules, doubts) }
}

function ownExamples({ classify }, rules, doubts) {
  const result = { examples: rules.examples.length }
  for (const posture of POSTURES) {
    const faults = []
    let reads = 0
    let asRead = 0
    let doubted = 0
    for (const { command, expected, rule } of rules.examples) {
      const { risk } = classify(command, { rules, posture, cwd: '/srv/app', homeFolder: '/home/ann' })
      if (expected === 'read_only') {
        reads++
        if (risk === 'read_only') {
          asRead++
          if (doubts(command) !== null) doubted++
        }
      } else if (risk === 'read_only' && (posture === 'default' || expected === 'destructive')) {
        if (expected !== 'not_destructive') faults.push(`${rule}: ${command}`)
      }
    }
    result[posture] = {
      reads,
      readShare: share(asRead, reads),
      falseReads: faults.length,
      rows: faults.slice(0, 20),
      doubtedBySecondParser: doubted,
    }
  }
  return result
}

async function bareTreeSitter({ Parser, Language }) {
  const require = createRequire(import.meta.url)
  const parser = new Parser()
  parser.setLanguage(await Language.load(require.resolve('tree-sitter-bash/tree-sitter-bash.wasm')))
  return (text) => parser.parse(text)?.delete()
}

async function latency(parts, rules, second, log) {
  const commands =
    corpus('everyday.jsonl') ?? rules.examples.filter(({ command }) => command.length > 0).map((e) => e.command)
  const { classify, unbashParse, doubtOf } = parts
  const options = { rules, posture: 'default' }
  const candidates = {
    treeSitter: await bareTreeSitter(parts),
    unbash: (text) => unbashParse(text),
    classify: (text) => classify(text, options),
    // The gate asks the second parser about reads only; here it is asked about everything.
    classifyAndCrossCheck: (text) => {
      classify(text, options)
      return doubtOf(text, second.commandNames(text))
    },
  }
  const names = Object.keys(candidates)
  const samples = Object.fromEntries(names.map((key) => [key, commands.map(() => [])]))
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    for (let i = 0; i < commands.length; i++) {
      const text = commands[i]
      for (let k = 0; k < names.length; k++) {
        const key = names[(k + round + WARM_UP) % names.length]
        const act = candidates[key]
        const begun = performance.now()
        act(text)
        const took = performance.now() - begun
        if (round >= 0) samples[key][i].push(took)
      }
    }
    if (round % 5 === 0) log(`latency: round ${round} of ${ROUNDS}`)
  }
  const summary = {}
  for (const key of names) {
    // One value a command: the median of its rounds, so that a pause of the machine is not taken for a slow command.
    const each = ascending(samples[key].map((rounds) => quantile(ascending(rounds), 0.5)))
    const pooled = ascending(samples[key].flat())
    summary[key] = {
      medianUs: micro(quantile(each, 0.5)),
      p99Us: micro(quantile(each, 0.99)),
      pooledP99Us: micro(quantile(pooled, 0.99)),
    }
  }
  const middle = (key) => samples[key].map((rounds) => quantile(ascending(rounds), 0.5))
  const times = middle('classify')
  const slowest = commands
    .map((command, i) => ({ us: micro(times[i]), command: command.slice(0, 160) }))
    .sort((a, b) => b.us - a.us)
    .slice(0, 8)
  const { treeSitter, unbash, classify: own, classifyAndCrossCheck } = summary
  return {
    commands: commands.length,
    rounds: ROUNDS,
    ...summary,
    ratios: {
      classifyToTreeSitterMedian: ratio(own.medianUs, treeSitter.medianUs),
      classifyToTreeSitterP99: ratio(own.p99Us, treeSitter.p99Us),
      crossCheckToTreeSitterMedian: ratio(classifyAndCrossCheck.medianUs, treeSitter.medianUs),
      classifyToUnbashMedian: ratio(own.medianUs, unbash.medianUs),
    },
    aim: 'classifyToTreeSitterMedian up to 4, classifyToTreeSitterP99 up to 10, crossCheckToTreeSitterMedian up to 12',
    slowest,
  }
}

/** The least time of each of some functions over the same text, in turn; milliseconds. */
function duel(acts, text, rounds) {
  const least = acts.map(() => Number.POSITIVE_INFINITY)
  for (let round = 0; round < rounds; round++) {
    for (const [i, act] of acts.entries()) {
      const begun = performance.now()
      act(text)
      least[i] = Math.min(least[i], performance.now() - begun)
    }
    // A shape that takes long is measured well enough by fewer rounds.
    if (round >= 1 && least[0] + least[1] > 400) break
  }
  return least
}

/** The bare parser takes words apart when they are first looked at: what it costs to have the whole tree. */
function wholeTree({ unbashParse, forEachChild }) {
  const look = (node) => {
    if (node.type === 'Word') {
      void node.value
      void node.parts
    }
    forEachChild(node, look)
  }
  return (text) => {
    try {
      look(unbashParse(text))
    } catch (error) {
      // A sum of thousands of parts is a tree too deep to walk.
      if (!(error instanceof RangeError)) throw error
    }
  }
}

const shapeRow = (label, [own, bare, whole], text) => ({
  shape: label,
  units: text.length,
  classifyMs: Math.round(own * 100) / 100,
  unbashMs: Math.round(bare * 100) / 100,
  unbashWholeMs: Math.round(whole * 100) / 100,
  ratio: ratio(own, bare),
  ratioToWhole: ratio(own, whole),
})

function shapes(parts, rules, log) {
  const { classify, unbashParse } = parts
  const acts = [(text) => classify(text, { rules, posture: 'every-segment' }), unbashParse, wholeTree(parts)]
  const rows = []
  for (const [label, make] of Object.entries(generators)) {
    const text = make()
    if (text.length > SIZE) throw new Error(`shape "${label}" has ${text.length} units, more than ${SIZE}`)
    rows.push(shapeRow(label, duel(acts, text, 7), text))
  }
  rows.sort((a, b) => b.ratio - a.ratio)
  log(`shapes: worst is "${rows[0].shape}", ${rows[0].ratio}`)
  const middle = (list) => list.toSorted((a, b) => a - b)[list.length >> 1]
  return {
    aim: 'ratio up to 4 for each',
    over: rows.filter((row) => row.ratio > 4).length,
    overWhole: rows.filter((row) => row.ratioToWhole > 4).length,
    medianRatioToWhole: middle(rows.map((row) => row.ratioToWhole)),
    slowestMs: Math.max(...rows.map((row) => row.classifyMs)),
    rows,
  }
}

/** Repeats random fragments to 16 KB and keeps the shapes that cost the most compared with the bare parser. */
function search(parts, rules, log) {
  const { classify, unbashParse } = parts
  const seconds = Number(process.env.NOMOS_BENCH_SECONDS ?? 10)
  const seed = Number(process.env.NOMOS_BENCH_SEED ?? 20261129)
  const acts = [(text) => classify(text, { rules, posture: 'every-segment' }), unbashParse, wholeTree(parts)]
  const until = performance.now() + seconds * 1000
  const worst = []
  let tried = 0
  let over = 0
  for (const { unit, text } of searched(seed)) {
    if (performance.now() > until) break
    tried++
    let times = duel(acts, text, 1)
    const bar = worst.length < 12 ? 2 : worst[worst.length - 1].ratio
    // Only what looks bad is measured again, well enough to be believed.
    if (times[0] / times[1] <= Math.min(bar, 4)) continue
    times = duel(acts, text, 5)
    const row = shapeRow(JSON.stringify(unit), times, text)
    if (row.ratio > 4) over++
    worst.push(row)
    worst.sort((a, b) => b.ratio - a.ratio)
    worst.length = Math.min(worst.length, 12)
  }
  log(`search: ${tried} shapes tried, ${over} over 4`)
  return { seconds, seed, tried, over, worst }
}

/** Runs the bench; `log` takes progress lines. */
export async function run({ log }) {
  const wanted = (process.env.NOMOS_BENCH_PARTS ?? PARTS.join(',')).split(',')
  const parts = await loadParts('gate-parts.ts')
  const rules = parts.loadRiskRules(join(root, 'policies/risk'))
  const second = parts.createTreeSitterParser({
    info: () => {},
    warn: () => {},
    error: (message, data) => {
      throw new Error(`${message}: ${JSON.stringify(data)}`)
    },
  })
  await second.ready()
  const result = {}
  if (wanted.includes('corpora')) result.corpora = corpora(parts, rules, second)
  if (wanted.includes('latency')) result.latency = await latency(parts, rules, second, log)
  if (wanted.includes('shapes')) result.shapes = shapes(parts, rules, log)
  if (wanted.includes('search')) result.search = search(parts, rules, log)
  return result
}
