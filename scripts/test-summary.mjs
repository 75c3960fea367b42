// Prints the closing line of a test run, "N passed, N failed", from vitest's JSON report, and exits with 1 unless all
// tests passed and none was skipped. usage: test-summary.mjs REPORT [0|1: whether anything else failed]
import { readFileSync } from 'node:fs'

const [path, elsewhere = '0'] = process.argv.slice(2)
const report = JSON.parse(readFileSync(path, 'utf8') || '{}')
const passed = report.numPassedTests ?? 0
const skipped = (report.numPendingTests ?? 0) + (report.numTodoTests ?? 0)
const failed =
  (report.numFailedTests ?? 0) + (report.success === true ? 0 : suites(report)) + skipped

if (skipped > 0) console.log(`${skipped} tests were skipped; here that counts as failed`)
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed > 0 || passed === 0 || elsewhere !== '0' ? 1 : 0)

/** Files that failed without a failed test, such as one that does not load. */
function suites({ testResults = [] }) {
  return testResults.filter(
    ({ status, assertionResults = [] }) =>
      status === 'failed' && assertionResults.every((test) => test.status !== 'failed'),
  ).length
}
