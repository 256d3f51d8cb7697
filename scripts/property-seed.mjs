import fc from 'fast-check'

/**
 * Properties are tried on the same cases in every `npm test`, so that the same code has the same verdict everywhere; NOMOS_SEED names
 * others. `npm run test:long` takes new ones each time. What fails there prints its seed and becomes an example.
 */
const seed = Number(process.env.NOMOS_SEED ?? 20_261_130)
if (!Number.isInteger(seed)) throw new Error(`NOMOS_SEED is "${process.env.NOMOS_SEED}"; it is a whole number.`)
fc.configureGlobal({ seed })
