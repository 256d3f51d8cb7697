/** What a command starts: the names of its programs as typed and the one script file an interpreter is given, if it is concrete. */
export interface ProgramsOf {
  readonly programs: readonly string[]
  readonly fileOperand: string | null
}

/** Nothing is claimed about a text that is not understood: an empty list means that nothing can be pinned. */
export function programsOf(_command: string): ProgramsOf {
  return { programs: [], fileOperand: null }
}
