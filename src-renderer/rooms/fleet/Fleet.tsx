import { useEffect, useRef, useState } from 'react'
import type { Failure, Host } from '../../../src-preload/contract'
import { RoomBody, RoomHead } from '../../app/RoomHead'
import { focusComposer } from '../../app/shortcuts'
import { failureOf, request } from '../../bridge/client'
import { useWorld } from '../../bridge/stores'
import { setNeverAuto } from '../../bridge/switches'
import { loadHosts } from '../../bridge/sync'
import { setDraft, useUi } from '../../bridge/ui'
import { FailureText } from '../../parts/FailureText'
import { Switch } from '../../parts/Switch'
import { Visible } from '../../parts/Visible'
import { EMPTY_FORM, formOf, type HostForm } from './form'
import { HostEditor } from './HostEditor'

function runOn(slug: string): void {
  const { session, drafts } = useUi.getState()
  if ((drafts[session ?? 'new'] ?? '') === '') setDraft(session, `/run host:${slug} `)
  focusComposer()
}

/** "Never automatic here": whatever the policy allows, everything that is asked of this target waits for an answer. */
function NeverAuto({ target }: { readonly target: string }) {
  const policy = useWorld((world) => world.policy)
  const [failure, setFailure] = useState<Failure | null>(null)
  if (policy === null) return null
  return (
    <div className="min-w-0">
      <Switch
        label="Never automatic"
        name={`Never automatic on ${target}`}
        on={policy.neverAuto.includes(target)}
        onChange={(on) => void setNeverAuto(target, on).then(setFailure)}
        testId={`never-auto-${target}`}
      />
      {failure === null ? null : <FailureText failure={failure} />}
    </div>
  )
}

function HostRow({ host, onEdit }: { readonly host: Host; readonly onEdit: () => void }) {
  const [removing, setRemoving] = useState(false)
  const [failure, setFailure] = useState<Failure | null>(null)
  const remove = async (): Promise<void> => {
    try {
      await request('hosts.remove', { slug: host.slug })
      await loadHosts()
    } catch (error) {
      setFailure(failureOf(error))
    }
  }
  return (
    <li className="space-y-2 py-2" data-testid={`host-${host.slug}`}>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <span className="min-w-40 break-all font-mono text-code text-ink">host:{host.slug}</span>
        <span className="min-w-0 flex-1 basis-56 break-all text-ink-2">
          <Visible text={`${host.user}@${host.address}${host.port === 22 ? '' : `, port ${host.port}`}`} />
          <span className="text-ink-3">
            {' '}
            · {host.auth === 'agent' ? 'SSH agent' : <Visible text={host.keyPath ?? 'key file'} />}
            <Visible text={host.tags.length === 0 ? '' : ` · ${host.tags.join(', ')}`} />
          </span>
        </span>
        <NeverAuto target={`host:${host.slug}`} />
        <span className="flex gap-2">
          <button
            aria-label={`Run a command on host:${host.slug}`}
            className="btn btn-small"
            onClick={() => runOn(host.slug)}
            type="button"
          >
            Run…
          </button>
          <button aria-label={`Edit host:${host.slug}`} className="btn btn-small" onClick={onEdit} type="button">
            Edit
          </button>
          <button
            aria-label={`Remove host:${host.slug}`}
            className="btn btn-small"
            onClick={() => setRemoving(true)}
            type="button"
          >
            Remove…
          </button>
        </span>
      </div>
      {removing ? (
        <div className="flex flex-wrap items-center gap-2">
          <span>Remove host:{host.slug}? Its history stays in the ledger.</span>
          <button className="btn btn-small" onClick={() => setRemoving(false)} type="button">
            Keep it
          </button>
          <button className="btn btn-danger btn-small" onClick={() => void remove()} type="button">
            Remove the host
          </button>
        </div>
      ) : null}
      {failure === null ? null : <FailureText failure={failure} />}
    </li>
  )
}

/** The machines that commands can run on. */
export default function Fleet() {
  const hosts = useWorld((world) => world.hosts)
  const failure = useWorld((world) => world.hostsFailure)
  const targets = useWorld((world) => world.targets)
  const others = targets.filter(({ kind }) => kind !== 'local' && kind !== 'ssh')
  const [editing, setEditing] = useState<{ form: HostForm; replaces: string | null } | null>(null)
  const [saved, setSaved] = useState<string | null>(null)
  const serial = useRef(0)

  useEffect(() => {
    void loadHosts()
  }, [])

  const edit = (form: HostForm, replaces: string | null): void => {
    serial.current += 1
    setSaved(null)
    setEditing({ form, replaces })
  }
  return (
    <>
      <RoomHead title="Fleet" />
      <RoomBody>
        <section aria-labelledby="hosts">
          <div className="flex items-center gap-3 border-line border-b pb-2">
            <h2 className="grow font-semibold" id="hosts">
              Hosts
            </h2>
            <button className="btn" data-testid="host-add" onClick={() => edit(EMPTY_FORM, null)} type="button">
              Add a host
            </button>
          </div>
          <div role="status">{saved === null ? null : <p className="pt-2 text-ink-2">host:{saved} is saved.</p>}</div>
          {failure === null ? null : <FailureText failure={failure} />}
          <p className="pt-2 text-meta text-ink-3">
            Never automatic: reads ask there as well, and no allowlist, grant or raised session answers for you.
          </p>
          <ul className="divide-y divide-line">
            <li className="flex flex-wrap items-center gap-x-4 py-2">
              <span className="min-w-40 font-mono text-code text-ink">local</span>
              <span className="min-w-0 flex-1 basis-56 text-ink-2">this computer, as the user who started Nomos</span>
              <NeverAuto target="local" />
            </li>
            {(hosts ?? []).map((host) => (
              <HostRow host={host} key={host.slug} onEdit={() => edit(formOf(host), host.slug)} />
            ))}
            {others.map(({ slug }) => (
              <li className="flex flex-wrap items-center gap-x-4 py-2" key={slug}>
                <span className="min-w-40 break-all font-mono text-code text-ink">
                  <Visible text={slug} />
                </span>
                <span className="min-w-0 flex-1 basis-56 text-ink-2">reached over its node</span>
                <NeverAuto target={slug} />
              </li>
            ))}
          </ul>
          {hosts !== null && hosts.length === 0 && editing === null ? (
            <div className="space-y-2 pt-3 text-ink-2">
              <p>No other host yet. A host is reached over SSH, with your agent or a key file, for example:</p>
              <button
                className="btn font-normal"
                onClick={() => edit({ ...EMPTY_FORM, slug: 'media', address: '192.168.1.20', user: 'root' }, null)}
                type="button"
              >
                <span className="font-mono text-code">host:media</span> at root@192.168.1.20
              </button>
            </div>
          ) : null}
        </section>
        {editing === null ? null : (
          <HostEditor
            first={editing.form}
            key={serial.current}
            onClose={(slug) => {
              setEditing(null)
              setSaved(slug)
            }}
            replaces={editing.replaces}
          />
        )}
      </RoomBody>
    </>
  )
}
