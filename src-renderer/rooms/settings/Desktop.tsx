import { useState } from 'react'
import type { DesktopSettings, Failure, SettingsView } from '../../../src-preload/contract'
import { saveDesktop } from '../../bridge/switches'
import { Choice } from '../../parts/Choice'
import { FailureText } from '../../parts/FailureText'
import { Switch } from '../../parts/Switch'
import { Visible } from '../../parts/Visible'

const USES = [
  { value: 'away', label: 'When no window of Nomos has the focus' },
  { value: 'always', label: 'Always' },
  { value: 'never', label: 'Never' },
] as const satisfies readonly { value: DesktopSettings['notifications']; label: string }[]

/** How Nomos lives on this desktop, with what was found of it. */
export function Desktop({ settings }: { readonly settings: SettingsView }) {
  const { desktop, desktopStatus: status } = settings
  const [failure, setFailure] = useState<Failure | null>(null)
  const save = (patch: Partial<DesktopSettings>): void => void saveDesktop(patch).then(setFailure)
  const found = (sentence: string, testId: string) => (
    <p className="break-words pl-9 text-meta text-ink-3" data-testid={testId}>
      <Visible text={sentence} />
    </p>
  )
  return (
    <section aria-labelledby="desktop" className="space-y-3">
      <h2 className="font-semibold" id="desktop">
        On this desktop
      </h2>
      {status === null ? (
        <p className="text-ink-2" data-testid="desktop-none">
          This Nomos runs without a desktop: there is no tray, no notice and no login to start with. Approvals wait in
          the window and at the command line.
        </p>
      ) : (
        <>
          {failure === null ? null : <FailureText failure={failure} testId="desktop-problem" />}
          <div className="space-y-2">
            <Switch
              disabled={!status.tray.available}
              {...(status.tray.available
                ? { hint: 'Requests still reach you as notices and in the tray menu. Quit is in that menu.' }
                : {})}
              label="Closing the window keeps Nomos in the tray"
              on={desktop.closeToTray && status.tray.available}
              onChange={(closeToTray) => save({ closeToTray })}
              testId="desktop-tray"
            />
            <Switch
              disabled={!status.tray.available}
              {...(status.tray.available ? { hint: 'Only its icon in the tray; a click on it opens the window.' } : {})}
              label="Start hidden"
              on={desktop.startHidden && status.tray.available}
              onChange={(startHidden) => save({ startHidden })}
              testId="desktop-hidden"
            />
            {found(status.tray.sentence, 'desktop-tray-status')}
          </div>
          <div className="space-y-2">
            <Switch
              disabled={!status.autostart.available}
              label="Start with the login"
              on={status.autostart.available && status.autostart.on}
              onChange={(autostart) => save({ autostart })}
              testId="desktop-autostart"
            />
            {found(status.autostart.sentence, 'desktop-autostart-status')}
          </div>
          <div className="space-y-2">
            <Choice
              legend="Notices of the system for what waits"
              onChange={(notifications) => save({ notifications })}
              options={USES.map((use) => ({ ...use, disabled: !status.notifications.available }))}
              stacked
              testId="desktop-notifications"
              value={desktop.notifications}
            />
            <div className="-ml-3 space-y-0.5">
              {found(status.notifications.sentence, 'desktop-notifications-status')}
              {found(status.lock.sentence, 'desktop-lock-status')}
            </div>
          </div>
        </>
      )}
    </section>
  )
}
