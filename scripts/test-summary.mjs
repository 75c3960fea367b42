// Prints the last line of CI, "N passed, N failed", from vitest's JSON reports, and above it what failed. Exits with 1
// unless all tests passed, none was skipped and no step failed. A missing or broken report counts as one failed test,
// and so does a failed step of which no report says more.
// usage: test-summary.mjs STEPS REPORT... (STEPS are the failed steps, a line each; a report is named like its step)
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'

const [steps, ...paths] = process.argv.slice(2)
const reports = paths.map(readReport)
const passed = sum(({ numPassedTests = 0 }) => numPassedTests)
const skipped = sum(({ numPendingTests = 0, numTodoTests = 0 }) => numPendingTests + numTodoTests)
const explained = paths
  .filter((_, index) => failedIn(reports[index]) > 0)
  .map((path) => basename(path))
const unexplained = steps.split('\n').filter((step) => step !== '' && !explained.includes(step))
const failed = skipped + sum(failedIn) + unexplained.length
const isEmpty = reports.some(({ numPassedTests = 0 }) => numPassedTests === 0)

for (const name of [...reports.flatMap(failuresOf), ...unexplained]) console.log(`Failed: ${name}`)
if (skipped > 0) console.log(`${skipped} tests were skipped, which counts as failed`)
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed > 0 || isEmpty ? 1 : 0)

function failedIn(report) {
  return (report.numFailedTests ?? 0) + (report.success === true ? 0 : brokenFiles(report))
}

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
