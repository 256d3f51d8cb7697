import { resolve } from 'node:path'
import { _electron, type ElectronApplication } from 'playwright'
import { electronCommand } from '../../../scripts/start.mjs'

const root = resolve(import.meta.dirname, '../../..')

/** Starts the real app without waiting for a window. */
export async function launchHidden(
  home: string,
  env: Readonly<Record<string, string>>,
  flags: readonly string[] = ['--hidden'],
): Promise<ElectronApplication> {
  const command = electronCommand()
  const clean: Record<string, string> = {}
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && !name.startsWith('NOMOS_') && !name.startsWith('VITEST')) clean[name] = value
  }
  return _electron.launch({
    executablePath: command.executable,
    args: [...command.flags, ...flags, root],
    env: { ...clean, ...command.env, NOMOS_HOME: home, CI: '1', ...env },
  })
}
