/** Understanding of shell text: our own small tree over the parser, with every word decoded. */
export { literalArgv } from './argv'
export { carriedBy, type Destination, type Invocation, type Unfolded, unfold } from './invocations'
export { findInvisible, MAX_DEPTH, MAX_LENGTH, MAX_OPENINGS, MAX_WRAPPERS } from './limits'
export { type GivenOption, type OptionNames, type ReadWords, readWords } from './options'
export { parseShell } from './parse'
export { type ProgramsOf, programsOf } from './programs'
export { asCommand, quoteAll, quoteIfNeeded } from './quote'
export { scanShell } from './scan'
export { doubtOf } from './second'
export { argvOf, type Dissected, decodedWord, dissect, tokensOf } from './tokens'
export type {
  Assignment,
  Dynamic,
  Enclosure,
  Finding,
  ParsedShell,
  Place,
  Redirection,
  SimpleCommand,
  Word,
} from './types'
export { carries, programName, SHELLS, suspectedName } from './unwrap'
