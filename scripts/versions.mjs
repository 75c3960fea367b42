// The version of everything that a release publishes. package.json has it, and these files repeat it.
// usage: versions.mjs (prints the version; exits with 1 if a file has another one)
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Files, and the text right before their version. The version ends before a quote or at the end of the line. */
const PLACES = [
  ['package.json', '\n  "version": "'],
  ['package-lock.json', '\n  "version": "'],
  ['package-lock.json', '\n    "": {\n      "name": "cloud-repository",\n      "version": "'],
  ['package-lock.json', '\n      "name": "@cloud-repository/client",\n      "version": "'],
  ['packages/js/package.json', '\n  "version": "'],
  ['packages/python/pyproject.toml', '\nversion = "'],
  ['deploy/helm/cloud-repository/Chart.yaml', '\nversion: '],
  ['deploy/helm/cloud-repository/Chart.yaml', '\nappVersion: '],
  ['Dockerfile', '\nARG VERSION='],
  ['api/openapi.json', '\n    "version": "'],
  ['api/admin-openapi.json', '\n    "version": "'],
]

const root = dirname(dirname(fileURLToPath(import.meta.url)))

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [[, version], ...others] = readVersions()
  const different = others.filter(([, other]) => other !== version)
  for (const [file, other] of different) console.error(`${file} has ${other}, not ${version}`)
  process.exitCode = different.length > 0 ? 1 : 0
  console.log(version)
}

/** Pairs of a file and its version; package.json first. */
export function readVersions() {
  return PLACES.map(([file, before]) => [file, split(file, before).version])
}

/** Writes the version into all files, and returns their names. */
export function writeVersion(version) {
  for (const [file, before] of PLACES) {
    const { head, tail } = split(file, before)
    writeFileSync(join(root, file), `${head}${version}${tail}`)
  }
  return [...new Set(PLACES.map(([file]) => file))]
}

/** The text of a file in three parts. */
function split(file, before) {
  const text = readFileSync(join(root, file), 'utf8')
  const start = text.indexOf(before)
  if (start === -1) throw new Error(`${file} has no version`)
  const head = text.slice(0, start + before.length)
  const [version] = text.slice(head.length).split(/["'\n]/, 1)
  return { head, version, tail: text.slice(head.length + version.length) }
}
