import { openSession, setDraft, useUi } from './ui'

/** A command to begin with: in the session that is open it is put into the composer, and not sent. */
export function ExampleCommand({ text }: { readonly text: string }) {
  return (
    <button
      className="btn font-normal"
      onClick={() => {
        openSession(useUi.getState().session)
        setDraft(useUi.getState().session, text)
      }}
      type="button"
    >
      <code className="break-all font-mono text-code">{text}</code>
    </button>
  )
}
