// Prints the closing line of CI, "N passed, N failed", from vitest's JSON reports, and exits with 1 unless all tests
// passed and none was skipped. A report that is missing or broken counts as one failed test.
// usage: test-summary.mjs ELSEWHERE REPORT... (ELSEWHERE is 1 if anything else failed)
import { readFileSync } from 'node:fs'

const [elsewhere, ...paths] = process.argv.slice(2)
const reports = paths.map(readReport)
const passed = sum(({ numPassedTests = 0 }) => numPassedTests)
const skipped = sum(({ numPendingTests = 0, numTodoTests = 0 }) => numPendingTests + numTodoTests)
const failed =
  skipped +
  sum(
    (report) => (report.numFailedTests ?? 0) + (report.success === true ? 0 : brokenFiles(report)),
  )
const isEmpty = reports.some(({ numPassedTests = 0 }) => numPassedTests === 0)

for (const name of reports.flatMap(failuresOf)) console.log(`Failed: ${name}`)
if (skipped > 0) console.log(`${skipped} tests were skipped; here that counts as failed`)
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed > 0 || isEmpty || elsewhere !== '0' ? 1 : 0)

/** Tests that die before their report is written have failed, too. */
function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    console.log(`No report of tests can be read, which counts as failed: ${path}: ${error.message}`)
    return { numFailedTests: 1 }
  }
}

function sum(figureOf) {
  return reports.reduce((total, report) => total + figureOf(report), 0)
}

/** What failed, by file and title, so that the end of a long log says it. */
function failuresOf({ testResults = [] }) {
  return testResults
    .filter(({ status }) => status === 'failed')
    .flatMap(({ name, assertionResults = [] }) => {
      const failed = assertionResults.filter((test) => test.status === 'failed')
      const file = name.replace(`${process.cwd()}/`, '')
      if (failed.length === 0) return [file]
      return failed.map(({ fullName, failureMessages = [] }) =>
        [`${file}: ${fullName}`, ...failureMessages].join('\n  '),
      )
    })
}

/** Files that failed without a failed test, such as one that does not load. */
function brokenFiles({ testResults = [] }) {
  return testResults.filter(
    ({ status, assertionResults = [] }) =>
      status === 'failed' && assertionResults.every((test) => test.status !== 'failed'),
  ).length
}
