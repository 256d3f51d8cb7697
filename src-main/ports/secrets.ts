/** Encryption by the system's keyring. `available` is false where the backend would only obfuscate (`basic_text`). */
export interface Secrets {
  readonly available: boolean
  /** e.g. `gnome_libsecret`, `keychain`, `dpapi`, `basic_text`, `none`. */
  readonly backend: string
  /** Throws when not `available`. */
  encrypt(text: string): Uint8Array
  decrypt(bytes: Uint8Array): string
}
