/** What a command is known to change, and how that is taken back. Pure. */
export { quoteAll, quoteIfNeeded } from '../shell'
export { type Change, type Need, type Understood, understand } from './changes'
export {
  compileUndo,
  NO_UNDO_RULES,
  type StateProgram,
  type UndoFault,
  UndoFile,
  type UndoRules,
  undoFaults,
} from './rules'
export { namesSecret } from './secret'
export { type PathBack, pathBack, shownName, stateBack } from './shown'
export { decidingPaths, PathState, sameState, type Touch, touchesOf } from './states'
export { type Changed, statesIn, verbsBack, type WayBack, wayBack } from './way-back'
