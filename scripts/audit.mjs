// Asks the registry for known vulnerabilities of what the service depends on, and exits with 1 when there are any. A registry
// that answers no such question (a mirror, or none at all) is said plainly and fails nothing.
import { spawnSync } from 'node:child_process'

const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--json'], { encoding: 'utf8' })
const report = parse(stdout)
const counts = report.metadata?.vulnerabilities

if (counts === undefined) {
  console.log(
    `npm audit: not asked, the registry does not answer (${report.message ?? 'no report'})`,
  )
} else {
  for (const [name, { severity, range }] of Object.entries(report.vulnerabilities ?? {})) {
    console.log(`npm audit: ${severity} in ${name} ${range}`)
  }
  console.log(`npm audit: ${counts.total} known vulnerabilities`)
  process.exitCode = counts.total > 0 ? 1 : 0
}

function parse(text) {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}
