import { type ChangeEvent, type FormEvent, useState } from 'react'
import type { Failure, SettingsView } from '../../../src-preload/contract'
import { failureOf, request } from '../../bridge/client'
import { useWorld } from '../../bridge/stores'
import { FailureText } from '../../parts/FailureText'
import { Field } from '../../parts/Field'

const EXAMPLES = [
  { name: 'OpenRouter', baseUrl: 'https://openrouter.ai/api/v1' },
  { name: 'OpenAI', baseUrl: 'https://api.openai.com/v1' },
  { name: 'Ollama', baseUrl: 'http://127.0.0.1:11434/v1' },
  { name: 'llama.cpp', baseUrl: 'http://127.0.0.1:8080/v1' },
] as const

function keyText(model: SettingsView['model']): string {
  const where = model.keyringAvailable
    ? `A key is encrypted by the keyring of this system (${model.keyringBackend}).`
    : 'This system has no keyring that really encrypts, so a key is kept in memory only and has to be entered again after a restart.'
  switch (model.keyStorage) {
    case 'none':
      return `No key is stored. ${where}`
    case 'keyring':
      return `A key is stored, encrypted by the keyring of this system (${model.keyringBackend}). Leave this empty to keep it.`
    case 'memory':
      return 'A key is kept in memory only, until Nomos ends. Leave this empty to keep it.'
  }
}

/** Which model answers in the chat. */
export function ModelForm({ settings }: { readonly settings: SettingsView }) {
  const { model } = settings
  const [form, setForm] = useState({ baseUrl: model.baseUrl, model: model.model, apiKey: '' })
  const [busy, setBusy] = useState(false)
  const [saved, setSaved] = useState(false)
  const [failure, setFailure] = useState<Failure | null>(null)
  const field = failure?.field?.split('.').at(-1) ?? null
  const known = field === 'baseUrl' || field === 'model' || field === 'apiKey'

  const save = async (apiKey: string | null): Promise<void> => {
    setBusy(true)
    setSaved(false)
    setFailure(null)
    try {
      const next = await request('settings.saveModel', { ...form, apiKey })
      useWorld.setState({ settings: next })
      setForm({ baseUrl: next.model.baseUrl, model: next.model.model, apiKey: '' })
      setSaved(true)
    } catch (error) {
      setFailure(failureOf(error))
    }
    setBusy(false)
  }
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    void save(form.apiKey === '' ? null : form.apiKey)
  }
  const set = (patch: Partial<typeof form>): void => {
    setForm({ ...form, ...patch })
    setSaved(false)
    setFailure(null)
  }
  const bound = (name: keyof typeof form, testId: string) => ({
    error: failure !== null && field === name ? failure.message : null,
    mono: true,
    onChange: (event: ChangeEvent<HTMLInputElement>) => set({ [name]: event.target.value }),
    testId,
    value: form[name],
  })
  return (
    <section aria-labelledby="model" className="space-y-3">
      <h2 className="font-semibold" id="model">
        Model
      </h2>
      <form className="space-y-4" noValidate onSubmit={submit}>
        <div>
          <Field
            {...bound('baseUrl', 'model-base-url')}
            hint="An OpenAI-compatible endpoint. Empty: no model, only /run."
            label="Base URL"
          />
          <div className="mt-2 flex flex-wrap items-center gap-2 text-ink-2">
            For example
            {EXAMPLES.map((example) => (
              <button
                className="btn btn-small"
                key={example.name}
                onClick={() => set({ baseUrl: example.baseUrl })}
                title={example.baseUrl}
                type="button"
              >
                {example.name}
              </button>
            ))}
          </div>
        </div>
        <Field {...bound('model', 'model-name')} hint="As the endpoint calls it" label="Model" />
        <Field
          {...bound('apiKey', 'model-key')}
          hint={<span data-testid="model-key-storage">{keyText(model)}</span>}
          label="Key"
          type="password"
        >
          {model.keyStorage === 'none' ? null : (
            <button className="btn" disabled={busy} onClick={() => void save('')} type="button">
              Remove the key
            </button>
          )}
        </Field>
        {failure !== null && !known ? <FailureText failure={failure} /> : null}
        <div className="flex items-center gap-3">
          <button className="btn" data-testid="model-save" disabled={busy} type="submit">
            {busy ? 'Saving…' : 'Save the model'}
          </button>
          <span className="text-ink-2" role="status">
            {saved ? 'Saved.' : ''}
          </span>
        </div>
      </form>
    </section>
  )
}
