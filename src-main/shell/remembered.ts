import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

const Remembered = z.object({
  /** What the settings said last: before the core is there, nothing else can be asked. */
  closeToTray: z.boolean(),
  startHidden: z.boolean(),
  autostart: z.boolean(),
  /** That it stays in the tray was said once. */
  toldOfTray: z.boolean(),
})
export type Remembered = z.infer<typeof Remembered>

/** A few words of the last time, in `<home>/desktop.json`. A comfort: with a broken file it is the first time again. */
export function rememberDesktop(home: string): {
  read(): Remembered
  write(values: Partial<Remembered>): void
} {
  const file = join(home, 'desktop.json')
  let known: Remembered | null = null
  const read = (): Remembered => {
    if (known !== null) return known
    try {
      known = Remembered.parse(JSON.parse(readFileSync(file, 'utf8')))
    } catch {
      known = { closeToTray: true, startHidden: false, autostart: false, toldOfTray: false }
    }
    return known
  }
  return {
    read,
    write(values) {
      const before = read()
      known = { ...before, ...values }
      if (JSON.stringify(known) === JSON.stringify(before)) return
      try {
        writeFileSync(file, JSON.stringify(known), { mode: 0o600 })
      } catch {
        // Then it is asked or told once more the next time.
      }
    },
  }
}
