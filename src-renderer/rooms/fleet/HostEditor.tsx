import { type ChangeEvent, type FormEvent, useEffect, useRef, useState } from 'react'
import type { Failure, HostInput, HostTest } from '../../../src-preload/contract'
import { failureOf, request } from '../../bridge/client'
import { loadHosts } from '../../bridge/sync'
import { FailureText } from '../../parts/FailureText'
import { Field } from '../../parts/Field'
import { Fold } from '../../parts/Fold'
import { duration } from '../../parts/time'
import { Visible } from '../../parts/Visible'
import { type FieldName, fieldOf, type HostForm, inputOf } from './form'

function Key({ name, algorithm, fingerprint }: { name: string; algorithm: string; fingerprint: string }) {
  return (
    <div>
      <dt className="text-ink-3">{name}</dt>
      <dd className="break-all font-mono text-code text-ink">
        <Visible text={`${algorithm} ${fingerprint}`} />
      </dd>
    </div>
  )
}

function Trust({ test, host, onTrusted }: { test: HostTest; host: HostInput; onTrusted: () => void }) {
  const [compared, setCompared] = useState(false)
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<Failure | null>(null)
  const { presented } = test
  if (presented === null) return null
  const trust = async (): Promise<void> => {
    setBusy(true)
    setFailure(null)
    try {
      await request('hosts.trust', { host, fingerprint: presented.fingerprint })
      onTrusted()
    } catch (error) {
      setFailure(failureOf(error))
    }
    setBusy(false)
  }
  return (
    <div className="space-y-2 rounded border border-edge p-3">
      <p>
        Compare this fingerprint with the one of the host, read at its own console:{' '}
        <code className="break-all rounded-sm bg-raised px-1 font-mono text-code">
          ssh-keygen -lf /etc/ssh/ssh_host_
          {presented.algorithm.replace(/^ssh-|^ecdsa-.*/, (match) => (match === 'ssh-' ? '' : 'ecdsa'))}_key.pub
        </code>
      </p>
      <p className="break-all font-mono text-code text-ink">
        <Visible text={presented.fingerprint} />
      </p>
      <label className="flex items-center gap-2">
        <input
          checked={compared}
          data-testid="host-compared"
          onChange={(event) => setCompared(event.target.checked)}
          type="checkbox"
        />
        I compared it, and it is the same
      </label>
      <button
        className="btn"
        data-testid="host-trust"
        disabled={!compared || busy}
        onClick={() => void trust()}
        type="button"
      >
        {busy ? 'Saving…' : 'Trust this key'}
      </button>
      {failure === null ? null : <FailureText failure={failure} />}
    </div>
  )
}

function Result({ test, host, onTrusted }: { test: HostTest; host: HostInput; onTrusted: () => void }) {
  const changed = test.failure === 'host_key_changed'
  return (
    <div className="space-y-2" data-ok={test.ok} data-testid="host-test-result" role="status">
      <p className={`break-words ${test.ok ? 'text-read-only' : 'text-destructive'}`}>
        <Visible text={test.sentence} />
        {test.ok ? <span className="text-ink-2"> · {duration(test.durationMs)}</span> : null}
      </p>
      {test.banner === null ? null : (
        <p className="break-words text-ink-2">
          It answered: <Visible text={test.banner} />
        </p>
      )}
      {test.presented === null && test.known.length === 0 ? null : (
        <dl className="space-y-1">
          {test.known.map((key) => (
            <Key key={key.algorithm + key.fingerprint} name={changed ? 'known until now' : 'known'} {...key} />
          ))}
          {test.presented === null ? null : (
            <Key name={changed ? 'shown now' : 'shown by the host'} {...test.presented} />
          )}
        </dl>
      )}
      {test.detail === null || test.detail === '' ? null : (
        <Fold label="Detail">
          <p className="break-words font-mono text-code text-ink-2">
            <Visible text={test.detail} />
          </p>
        </Fold>
      )}
      {test.failure === 'host_key_unknown' ? <Trust host={host} onTrusted={onTrusted} test={test} /> : null}
    </div>
  )
}

/** The form of one host. Main checks it; each failure is shown at the field it is about. */
export function HostEditor({
  first,
  replaces,
  onClose,
}: {
  readonly first: HostForm
  readonly replaces: string | null
  readonly onClose: (savedSlug: string | null) => void
}) {
  const [form, setForm] = useState(first)
  const [passphrase, setPassphrase] = useState('')
  const [asksPassphrase, setAsksPassphrase] = useState(false)
  const [busy, setBusy] = useState<'save' | 'test' | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [tested, setTested] = useState<{ test: HostTest; host: HostInput } | null>(null)
  const head = useRef<HTMLHeadingElement>(null)
  const wrong = fieldOf(failure)

  useEffect(() => {
    head.current?.scrollIntoView({ block: 'nearest' })
    head.current?.closest('section')?.querySelector<HTMLInputElement>('input')?.focus()
  }, [])

  const set = (patch: Partial<HostForm>): void => {
    setForm({ ...form, ...patch })
    setFailure(null)
    // A result belongs to exactly the values it was made with.
    setTested(null)
  }
  const errorAt = (name: FieldName): string | null => (wrong === name && failure !== null ? failure.message : null)
  const bound = (name: Exclude<FieldName, 'auth'>, testId = `host-${name}`) => ({
    error: errorAt(name),
    mono: true,
    onChange: (event: ChangeEvent<HTMLInputElement>) => set({ [name]: event.target.value }),
    testId,
    value: form[name],
  })

  const test = async (): Promise<void> => {
    const host = inputOf(form)
    setBusy('test')
    setFailure(null)
    setTested(null)
    try {
      const result = await request('hosts.test', { host, passphrase: passphrase === '' ? null : passphrase })
      setTested({ test: result, host })
      const locked = result.failure === 'key_passphrase_needed' || result.failure === 'key_passphrase_wrong'
      if (locked) setAsksPassphrase(true)
      if (result.failure === 'key_passphrase_wrong') setPassphrase('')
    } catch (error) {
      setFailure(failureOf(error))
    }
    setBusy(null)
  }

  const save = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    setBusy('save')
    setFailure(null)
    try {
      const host = await request('hosts.save', { host: inputOf(form), replaces })
      await loadHosts()
      onClose(host.slug)
    } catch (error) {
      setFailure(failureOf(error))
      setBusy(null)
    }
  }

  return (
    <section aria-labelledby="host-editor" className="rounded border border-line bg-panel p-4">
      <h2 className="mb-3 font-semibold" id="host-editor" ref={head}>
        {replaces === null ? 'Add a host' : `Edit host:${replaces}`}
      </h2>
      <form className="space-y-4" noValidate onSubmit={(event) => void save(event)}>
        <div className="grid gap-4 mid:grid-cols-2">
          <Field
            {...bound('slug')}
            hint={
              <>
                What follows <code className="font-mono">host:</code> in commands, such as{' '}
                <code className="font-mono">media</code>
              </>
            }
            label="Name"
          />
          <Field {...bound('user')} label="User" />
          <Field {...bound('address')} hint="A host name or an IP address" label="Address" />
          <Field {...bound('port')} inputMode="numeric" label="Port" />
        </div>
        <fieldset>
          <legend className="mb-1 font-medium">Log in with</legend>
          <div className="flex flex-wrap gap-x-6 gap-y-1">
            <label className="flex items-center gap-2">
              <input
                checked={form.auth === 'agent'}
                data-testid="host-auth-agent"
                name="auth"
                onChange={() => set({ auth: 'agent' })}
                type="radio"
              />
              the running SSH agent
            </label>
            <label className="flex items-center gap-2">
              <input
                checked={form.auth === 'key'}
                data-testid="host-auth-key"
                name="auth"
                onChange={() => set({ auth: 'key' })}
                type="radio"
              />
              a private key file
            </label>
          </div>
          {errorAt('auth') === null ? null : <p className="mt-1 text-destructive">{errorAt('auth')}</p>}
        </fieldset>
        {form.auth === 'key' ? (
          <Field
            {...bound('keyPath', 'host-key')}
            hint="The path of the file; Nomos reads it when it connects and keeps no copy"
            label="Private key"
            placeholder="~/.ssh/id_ed25519"
          />
        ) : null}
        {asksPassphrase && form.auth === 'key' ? (
          <Field
            error={tested?.test.failure === 'key_passphrase_wrong' ? 'This passphrase does not open the key.' : null}
            hint="Kept in memory until Nomos ends, and never written"
            label="Passphrase of the key"
            onChange={(event) => setPassphrase(event.target.value)}
            testId="host-passphrase"
            type="password"
            value={passphrase}
          />
        ) : null}
        <Field
          {...bound('tags')}
          hint="Words that policy can speak of, separated by spaces; on a host tagged prod no change runs by itself"
          label="Tags"
        />
        {failure !== null && wrong === null ? <FailureText failure={failure} testId="host-error" /> : null}
        <div className="flex flex-wrap gap-2">
          <button
            className="btn"
            data-testid="host-test"
            disabled={busy !== null}
            onClick={() => void test()}
            type="button"
          >
            {busy === 'test' ? 'Connecting…' : 'Test connection'}
          </button>
          <button className="btn" data-testid="host-save" disabled={busy !== null} type="submit">
            {busy === 'save' ? 'Saving…' : replaces === null ? 'Save the host' : 'Save the changes'}
          </button>
          <button className="btn btn-plain" onClick={() => onClose(null)} type="button">
            Close
          </button>
        </div>
        {tested === null ? null : (
          <Result
            host={tested.host}
            key={tested.test.presented?.fingerprint}
            onTrusted={() => void test()}
            test={tested.test}
          />
        )}
      </form>
    </section>
  )
}
