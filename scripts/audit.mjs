// Asks the registry for known vulnerabilities of the service's dependencies and of the packages in its pages, and exits
// with 1 if it finds any. If the registry has no audit endpoint, as a mirror, or cannot be reached, prints that and
// exits with 0.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { pagePackages } from './page-packages.mjs'

const { stdout } = spawnSync('npm', ['audit', '--json'], { encoding: 'utf8' })
const report = parse(stdout)

if (report.metadata?.vulnerabilities === undefined) {
  console.log(`npm audit: skipped, the registry does not answer (${report.message ?? 'no report'})`)
} else {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  const inPages = new Set(pagePackages().map(({ path }) => path))
  const isShipped = (path) => packages[path]?.dev !== true || inPages.has(path)
  const found = Object.entries(report.vulnerabilities ?? {}).filter(([, { nodes }]) =>
    nodes.some(isShipped),
  )
  for (const [name, { severity, range }] of found) {
    console.log(`npm audit: ${name} ${range}: severity ${severity}`)
  }
  console.log(`npm audit: ${found.length} packages with known vulnerabilities`)
  process.exitCode = found.length > 0 ? 1 : 0
}

function parse(text) {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}
