import type { Word } from '../shell'
import type { Where } from './paths'
import type { RuleSet, ScriptKind } from './rules'
import { sedOnlyPrints } from './sed'

/** What a script is judged with: the words behind the program's name, the options that were met and the operands in order. */
export interface ScriptUse {
  readonly words: readonly Word[]
  readonly seen: ReadonlySet<string>
  readonly operands: readonly Word[]
  readonly where: Where
  readonly rules: RuleSet
}

/** Why a script in one of the mini-languages is more than a read, in one sentence; null when it only reads. */
export function scriptProblem(kind: ScriptKind, use: ScriptUse): string | null {
  switch (kind) {
    case 'sed':
      return sedScripts(use) ? null : 'This sed script may do more than print.'
    case 'awk':
    case 'jq':
    case 'sql':
      return `This ${kind} script is not known to only read.`
  }
}

/** With `-e` every script is an option's value, otherwise the first operand is the script. */
function sedScripts({ words, seen, operands }: ScriptUse): boolean {
  if (!seen.has('-e') && !seen.has('--expression')) return sedOnlyPrints(operands[0]?.value ?? 'w')
  for (let i = 0; i < words.length; i++) {
    const text = words[i]?.value ?? ''
    let script: string | undefined
    if (text === '--') break
    if (text.startsWith('--expression=')) script = text.slice(13)
    else if (text === '--expression') script = words[++i]?.value ?? 'w'
    else {
      const match = /^-[nErsuz]*e([\s\S]*)$/.exec(text)
      if (match) script = match[1] || (words[++i]?.value ?? 'w')
    }
    if (script !== undefined && !sedOnlyPrints(script)) return false
  }
  return true
}
