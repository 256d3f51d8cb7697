/** What the bench `allowlist` measures, in one bundle: the same sources as the app has. */
export {
  CAUTIOUS,
  compileAllowlist,
  decide,
  encodeArgv,
  inspectAllowlist,
  matchSegments,
  NO_SAFE_BINS,
  NO_SKILLS,
  segmentsOf,
} from '../../src-main/domain/policy'
