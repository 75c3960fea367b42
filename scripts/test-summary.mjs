// Prints the last line of CI, "N passed, N failed", from vitest's JSON reports. Exits with 1 unless all tests passed
// and none was skipped. A missing or broken report counts as one failed test.
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
if (skipped > 0) console.log(`${skipped} tests were skipped, which counts as failed`)
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed > 0 || isEmpty || elsewhere !== '0' ? 1 : 0)

/** If the tests crash, there is no report. */
function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    console.log(`The report ${path} cannot be read, which counts as failed: ${error.message}`)
    return { numFailedTests: 1 }
  }
}

function sum(figureOf) {
  return reports.reduce((total, report) => total + figureOf(report), 0)
}

/** Failures by file and title, repeated at the end of a long log. */
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

/** Counts files that failed without a failed test, such as one that cannot be loaded. */
function brokenFiles({ testResults = [] }) {
  return testResults.filter(
    ({ status, assertionResults = [] }) =>
      status === 'failed' && assertionResults.every((test) => test.status !== 'failed'),
  ).length
}
