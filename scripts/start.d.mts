/** The types of `start.mjs` for the tests and benches that are written in TypeScript. */
export interface ElectronCommand {
  executable: string
  /** Flags, then the folder of the app, then the arguments for it. */
  args: string[]
  flags: string[]
  env: Record<string, string>
  kind: 'official' | 'development'
  version: string
  reason: string
  notes: string[]
}

export function electronCommand(options?: {
  folder?: string
  args?: string[]
  env?: Record<string, string | undefined>
}): ElectronCommand
