import { useWorld } from '../bridge/stores'
import { useUi } from '../bridge/ui'
import { Dialog } from '../parts/Dialog'
import { modifier } from './shortcuts'

/** Every shortcut, in one list. */
export function ShortcutList() {
  const letters = useWorld((world) => world.settings?.letterShortcuts ?? false)
  const mod = modifier()
  const always: readonly (readonly [readonly string[], string])[] = [
    [[mod, 'K'], 'Commands: everything is in there'],
    [[mod, '1–6'], 'Go to a room'],
    [['/'], 'Write a message or a command'],
    [['Esc'], 'Close the topmost thing'],
    [['?'], 'This list'],
    [['Enter'], 'Send the message'],
    [['Shift', 'Enter'], 'New line in the message'],
    [['↑'], 'Bring back the last message, in an empty field'],
  ]
  const onCards: readonly (readonly [readonly string[], string])[] = [
    [['J'], 'Next card'],
    [['K'], 'Previous card'],
    [['A', 'A'], 'Approve the focused card once: press twice within two seconds. Never for destructive ones'],
    [['D'], 'Deny the focused card'],
    [['S'], 'Stop what runs on the focused card'],
  ]
  const table = (rows: typeof always) => (
    <dl className="grid grid-cols-[110px_minmax(0,1fr)] gap-x-3 gap-y-1.5">
      {rows.map(([keys, what]) => (
        <div className="contents" key={what}>
          <dt className="space-x-1 text-right">
            {keys.map((key, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the same key may stand twice
              <kbd className="kbd" key={index}>
                {key}
              </kbd>
            ))}
          </dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
  )
  return (
    <Dialog onClose={() => useUi.setState({ overlay: null })} title="Keyboard">
      <div className="space-y-4 overflow-y-auto px-4 py-3">
        {table(always)}
        <h3 className="font-semibold">On cards</h3>
        {letters ? null : (
          <p className="text-ink-2">Single letters are switched off. They can be switched on in Settings.</p>
        )}
        {table(onCards)}
      </div>
    </Dialog>
  )
}
