import { readFileSync } from 'node:fs'
import { stripVTControlCharacters } from 'node:util'

/**
 * @typedef {object} Counts
 * @property {number} passed
 * @property {number} failed
 * @property {number} skipped
 * @property {string[]} [failures] what failed, by name, where that is known
 */

/**
 * What a vitest run came to, from its JSON report and its exit code. A file that could not even be loaded has no failed
 * test case in the report, and an error outside of every test has none either: each counts as one failure, so that a
 * broken run can never look green.
 * @param {any} report the parsed report, undefined when there is none
 * @param {{ok: boolean}} run whether the process itself ended with success
 * @returns {Counts}
 */
export function countVitest(report, { ok }) {
  if (!isReport(report)) return { passed: 0, failed: 1, skipped: 0 }
  const brokenFiles = report.testResults.filter(
    (file) => file.status === 'failed' && !(file.assertionResults ?? []).some((test) => test.status === 'failed'),
  ).length
  const failed = report.numFailedTests + brokenFiles
  return {
    passed: report.numPassedTests,
    failed: failed === 0 && !ok ? 1 : failed,
    skipped: (report.numPendingTests ?? 0) + (report.numTodoTests ?? 0),
  }
}

function isReport(report) {
  return (
    Number.isInteger(report?.numPassedTests) &&
    Number.isInteger(report?.numFailedTests) &&
    Array.isArray(report?.testResults)
  )
}

/** Characters of a failure's message that the report at the end repeats; the whole stands further up. */
const longestMessage = 600

/**
 * What failed, by name: one text for each failed case and each file that could not be loaded, with the beginning of its
 * message. Whoever reads only the end of a long log sees it there.
 * @param {any} report the parsed report, undefined when there is none
 * @param {string} [root] the folder that names of files are shown from
 * @returns {string[]}
 */
export function failuresOf(report, root = '') {
  if (!isReport(report)) return []
  return report.testResults.flatMap((file) => {
    const name = root && file.name?.startsWith(`${root}/`) ? file.name.slice(root.length + 1) : (file.name ?? 'a file')
    const cases = (file.assertionResults ?? []).filter((test) => test.status === 'failed')
    if (cases.length > 0) {
      return cases.map((test) => withMessage(`${name} > ${test.fullName}`, (test.failureMessages ?? []).join('\n')))
    }
    return file.status === 'failed' ? [withMessage(name, file.message ?? '')] : []
  })
}

function withMessage(title, message) {
  const telling = (line) => line.trim() !== '' && !line.includes('node_modules')
  const text = stripVTControlCharacters(message).trim().split('\n').filter(telling).join('\n')
  const short = text.length > longestMessage ? `${text.slice(0, longestMessage)}…` : text
  return [title, ...short.split('\n')].join('\n    ')
}

/** The report in a file, or undefined when the run crashed before it was written. */
export function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

/**
 * @param {Counts[]} all
 * @returns {Counts}
 */
export function sumCounts(all) {
  const sum = (key) => all.reduce((total, counts) => total + counts[key], 0)
  return { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') }
}

/** The last line of `npm test` and of CI, in the form that whoever reads it by machine relies on. */
export function summaryLine({ passed, failed }) {
  return `${passed} passed, ${failed} failed`
}

/** Nothing run is not a success. */
export function exitCodeFor({ passed, failed }) {
  return failed > 0 || passed === 0 ? 1 : 0
}
