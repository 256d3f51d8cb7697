import type { RuleSet } from '../risk'
import { resolve, secretOf, whereabouts } from '../risk/paths'

/** Whether a file is one that the risk rules call secret, or lies in Nomos's own folder. */
export function namesSecret(
  path: string,
  given: { readonly rules: RuleSet; readonly homeFolder: string | null; readonly nomosHome: string | null },
): boolean {
  const where = whereabouts({ homeFolder: given.homeFolder, nomosHome: given.nomosHome })
  const real = resolve(where, path)
  if (where.homes.some((home) => real === home || real.startsWith(`${home}/`))) return true
  return secretOf(given.rules, where, { shape: path, dynamic: [] }) !== null
}
