import { createHash } from 'node:crypto'
import { createReadStream, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/**
 * A stamp says "this was finished, from these inputs". It is written last and atomically, so that an interrupted step
 * never leaves one; an unreadable or half-written stamp counts as none.
 * @param {string} file
 * @returns {Record<string, any> | undefined}
 */
export function readStamp(file) {
  try {
    const value = JSON.parse(readFileSync(file, 'utf8'))
    return value && typeof value === 'object' && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/**
 * @param {string} file
 * @param {Record<string, unknown>} value
 */
export function writeStamp(file, value) {
  mkdirSync(path.dirname(file), { recursive: true })
  const draft = `${file}.${process.pid}.draft`
  writeFileSync(draft, `${JSON.stringify(value, undefined, 2)}\n`)
  renameSync(draft, file)
}

/** @param {string} file */
export function removeStamp(file) {
  rmSync(file, { force: true })
}

/**
 * True when every expected field is in the stamp with an equal value; other fields of the stamp are notes.
 * @param {Record<string, any> | undefined} stamp
 * @param {Record<string, unknown>} expected
 */
export function stampMatches(stamp, expected) {
  if (!stamp) return false
  return Object.entries(expected).every(([key, value]) => JSON.stringify(stamp[key]) === JSON.stringify(value))
}

/** SHA-256 of a small file in hexadecimal, or undefined when it is not there. */
export function hashFile(file) {
  try {
    return createHash('sha256').update(readFileSync(file)).digest('hex')
  } catch {
    return undefined
  }
}

/** Size of a file, or -1 when it is not there: a cheap check that what a stamp promises still exists. */
export function fileSize(file) {
  return statSync(file, { throwIfNoEntry: false })?.size ?? -1
}

/**
 * The integrity of a file of any size in the form of package locks (`sha512-…`).
 * @param {string} file
 * @returns {Promise<string>}
 */
export async function integrityOf(file) {
  const hash = createHash('sha512')
  for await (const chunk of createReadStream(file)) hash.update(chunk)
  return `sha512-${hash.digest('base64')}`
}
