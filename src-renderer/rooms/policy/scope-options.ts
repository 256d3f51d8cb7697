import type { PolicyInspection } from '../../../src-preload/contract'
import { ANY_AGENT } from './room'

const WHO: Readonly<Record<string, string>> = { main: 'main (chat and composer)' }

/** The agents there are to choose from, with the one that is chosen. */
export function agentOptions(
  inspection: PolicyInspection | null,
  chosen: string | null,
): readonly { readonly value: string; readonly label: string }[] {
  const names = new Set(['main', ...(inspection?.agents ?? []), ...(chosen === null ? [] : [chosen])])
  names.delete(ANY_AGENT)
  return [...names]
    .sort((a, b) => Number(b === 'main') - Number(a === 'main') || a.localeCompare(b))
    .map((value) => ({ value, label: WHO[value] ?? value }))
}
