import { useState } from 'react'
import type { Failure, PolicyFileView, PolicyInspection, PolicyView } from '../../../src-preload/contract'
import { failureOf, request } from '../../bridge/client'
import { useScope } from '../../bridge/scope'
import { useWorld } from '../../bridge/stores'
import { FailureText } from '../../parts/FailureText'
import { Fold } from '../../parts/Fold'
import { clock } from '../../parts/time'
import { useNow } from '../../parts/useNow'
import { Visible } from '../../parts/Visible'
import { beginEdit, Editor } from './Editor'
import { type Layer, meaningOf } from './fields'
import { readInspection, useRoom } from './room'
import { SideBySide } from './SideBySide'
import { CompoundSetting, Switches } from './Switches'

function sourceText({ source }: PolicyView): string {
  switch (source) {
    case 'file':
      return 'The host’s part is from the exec-approvals file:'
    case 'absent':
      return 'There is no exec-approvals file, so the cautious default holds. It would be at:'
    case 'broken':
      return 'The exec-approvals file cannot be read, so nothing may run until it is mended or set aside:'
  }
}

/** Which file something is from, where it is, and what is wrong with it. */
function FileLine({
  file,
  sentence,
  testId,
}: {
  readonly file: Pick<PolicyFileView, 'source' | 'path' | 'problem'>
  readonly sentence: string
  readonly testId: string
}) {
  return (
    <div className="space-y-1">
      <p className={file.source === 'broken' ? 'text-destructive' : 'text-ink-2'} data-testid={testId}>
        {sentence}{' '}
        <code className="break-all font-mono text-code text-ink">
          <Visible text={file.path} />
        </code>
      </p>
      {file.problem === null ? null : (
        <p className="break-words text-destructive">
          <Visible text={file.problem} />
        </p>
      )}
    </div>
  )
}

function configText({ source }: PolicyFileView): string {
  switch (source) {
    case 'file':
      return 'What is requested is from:'
    case 'absent':
      return 'Nothing is requested beyond the built-in values. The file for it would be at:'
    case 'broken':
      return 'The file with what is requested cannot be read, so nothing may run until it is mended or restored:'
  }
}

const EDITS: readonly (readonly [Layer, string])[] = [
  ['requested', 'Edit what is requested…'],
  ['host', 'Edit what the host allows…'],
  ['both', 'Edit both…'],
]

function broken(inspection: PolicyInspection, layer: Layer): boolean {
  return (
    (layer !== 'host' && inspection.requested.file.source === 'broken') ||
    (layer !== 'requested' && inspection.host.file.source === 'broken')
  )
}

/** The last save can be taken back, here and whatever part of the room it was made in. */
export function Undo({ inspection }: { readonly inspection: PolicyInspection }) {
  const saved = useRoom((room) => room.saved)
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<Failure | null>(null)
  const now = useNow(60_000)
  const last = inspection.undo[0]
  const undo = async (): Promise<void> => {
    setBusy(true)
    setFailure(null)
    try {
      const done = await request('policy.undo', {})
      useRoom.setState({ saved: { what: 'Taken back.', diff: done.diff } })
      await readInspection()
    } catch (error) {
      setFailure(failureOf(error))
    }
    setBusy(false)
  }
  if (last === undefined && saved === null && failure === null) return null
  return (
    <div className="space-y-1" data-testid="policy-undo-line">
      {saved === null ? null : (
        <div role="status">
          <p className="text-ink" data-testid="policy-saved">
            <Visible text={saved.what} />
          </p>
          {saved.diff.length === 0 ? null : (
            <Fold label="What changed">
              <pre className="exact mt-1 font-mono text-code text-ink-2">
                <Visible text={saved.diff.filter((line) => !line.startsWith('  ')).join('\n')} />
              </pre>
            </Fold>
          )}
        </div>
      )}
      {failure === null ? null : <FailureText failure={failure} testId="undo-failure" />}
      {last === undefined ? null : (
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-ink-2">
          <span className="min-w-0 break-words">
            Last save, {clock(last.at, now)}: <Visible text={last.what} />
          </span>
          <button
            className="btn btn-small"
            data-testid="policy-undo"
            disabled={busy}
            onClick={() => void undo()}
            type="button"
          >
            {busy ? 'Taking it back…' : 'Take it back'}
          </button>
        </p>
      )}
    </div>
  )
}

/** What was typed for the session that is looked at, and the way to end it. */
function SessionWords({ inspection }: { readonly inspection: PolicyInspection }) {
  const [failure, setFailure] = useState<Failure | null>(null)
  const { session } = inspection
  const typed = Object.values(inspection.requested.layer).some(({ from }) => from === 'session' || from === 'elevated')
  if (session === null || (!typed && !inspection.elevated)) return null
  const end = async (): Promise<void> => {
    setFailure(null)
    try {
      useWorld.setState({ policy: await request('policy.clearSession', { session }) })
    } catch (error) {
      setFailure(failureOf(error))
    }
    await readInspection()
  }
  return (
    <div className="flex flex-wrap items-center gap-3" data-testid="session-words">
      <span>Something was typed for this session alone (/exec or /elevated).</span>
      <button className="btn btn-small" data-testid="session-clear" onClick={() => void end()} type="button">
        End it
      </button>
      {failure === null ? null : <FailureText failure={failure} />}
    </div>
  )
}

/** Programs that are trusted by shape or by a skill, apart from the allowlist. */
function Trusted({ inspection }: { readonly inspection: PolicyInspection }) {
  return (
    <section aria-labelledby="trusted" className="space-y-2">
      <h2 className="font-semibold" id="trusted">
        Trusted without an entry
      </h2>
      <p className="text-ink-2">
        Safe programs only transform what is piped into them, so they are let through in a line whose other parts are
        allowed. File operands and odd options make them ask.
      </p>
      <ul className="flex flex-wrap gap-2" data-testid="safe-bins">
        {inspection.safeBins.map((bin) => (
          <li key={bin.name}>
            <span
              className={`inline-block rounded border px-1.5 font-mono text-code ${bin.problem === null ? 'border-line text-ink' : 'border-destructive text-destructive'}`}
              title={fromWord(bin.from)}
            >
              <Visible text={bin.name} />
            </span>
            {bin.problem === null ? null : (
              <span className="ml-1.5 text-destructive">
                <Visible text={bin.problem} />
              </span>
            )}
          </li>
        ))}
      </ul>
      <p className="break-words text-ink-2" data-testid="skills">
        {meaningOf('autoAllowSkills', inspection.autoAllowSkills)}{' '}
        {inspection.autoAllowSkills && inspection.skills.length > 0 ? (
          <code className="font-mono text-code text-ink">
            <Visible text={inspection.skills.join(' ')} />
          </code>
        ) : null}
      </p>
    </section>
  )
}

const fromWord = (from: string): string => (from === 'built-in' ? 'built in' : `from ${from}`)

/** What holds for the scope, side by side, and the way to change it. */
export function Holds() {
  const policy = useWorld((world) => world.policy)
  const inspection = useRoom((room) => room.inspection)
  const edit = useRoom((room) => room.edit)
  const agent = useScope((scope) => scope.agent)
  return (
    <>
      <Switches />
      <section aria-labelledby="holds" className="space-y-3">
        <h2 className="font-semibold" id="holds">
          What holds
        </h2>
        {/* As the snapshot knows it: shown also while the rest cannot be read. */}
        {policy === null ? null : <FileLine file={policy} sentence={sourceText(policy)} testId="policy-source" />}
        {inspection === null ? null : (
          <>
            <FileLine
              file={inspection.requested.file}
              sentence={configText(inspection.requested.file)}
              testId="config-source"
            />
            {inspection.managedBy === 'node' ? (
              <p className="rounded border border-change px-3 py-2" data-testid="managed-by-node">
                {inspection.target} has a policy of its own. What is saved here does not reach it: change it there with{' '}
                <code className="font-mono text-code">nomos approvals</code>.
              </p>
            ) : null}
            {inspection.toolDenied ? (
              <p className="text-destructive" data-testid="tool-denied">
                tools.deny names run for this agent: nothing it asks for is run, whatever stands below.
              </p>
            ) : null}
            <SideBySide inspection={inspection} />
            <SessionWords inspection={inspection} />
            {edit === null ? (
              <div className="flex flex-wrap gap-2">
                {EDITS.map(([layer, label]) => (
                  <button
                    className="btn"
                    data-testid={`policy-edit-${layer}`}
                    disabled={broken(inspection, layer) || (inspection.managedBy === 'node' && layer !== 'requested')}
                    key={layer}
                    onClick={() => beginEdit(inspection, layer, agent)}
                    type="button"
                  >
                    {label}
                  </button>
                ))}
              </div>
            ) : (
              <Editor agent={agent} edit={edit} inspection={inspection} />
            )}
            <Undo inspection={inspection} />
          </>
        )}
      </section>
      <CompoundSetting />
      {inspection === null ? null : (
        <>
          <Trusted inspection={inspection} />
          <p className="text-meta text-ink-3">
            Version <code className="break-all font-mono">{inspection.version}</code>
          </p>
        </>
      )}
    </>
  )
}
