import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { _electron, type ElectronApplication } from 'playwright'
import { electronCommand } from '../../../scripts/start.mjs'

const root = resolve(import.meta.dirname, '../../..')

function environment(home: string, env: Readonly<Record<string, string>>): Record<string, string> {
  const clean: Record<string, string> = {}
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && !name.startsWith('NOMOS_') && !name.startsWith('VITEST')) clean[name] = value
  }
  return { ...clean, ...electronCommand().env, NOMOS_HOME: home, CI: '1', ...env }
}

/** Starts it a second time on the same folder, as a click on its entry in a menu does. Resolves with its exit code. */
export function startAgain(
  home: string,
  env: Readonly<Record<string, string>>,
  flags: readonly string[] = [],
): Promise<number | null> {
  const command = electronCommand()
  const child = spawn(command.executable, [...command.flags, ...flags, root], {
    env: environment(home, env),
    stdio: 'ignore',
  })
  return new Promise((resolve) => child.once('exit', resolve))
}

/** Starts the real app without waiting for a window. */
export async function launchHidden(
  home: string,
  env: Readonly<Record<string, string>>,
  flags: readonly string[] = ['--hidden'],
): Promise<ElectronApplication> {
  const command = electronCommand()
  return _electron.launch({
    executablePath: command.executable,
    args: [...command.flags, ...flags, root],
    env: environment(home, env),
  })
}
