import { NomosError } from '../../src-preload/contract/errors'
import { type ExecutionView, FINAL_STATES, type PreviewView, type Principal } from '../../src-preload/contract/model'
import { type Answer, type PreviewRules, recipeOf, type Step } from '../domain/preview'
import { redact } from '../domain/redact'
import { classify, type RuleSet } from '../domain/risk'
import type { Clock } from '../ports'
import type { Gate, Weighed } from './gate'
import { cutBytes } from './output'
import type { Undo } from './undo'

/** How long the reads of one preview may take together, in ms. */
export const PREVIEW_MS = 30_000
/** Bytes of text that a preview shows at most. */
export const PREVIEW_BYTES = 256 * 1024
/** Bytes of one answer that are put together with others; the gate keeps a little more. */
const MOST_ANSWERED = 512 * 1024
/** What the end of a failed read's output may add to the reason. */
const FAILURE_BYTES = 600
/** Labels that are remembered, by the text of the command. */
const MOST_LABELS = 1000

const UNDO_LABEL = 'What it puts back'

const OPERATOR: Principal = { kind: 'operator', id: 'operator', session: null, turn: null }

/** Shows what a waiting command would do without doing it, by commands that only read and go through the gate; of an undo, by a look. */
export interface Preview {
  /** "What apt-get would do"; null where there is no preview. Pure and cheap: asked for every card. */
  labelOf(execution: ExecutionView): string | null
  /**
   * Runs the reads and puts their answers together.
   * @throws NomosError `conflict` when there is none, or when one of its reads would not run by itself; `unavailable` when one failed.
   */
  show(execution: ExecutionView): Promise<PreviewView>
}

export interface PreviewDeps {
  readonly gate: Pick<Gate, 'request' | 'weigh' | 'output' | 'planOf' | 'cancel' | 'onSettled'>
  readonly clock: Clock
  /** Shows what an undo would put back; left out: nothing is kept. */
  readonly undo?: Pick<Undo, 'preview'>
  readonly rules: () => PreviewRules
  /** The classifier's rules: a preview is not offered where one of its reads would be more than a read. */
  readonly risk: () => RuleSet
  /** The user's own folder here. */
  readonly homeFolder: string
}

const conflict = (sentence: string): NomosError => new NomosError('conflict', redact(sentence).text, { field: 'id' })
const unavailable = (sentence: string): NomosError => new NomosError('unavailable', sentence, { field: 'id' })

/** Makes the previews. They hold nothing but labels, and never ask anybody. */
export function createPreview(deps: PreviewDeps): Preview {
  const { gate, clock } = deps
  const labels = new Map<string, string | null>()
  const showing = new Map<string, Promise<PreviewView>>()
  /** Runs that ended while a preview is made: one may be over before its id is known here. */
  const ended = new Map<string, ExecutionView>()
  const waiting = new Map<string, (execution: ExecutionView) => void>()
  gate.onSettled((execution) => {
    if (showing.size > 0) ended.set(execution.id, execution)
    waiting.get(execution.id)?.(execution)
  })

  function labelOf({ state, redacted, undoOf, command, target, cwd }: ExecutionView): string | null {
    if (state !== 'pending_approval' || redacted) return null
    // What it would put back is known to Undo alone, whatever its command is.
    if ((undoOf ?? null) !== null) return deps.undo === undefined ? null : UNDO_LABEL
    // A path may be a secret in one folder and none in another.
    const key = JSON.stringify([command, target, cwd])
    const known = labels.get(key)
    if (known !== undefined) return known
    const recipe = recipeOf(command, deps.rules())
    const local = target === 'local'
    const options = {
      rules: deps.risk(),
      posture: 'default' as const,
      targetKind: local ? ('local' as const) : ('ssh' as const),
      cwd,
      homeFolder: local ? deps.homeFolder : null,
    }
    const reads = recipe?.reads.every((read) => classify(read, options).risk === 'read_only')
    const label = recipe !== null && reads === true ? redact(recipe.label).text : null
    if (labels.size >= MOST_LABELS) labels.clear()
    labels.set(key, label)
    return label
  }

  async function show(execution: ExecutionView): Promise<PreviewView> {
    const now = showing.get(execution.id)
    if (now !== undefined) return now
    const made = make(execution).finally(() => {
      showing.delete(execution.id)
      if (showing.size === 0) ended.clear()
    })
    showing.set(execution.id, made)
    return made
  }

  async function make(execution: ExecutionView): Promise<PreviewView> {
    if (execution.state !== 'pending_approval')
      throw conflict(`It is ${execution.state}; a preview is there for what waits for an answer.`)
    if (execution.redacted) throw conflict('There is no preview of a command that holds a secret.')
    const plan = gate.planOf(execution.id)
    if (plan === null || plan.script === null)
      throw conflict('What was asked for is not kept any more, so there is nothing to preview.')
    if ((execution.undoOf ?? null) !== null) return ofUndo(execution, plan.target, plan.script)
    if (plan.input || Object.keys(plan.env).length > 0)
      throw conflict('There is no preview of a command that is given an input or variables of its own.')
    const recipe = recipeOf(plan.script, deps.rules())
    if (recipe === null)
      throw conflict('There is no preview of this command: it is not one whose effects can be shown by reading alone.')
    const place = { target: plan.target, cwd: plan.cwd }
    const commands: string[] = []
    const live = new Set<string>()
    let late = false
    const forget = clock.after(PREVIEW_MS, () => {
      late = true
      for (const id of live) stop(id)
    })
    try {
      let step: Step = recipe.first
      while (step.kind === 'read') {
        const { codes } = step
        // Every one is weighed before any of them runs.
        for (const command of step.commands) requireAutomatic(command, await weighed(place, command))
        const answers: Answer[] = []
        for (const command of step.commands) {
          if (late) throw tooLong()
          answers.push(await answer(execution.id, place, command, codes, commands, live, () => late))
        }
        step = step.then(answers)
      }
      if (step.kind === 'none') throw conflict(step.why)
      const { kind, text, note } = step.shown
      const shown = cutBytes(text, PREVIEW_BYTES, 'start')
      return {
        kind,
        title: redact(recipe.label).text,
        commands,
        text: shown,
        truncated: shown.length < text.length,
        note: note === null ? null : redact(note).text,
        at: clock.now(),
      }
    } finally {
      forget()
    }
  }

  async function ofUndo(execution: ExecutionView, target: string, script: string): Promise<PreviewView> {
    if (deps.undo === undefined) throw conflict('Nothing is kept here that could be put back.')
    const preview = deps.undo.preview(execution, script)
    let forget = (): void => {}
    let late = false
    const inTime = new Promise<never>((_, reject) => {
      forget = clock.after(PREVIEW_MS, () => {
        late = true
        reject(tooLong())
      })
    })
    const stillWanted = (): void => {
      if (late) throw tooLong()
    }
    const made = async (): Promise<PreviewView> => {
      for (const command of preview.reads) requireAutomatic(command, await weighed({ target, cwd: null }, command))
      stillWanted()
      const { kind, text, note, commands } = await preview.make({ stillWanted, most: PREVIEW_BYTES })
      const shown = cutBytes(text, PREVIEW_BYTES, 'start')
      const truncated = shown.length < text.length
      return { kind, title: UNDO_LABEL, commands, text: shown, truncated, note: note || null, at: clock.now() }
    }
    try {
      return await Promise.race([made(), inTime])
    } finally {
      forget()
    }
  }

  const tooLong = (): NomosError =>
    unavailable(`The preview took longer than ${PREVIEW_MS / 1000} seconds and was stopped. Nothing was changed.`)

  const weighed = (place: Place, command: string): Promise<Weighed> =>
    gate.weigh({ agent: 'operator', session: null, runbook: null }, { ...place, command })

  function stop(id: string): void {
    // It may have ended by itself in this moment, which is as good.
    void gate.cancel(id, 'the preview', 'system').catch(() => {})
  }

  async function answer(
    of: string,
    place: Place,
    command: string,
    codes: readonly number[],
    commands: string[],
    live: Set<string>,
    isLate: () => boolean,
  ): Promise<Answer> {
    const asked = { ...place, command, purpose: `Preview of ${of}`, declaredRisk: null, verify: null }
    const before = clock.now()
    const started = await gate.request(OPERATOR, asked)
    // The policy may have changed since it was weighed: nobody is to be asked for a preview. An older request for the same is the
    // operator's own and stays.
    if (started.state === 'pending_approval') {
      if (started.requestedAt >= before) await gate.cancel(started.id, 'the preview', 'system')
      throw conflict(`The preview would itself have to ask: the policy changed while it was made.`)
    }
    commands.push(started.command)
    live.add(started.id)
    if (isLate()) stop(started.id)
    const end = FINAL_STATES.includes(started.state) ? started : await endOf(started.id)
    live.delete(started.id)
    const output = gate.output(end.id)
    const text = output?.text ?? end.output
    const exitCode = end.exitCode ?? -1
    if (isLate()) throw tooLong()
    const answered = end.state === 'completed' || (end.failure === 'exit' && codes.includes(exitCode))
    if (!answered) {
      const last = cutBytes(text.trim(), FAILURE_BYTES, 'end')
      throw unavailable(
        `A read of the preview is ${end.state}: ${end.command}. ${end.stateReason ?? ''}${last === '' ? '' : `\n${last}`}`,
      )
    }
    const bytes = output?.bytes ?? end.outputBytes
    return { text, exitCode, whole: output === null ? !end.truncated : bytes < MOST_ANSWERED }
  }

  function endOf(id: string): Promise<ExecutionView> {
    const over = ended.get(id)
    if (over !== undefined) return Promise.resolve(over)
    return new Promise((resolve) => {
      waiting.set(id, (execution) => {
        waiting.delete(id)
        resolve(execution)
      })
    })
  }

  return { labelOf, show }
}

interface Place {
  readonly target: string
  readonly cwd: string | null
}

/** Throws with the reason in words unless a read would run by itself. */
function requireAutomatic(command: string, { classification, question, decision }: Weighed): void {
  const read = classification.risk === 'read_only'
  if (read && decision.outcome === 'auto') return
  if (!read) {
    const reason = classification.reasons.find(({ risk }) => risk !== 'read_only')
    throw conflict(`There is no preview of it here: "${command}" does not only read. ${reason?.sentence ?? ''}`.trim())
  }
  const { switches } = question
  const why =
    decision.outcome === 'deny'
      ? (decision.trace.find(({ verdict }) => verdict === 'deny')?.sentence ?? 'The policy denies it.')
      : switches.askAboutEverything
        ? '"Ask about everything" is on.'
        : switches.pauseAutomatic
          ? '"Pause automatic runs" is on.'
          : question.neverAuto
            ? 'Nothing runs by itself at this target.'
            : (decision.trace.at(-1)?.sentence ?? 'The policy asks about reads.')
  const would = decision.outcome === 'deny' ? 'A preview would be denied' : 'A preview would itself have to ask'
  throw conflict(`${would}: ${why}`)
}
