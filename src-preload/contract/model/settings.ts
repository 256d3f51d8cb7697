import { z } from 'zod'
import { DesktopSettings, DesktopStatus } from './desk'

/** How a model key is kept: nowhere yet, encrypted by the system's keyring, or in memory only until the app ends. */
export const KeyStorage = z.enum(['none', 'keyring', 'memory'])
export type KeyStorage = z.infer<typeof KeyStorage>

export const ModelSettingsInput = z.object({
  baseUrl: z
    .string()
    .trim()
    .refine(
      (value) => value === '' || /^https?:\/\/[^\s]+$/.test(value),
      'use an address that begins with http:// or https://',
    ),
  model: z.string().trim().max(200),
  /** null leaves the stored key as it is, an empty text removes it. */
  apiKey: z.string().max(4096).nullable(),
})
export type ModelSettingsInput = z.infer<typeof ModelSettingsInput>

/** Whether a line of several commands may count as a read when every part of it is one. */
export const Compound = z.enum(['never', 'every-segment'])
export type Compound = z.infer<typeof Compound>

export const SettingsView = z
  .object({
    model: z
      .object({
        baseUrl: z.string(),
        model: z.string(),
        keyStorage: KeyStorage,
        /** False when the system has no keyring that really encrypts: a key is then kept in memory only. */
        keyringAvailable: z.boolean(),
        keyringBackend: z.string(),
      })
      .readonly(),
    theme: z.enum(['system', 'light', 'dark']),
    letterShortcuts: z.boolean(),
    /** Colours the parts of a command on its card; what is risky is marked with or without it. */
    commandHighlighting: z.boolean(),
    compound: Compound,
    desktop: DesktopSettings,
    /** null on a headless host. */
    desktopStatus: DesktopStatus.nullable(),
  })
  .readonly()
export type SettingsView = z.infer<typeof SettingsView>

/** A fault that stops runs until somebody resolves it. */
export const HealthProblem = z
  .object({
    code: z.enum([
      'database_corrupt',
      'database_locked',
      'ledger_broken',
      'approvals_file_broken',
      'config_file_broken',
      'rules_broken',
      'control_socket',
    ]),
    /** What happened, why, what to do. */
    sentence: z.string(),
    path: z.string().nullable(),
    /** True while nothing may run because of it. */
    blocksRuns: z.boolean(),
    /** What the operator can choose here, with the words for the button. */
    actions: z.array(z.object({ id: z.string(), label: z.string() }).readonly()).readonly(),
  })
  .readonly()
export type HealthProblem = z.infer<typeof HealthProblem>

export const DoctorCheck = z
  .object({
    number: z.number().int(),
    name: z.string(),
    status: z.enum(['ok', 'warning', 'failed']),
    found: z.string(),
    remedy: z.string().nullable(),
  })
  .readonly()
export type DoctorCheck = z.infer<typeof DoctorCheck>
