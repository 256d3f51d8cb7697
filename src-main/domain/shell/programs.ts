import { parseShell } from './parse'
import type { Word } from './types'
import { programName, SHELLS } from './unwrap'

/** What a command starts: the names of its programs as typed and the one script file an interpreter is given, if it is concrete. */
export interface ProgramsOf {
  readonly programs: readonly string[]
  readonly fileOperand: string | null
}

const INTERPRETER = /^(?:python[\d.]*|pypy[\d.]*|node|nodejs|deno|bun|ruby|perl|php|lua[\d.]*|tclsh|Rscript|source|\.)$/

/** Interpreter options that only stand before a script file; any other one may mean that the file is not the first operand. */
const HARMLESS_FLAG = /^(?:-[BbdEIOsSuvqx]|-[eux]+|--norc|--noprofile|--posix|-W\w+)$/

/** `sudo` and its user are not what runs. */
function afterSudo(words: readonly Word[]): readonly Word[] {
  if (programName(words[0]) !== 'sudo') return words
  let i = 1
  for (; i < words.length; i++) {
    const text = words[i]?.shape ?? ''
    if (text === '--') return words.slice(i + 1)
    if (/^-(?:u|g)$/.test(text)) i++
    else if (!text.startsWith('-')) break
  }
  return words.slice(i)
}

/**
 * The decoded names of the simple commands, in order, as typed. A name that is only known at run time is left out. The file
 * operand is given for a single simple command that is an interpreter with one concrete script, or itself a path.
 */
export function programsOf(command: string): ProgramsOf {
  const parsed = parseShell(command)
  const commands = parsed.commands.map((simple) => afterSudo(simple.words)).filter((words) => words.length > 0)
  const programs: string[] = []
  for (const words of commands) {
    const name = words[0]?.value
    if (name !== null && name !== undefined && name !== '' && !programs.includes(name)) programs.push(name)
  }
  const words = commands[0]
  if (commands.length !== 1 || !words || parsed.findings.length > 0) return { programs, fileOperand: null }
  return { programs, fileOperand: fileOperand(words) }
}

function fileOperand(words: readonly Word[]): string | null {
  const typed = words[0]?.value
  if (typed === null || typed === undefined) return null
  const name = programName(words[0])
  if (SHELLS.has(name) || INTERPRETER.test(name)) {
    for (let i = 1; i < words.length; i++) {
      const value = words[i]?.value
      if (value === null || value === undefined) return null
      if (value === '--') return words[i + 1]?.value ?? null
      if (HARMLESS_FLAG.test(value)) continue
      return value.startsWith('-') ? null : value
    }
    return null
  }
  return typed.includes('/') ? typed : null
}
