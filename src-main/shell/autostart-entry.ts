import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The entry that starts Nomos with the login, hidden. */
export interface Autostart {
  status(): { readonly available: boolean; readonly on: boolean; readonly sentence: string }
  /** @throws Error with a sentence when it cannot be done */
  apply(on: boolean): void
}

export const NOT_PACKAGED =
  'Starting with the login is not available: this Nomos runs from a checkout. An installed one can be started so.'

/** One word of an `Exec` line, quoted as the Desktop Entry Specification wants it. */
export function execWord(word: string): string {
  const quoted = `"${word.replace(/["`$\\]/g, (character) => `\\${character}`)}"`
  // The value is a string of its own, in which a backslash stands twice; a percent sign would be a field code.
  return quoted.replace(/\\/g, '\\\\').replace(/%/g, '%%')
}

/** The file itself. @throws Error for a word that no `Exec` line can hold */
export function autostartEntry(command: readonly string[]): string {
  if (command.some((word) => /[\n\r\0]/.test(word))) throw new Error('The path of Nomos holds a line break.')
  return [
    '[Desktop Entry]',
    'Type=Application',
    'Name=Nomos',
    'Comment=Keeps watch over what your machines are asked to do',
    `Exec=${command.map(execWord).join(' ')}`,
    'Icon=nomos',
    'Terminal=false',
    'X-GNOME-Autostart-enabled=true',
    '',
  ].join('\n')
}

/** An entry in the autostart folder of freedesktop.org. `command` is null where there is nothing that could be started. */
export function xdgAutostart(folder: string, command: readonly string[] | null): Autostart {
  const file = join(folder, 'nomos.desktop')
  const on = (): boolean => {
    try {
      return !/^Hidden\s*=\s*true\s*$/m.test(readFileSync(file, 'utf8'))
    } catch {
      return false
    }
  }
  return {
    status() {
      if (command === null) return { available: false, on: on(), sentence: NOT_PACKAGED }
      return {
        available: true,
        on: on(),
        sentence: on() ? `Nomos starts with the login, by ${file}.` : 'Nomos does not start with the login.',
      }
    },
    apply(wanted) {
      if (!wanted) {
        try {
          if (existsSync(file)) rmSync(file)
        } catch (error) {
          const why = error instanceof Error ? error.message : String(error)
          throw new Error(`${file} cannot be removed: ${why}. Remove it yourself, or make its folder writable.`)
        }
        return
      }
      if (command === null) throw new Error(NOT_PACKAGED)
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 })
        writeFileSync(file, autostartEntry(command), { mode: 0o644 })
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error)
        throw new Error(
          `${file} cannot be written: ${why}. Make its folder writable, or leave "Start with the login" off.`,
        )
      }
    },
  }
}
