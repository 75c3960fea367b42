// Prints the software bill of materials of the image, in CycloneDX: npm's own list of installed packages, without
// development dependencies except those in the pages.
import { spawnSync } from 'node:child_process'
import { lockedPackages, pagePackages } from './page-packages.mjs'

const DEVELOPMENT = 'cdx:npm:package:development'

const inPages = new Set(pagePackages().map(idOf))
const installed = lockedPackages().filter(({ dev }) => dev !== true)
const shipped = new Set([...inPages, ...installed.map(idOf)])

const bill = listOfNpm()
const own = bill.metadata.component['bom-ref']
const isShipped = (ref) => ref === own || shipped.has(ref)
bill.components = bill.components.filter((one) => isShipped(one['bom-ref'])).map(asShipped)
bill.dependencies = bill.dependencies
  .filter(({ ref }) => isShipped(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(isShipped) }))
console.log(JSON.stringify(bill, null, 2))

/** The reference of a package in npm's list. */
function idOf({ name, version }) {
  return `${name}@${version}`
}

function listOfNpm() {
  const { status, stdout, stderr } = spawnSync('npm', ['sbom', '--sbom-format=cyclonedx'], {
    encoding: 'utf8',
    maxBuffer: 64 * 2 ** 20,
  })
  if (status !== 0) throw new Error(`npm sbom failed: ${stderr}`)
  return JSON.parse(stdout)
}

/** A package in the pages is part of the image, even if npm marks it as a development dependency. */
function asShipped(component) {
  const isDevelopment = component.properties.some(({ name }) => name === DEVELOPMENT)
  if (!isDevelopment) return component
  const properties = component.properties.filter(({ name }) => name !== DEVELOPMENT)
  return { ...component, scope: 'required', properties }
}
