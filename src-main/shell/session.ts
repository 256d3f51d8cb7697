import { session } from 'electron'

/** Electron grants permissions unless told otherwise. This app needs none of them. */
export function denyPermissions(): void {
  const { defaultSession } = session
  defaultSession.setPermissionRequestHandler((_contents, _permission, answer) => answer(false))
  defaultSession.setPermissionCheckHandler(() => false)
  defaultSession.setDevicePermissionHandler(() => false)
  // Whatever a page might try to fetch: only our own scheme leaves the door.
  defaultSession.webRequest.onBeforeRequest((details, answer) => {
    const inside =
      details.url.startsWith('nomos://app/') || details.url.startsWith('devtools:') || details.url.startsWith('data:')
    answer({ cancel: !inside })
  })
  defaultSession.on('will-download', (event) => event.preventDefault())
}
