// Asks the registry for known vulnerabilities of the packages that the service depends on and that its pages contain.
// Exits with 1 if there are any. If the registry gives no report (a mirror, or no registry), says so and exits with 0.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { pagePackages } from './page-packages.mjs'

const { stdout } = spawnSync('npm', ['audit', '--json'], { encoding: 'utf8' })
const report = parse(stdout)

if (report.metadata?.vulnerabilities === undefined) {
  console.log(
    `npm audit: skipped, since the registry gave no report (${report.message ?? 'no answer'})`,
  )
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
