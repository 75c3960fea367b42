// Reads the CycloneDX list of what npm installs for production, and writes it with the packages of the pages added.
import { readFileSync } from 'node:fs'
import { pagePackages } from './page-packages.mjs'

const list = JSON.parse(readFileSync(0, 'utf8'))
const packages = pagePackages()
const refs = new Map(packages.map((one) => [one.path, `${one.name}@${one.version}`]))
const known = new Set(list.components.map((component) => component['bom-ref']))
const added = packages.filter(({ path }) => !known.has(refs.get(path)))

list.components.push(...added.map(componentOf))
list.dependencies.push(
  ...added.map(({ path, paths }) => ({
    ref: refs.get(path),
    dependsOn: paths.map((needed) => refs.get(needed)),
  })),
)
console.log(JSON.stringify(list, null, 2))

function componentOf({ path, name, version, license, integrity }) {
  const [algorithm, digest] = integrity.split('-')
  return {
    'bom-ref': refs.get(path),
    type: 'library',
    name,
    version,
    scope: 'required',
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    hashes: [
      {
        alg: algorithm.toUpperCase().replace('SHA', 'SHA-'),
        content: Buffer.from(digest, 'base64').toString('hex'),
      },
    ],
    licenses: [/[ ()]/.test(license) ? { expression: license } : { license: { id: license } }],
  }
}
