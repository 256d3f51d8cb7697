import type { DoctorCheck } from '../../src-preload/contract/model'

/** One thing to look at. Answers what was found and, unless all is well, what to do. */
export interface Examination {
  readonly name: string
  run(): Promise<Pick<DoctorCheck, 'status' | 'found' | 'remedy'>> | Pick<DoctorCheck, 'status' | 'found' | 'remedy'>
}

/** Runs the examinations in order and numbers them. One that throws is a failed one, not the end of the others. */
export async function examine(examinations: readonly Examination[]): Promise<readonly DoctorCheck[]> {
  const checks: DoctorCheck[] = []
  for (const [index, { name, run }] of examinations.entries()) {
    try {
      checks.push({ number: index + 1, name, ...(await run()) })
    } catch (error) {
      checks.push({
        number: index + 1,
        name,
        status: 'failed',
        found: error instanceof Error ? error.message : String(error),
        remedy: 'Look into the log file in the logs folder of Nomos for details.',
      })
    }
  }
  return checks
}
