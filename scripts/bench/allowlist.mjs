/**
 * How long a decision takes with 10,000 allowlist entries: parse into segments, look them up, decide. Every shape of list is asked
 * with a command that the last of its entries lets through and with one that none does; the same commands against a list of ten
 * entries show what the ten thousand cost. Milliseconds. It needs neither a build nor a display.
 */
import { loadParts } from './gate-bundle.mjs'

const ENTRIES = 10_000
const ROUNDS = 2_000
const WARM_UP = 200

export const name = 'allowlist'
export const standalone = true

const quantile = (sorted, q) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))]
const rounded = (ms) => Math.round(ms * 10_000) / 10_000

/** The lists, each with a command its last entry lets through and one that nothing lets through. */
const SHAPES = {
  'a program each': {
    entry: (i) => ({ pattern: `/usr/bin/tool-${i}` }),
    hit: (last) => `tool-${last} --all`,
    miss: () => 'other --all',
  },
  'exact argvs of one program': {
    entry: (i, { encodeArgv }) => ({ pattern: '/usr/bin/rg', argPattern: encodeArgv(['-n', `word ${i}`]) }),
    hit: (last) => `rg -n 'word ${last}'`,
    miss: () => "rg -n 'word x'",
  },
  'patterns of one program': {
    entry: (i) => ({ pattern: '/usr/bin/systemctl', argPattern: `^restart web-${i}(\\.service)?$` }),
    hit: (last) => `systemctl restart web-${last}`,
    miss: () => 'systemctl restart db-1',
  },
  'patterns of 100 programs without a plain beginning': {
    entry: (i) => ({ pattern: `tool-${i % 100}`, argPattern: `^(?:get|list) item-${i}$` }),
    hit: (last) => `tool-${last % 100} get item-${last}`,
    miss: () => 'tool-7 get nothing',
  },
  'globs of as many folders': {
    entry: (i) => ({ pattern: `/opt/app-${i}/**` }),
    hit: (last) => `/opt/app-${last}/bin/run now`,
    miss: () => '/opt/other/bin/run now',
  },
  'a chain of five over a mixed list': {
    entry: (i, { encodeArgv }) =>
      [
        { pattern: `tool-${i}` },
        { pattern: '/usr/bin/rg', argPattern: encodeArgv([`${i}`]) },
        { pattern: 'kubectl', argPattern: `^get pods -n team-${i}$` },
        { pattern: `~/bin/job-${i}/*` },
        { pattern: `host-${i}`, scope: { target: `host:h${i}` } },
      ][i % 5],
    hit: (last) => {
      const at = (kind) => last - ((last - kind + 5) % 5)
      return `tool-${at(0)} x | rg ${at(1)} && kubectl get pods -n team-${at(2)}; /home/ann/bin/job-${at(3)}/go && tool-0 y`
    },
    miss: () => 'tool-0 x | rg none && kubectl get pods -n none; /home/ann/bin/go && tool-1 y',
  },
}

const CONTEXT = {
  agent: 'main',
  target: 'local',
  targetKind: 'local',
  session: null,
  now: 1,
  home: '/home/ann',
  cwd: '/srv/app',
}

/** Runs the bench; `log` takes progress lines. */
export async function run({ log }) {
  const parts = await loadParts('allowlist-parts.ts')
  const { compileAllowlist, decide, matchSegments, segmentsOf, CAUTIOUS, NO_SAFE_BINS, NO_SKILLS } = parts
  const layers = ['requested-policy', 'host-policy'].map((layerName) => ({ name: layerName, layer: CAUTIOUS }))
  const question = {
    risk: 'config_mutation',
    self: false,
    inlineEval: false,
    toolDenied: false,
    switches: { askAboutEverything: false, pauseAutomatic: false },
    target: { slug: 'local', tags: [], dependents: 0 },
  }
  const decision = (list, command) => {
    const segments = segmentsOf(command).map((segment) => {
      const typed = segment.argv[0]
      const path = typed.startsWith('/') ? typed : `/usr/bin/${typed}`
      return { ...segment, path, real: path, trusted: true, wrappersTrusted: true }
    })
    const { all } = matchSegments(list, NO_SAFE_BINS, NO_SKILLS, segments, CONTEXT)
    return decide({ ...question, matched: all }, layers).outcome
  }
  const measured = (list, command, expected) => {
    const first = performance.now()
    const outcome = decision(list, command)
    const cold = performance.now() - first
    if (outcome !== expected) throw new Error(`${command}: ${outcome} instead of ${expected}`)
    for (let i = 0; i < WARM_UP; i++) decision(list, command)
    const times = new Float64Array(ROUNDS)
    for (let i = 0; i < ROUNDS; i++) {
      const begun = performance.now()
      decision(list, command)
      times[i] = performance.now() - begun
    }
    times.sort()
    return {
      first: rounded(cold),
      median: rounded(quantile(times, 0.5)),
      p95: rounded(quantile(times, 0.95)),
      p99: rounded(quantile(times, 0.99)),
    }
  }

  const results = {}
  for (const [shape, { entry, hit, miss }] of Object.entries(SHAPES)) {
    log(shape)
    const entries = Array.from({ length: ENTRIES }, (_, i) => ({ id: `e${i}`, ...entry(i, parts) }))
    const begun = performance.now()
    const list = compileAllowlist(entries)
    const compiled = performance.now() - begun
    const few = compileAllowlist([...entries.slice(0, 5), ...entries.slice(-5)])
    const last = ENTRIES - 1
    results[shape] = {
      compile: rounded(compiled),
      hit: measured(list, hit(last), 'auto'),
      miss: measured(list, miss(), 'ask'),
      missOfTen: measured(few, miss(), 'ask'),
    }
  }
  // The median: on a machine that does other things as well, the slowest are those that had to wait for it.
  const worst = Math.max(...Object.values(results).flatMap(({ hit, miss }) => [hit.median, miss.median]))
  return { entries: ENTRIES, rounds: ROUNDS, atMostOneMillisecond: worst <= 1, worstMedian: worst, shapes: results }
}
