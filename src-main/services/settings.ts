import { z } from 'zod'
import type { KeyStorage, ModelSettingsInput, SettingsView } from '../../src-preload/contract/model'
import type { Clock, Feed, Log, ModelEndpoint, Secrets, Store } from '../ports'

const Theme = z.enum(['system', 'light', 'dark'])

export interface Settings {
  view(): SettingsView
  /** The endpoint as set; null while the address or the model is missing. */
  endpoint(): ModelEndpoint | null
  saveModel(input: ModelSettingsInput): SettingsView
  savePreferences(input: { readonly theme: z.infer<typeof Theme>; readonly letterShortcuts: boolean }): SettingsView
  ui(): Readonly<Record<string, string | number | boolean | null>>
  saveUi(values: Readonly<Record<string, string | number | boolean | null>>): void
}

const UiValue = z.union([z.string(), z.number(), z.boolean(), z.null()])

export function createSettings(deps: {
  readonly store: Store
  readonly secrets: Secrets
  readonly feed: Feed
  readonly clock: Clock
  readonly log: Log
}): Settings {
  const { store, secrets, feed, clock, log } = deps
  /** Where the system has no keyring that really encrypts, the key lives here and ends with the app. */
  let keyInMemory: string | null = null

  function storedKey(): string | null {
    const sealed = store.setting('model.key')
    if (sealed === null || !secrets.available) return null
    try {
      return secrets.decrypt(Buffer.from(sealed, 'base64'))
    } catch (error) {
      log.warn('the stored model key cannot be decrypted; it has to be entered again', { error: String(error) })
      return null
    }
  }

  const key = (): string | null => keyInMemory ?? storedKey()

  function keyStorage(): KeyStorage {
    if (keyInMemory !== null) return 'memory'
    return storedKey() === null ? 'none' : 'keyring'
  }

  const settings: Settings = {
    view: () => ({
      model: {
        baseUrl: store.setting('model.baseUrl') ?? '',
        model: store.setting('model.name') ?? '',
        keyStorage: keyStorage(),
        keyringAvailable: secrets.available,
        keyringBackend: secrets.backend,
      },
      theme: Theme.catch('system').parse(store.setting('ui.theme')),
      letterShortcuts: store.setting('ui.letterShortcuts') !== 'off',
    }),

    endpoint() {
      const baseUrl = store.setting('model.baseUrl') ?? ''
      const model = store.setting('model.name') ?? ''
      return baseUrl === '' || model === '' ? null : { baseUrl, model, apiKey: key() }
    },

    saveModel(input) {
      store.saveSetting('model.baseUrl', input.baseUrl === '' ? null : input.baseUrl)
      store.saveSetting('model.name', input.model === '' ? null : input.model)
      if (input.apiKey !== null) {
        keyInMemory = null
        store.saveSetting('model.key', null)
        if (input.apiKey !== '') {
          if (secrets.available)
            store.saveSetting('model.key', Buffer.from(secrets.encrypt(input.apiKey)).toString('base64'))
          else keyInMemory = input.apiKey
        }
      }
      store.appendLedger(
        {
          kind: 'setting.changed',
          actor: 'operator',
          executionId: null,
          approvalId: null,
          data: {
            name: 'model',
            baseUrl: input.baseUrl,
            model: input.model,
            key: input.apiKey === null ? 'kept' : keyStorage(),
          },
        },
        clock.now(),
      )
      feed.publish({ type: 'settings' })
      return settings.view()
    },

    savePreferences(input) {
      store.saveSetting('ui.theme', input.theme)
      store.saveSetting('ui.letterShortcuts', input.letterShortcuts ? 'on' : 'off')
      feed.publish({ type: 'settings' })
      return settings.view()
    },

    ui() {
      const values: Record<string, string | number | boolean | null> = {}
      for (const [name, text] of Object.entries(store.settings('window.'))) {
        try {
          values[name] = UiValue.parse(JSON.parse(text))
        } catch {
          // What a window remembered is a comfort, never a reason to stop.
        }
      }
      return values
    },

    saveUi(values) {
      for (const [name, value] of Object.entries(values)) {
        store.saveSetting(`window.${name}`, value === null ? null : JSON.stringify(value))
      }
    },
  }
  return settings
}
