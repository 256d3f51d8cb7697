import { safeStorage } from 'electron'
import type { Secrets } from '../ports'

/** On Linux `basic_text` encrypts with a key that is in Chromium's source, which is no protection at all. */
const NOT_REAL: ReadonlySet<string> = new Set(['basic_text', 'unknown'])

function backendName(): string {
  switch (process.platform) {
    case 'darwin':
      return 'keychain'
    case 'win32':
      return 'dpapi'
    default:
      return safeStorage.getSelectedStorageBackend()
  }
}

/** The system's keyring through Electron, asked when it is first needed: the first call may start a keyring service. */
export function systemSecrets(): Secrets {
  let known: { readonly available: boolean; readonly backend: string } | null = null
  const look = (): { readonly available: boolean; readonly backend: string } => {
    if (known === null) {
      const backend = backendName()
      known = { available: safeStorage.isEncryptionAvailable() && !NOT_REAL.has(backend), backend }
    }
    return known
  }
  return {
    get available() {
      return look().available
    },
    get backend() {
      return look().backend
    },
    encrypt: (text) => safeStorage.encryptString(text),
    decrypt: (bytes) => safeStorage.decryptString(Buffer.from(bytes)),
  }
}
