/** Understanding of shell text: our own small tree over the parser, with every word decoded. */
export { type ProgramsOf, programsOf } from './programs'
