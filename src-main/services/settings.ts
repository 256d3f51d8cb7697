import { z } from 'zod'
import { NomosError } from '../../src-preload/contract/errors'
import {
  Compound,
  type DesktopSettings,
  type KeyStorage,
  type ModelSettingsInput,
  NotificationUse,
  type SettingsView,
} from '../../src-preload/contract/model'
import type { Clock, Desktop, Feed, Log, ModelEndpoint, Secrets, Store } from '../ports'

const Theme = z.enum(['system', 'light', 'dark'])

export interface Settings {
  view(): SettingsView
  /** The endpoint as set; null while the address or the model is missing. */
  endpoint(): ModelEndpoint | null
  saveModel(input: ModelSettingsInput): SettingsView
  savePreferences(input: {
    readonly theme: z.infer<typeof Theme>
    readonly letterShortcuts: boolean
    readonly commandHighlighting?: boolean | undefined
  }): SettingsView
  /** Whether a line of several commands may count as a read. Anything unreadable counts as `never`. */
  compound(): Compound
  /** Policy, so it is written into the ledger; plans that were agreed to under another value do not run any more. */
  saveCompound(compound: Compound): SettingsView
  desktop(): DesktopSettings
  /** Throws `unavailable` when the desktop refuses; nothing is saved then. */
  saveDesktop(input: DesktopSettings): Promise<SettingsView>
  ui(): Readonly<Record<string, string | number | boolean | null>>
  saveUi(values: Readonly<Record<string, string | number | boolean | null>>): void
}

/** The name the posture is stored under; the policy version is worked out from it as well. */
export const COMPOUND_SETTING = 'policy.compound'

const UiValue = z.union([z.string(), z.number(), z.boolean(), z.null()])

export function createSettings(deps: {
  readonly store: Store
  readonly secrets: Secrets
  readonly feed: Feed
  readonly clock: Clock
  readonly log: Log
  /** `tools.exec.commandHighlighting` of config.json: what holds until somebody chooses in the window. */
  readonly highlighting?: () => boolean
  readonly desktop?: Desktop | null
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

  function highlighting(): boolean {
    const chosen = store.setting('ui.commandHighlighting')
    return chosen === null ? (deps.highlighting?.() ?? false) : chosen === 'on'
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
      commandHighlighting: highlighting(),
      compound: settings.compound(),
      desktop: settings.desktop(),
      desktopStatus: deps.desktop?.status() ?? null,
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
      if (input.commandHighlighting !== undefined)
        store.saveSetting('ui.commandHighlighting', input.commandHighlighting ? 'on' : 'off')
      feed.publish({ type: 'settings' })
      return settings.view()
    },

    compound: () => Compound.catch('never').parse(store.setting(COMPOUND_SETTING)),

    saveCompound(compound) {
      if (settings.compound() === compound) return settings.view()
      store.saveSetting(COMPOUND_SETTING, compound === 'never' ? null : compound)
      store.appendLedger(
        {
          kind: 'setting.changed',
          actor: 'operator',
          executionId: null,
          approvalId: null,
          data: { name: 'compound', compound },
        },
        clock.now(),
      )
      feed.publish({ type: 'settings' })
      feed.publish({ type: 'policy' })
      return settings.view()
    },

    desktop() {
      const on = (name: string, otherwise: boolean): boolean => {
        const value = store.setting(`desktop.${name}`)
        return value === null ? otherwise : value === 'on'
      }
      return {
        closeToTray: on('closeToTray', true),
        startHidden: on('startHidden', false),
        autostart: on('autostart', false),
        notifications: NotificationUse.catch('away').parse(store.setting('desktop.notifications') ?? 'away'),
      }
    },

    async saveDesktop(input) {
      try {
        await deps.desktop?.apply(input)
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error)
        throw new NomosError('unavailable', `Nothing was saved: ${why}`, { field: 'autostart' })
      }
      for (const name of ['closeToTray', 'startHidden', 'autostart'] as const)
        store.saveSetting(`desktop.${name}`, input[name] ? 'on' : 'off')
      store.saveSetting('desktop.notifications', input.notifications)
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
