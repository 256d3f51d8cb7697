export { pathProblem, socketPath, tokenPath } from './address'
export {
  type CodePrompt,
  type ControlClient,
  ControlUnavailable,
  createControlClient,
  type FeedListener,
  type UnavailableKind,
} from './client'
export type { Notice, Welcome } from './frames'
export { CONTROL_ROUTES, needsOperator, ROUTE_RIGHTS } from './rights'
export { type ControlServer, type ControlServerConfig, createControlServer, type RefusedAnswer } from './server'
export { RUN_MARKER, type RunGroup } from './terminal-proof'
