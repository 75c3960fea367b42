// Writes the licences of the packages that the pages are made of, as they ask of whoever passes them on.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pagePackages } from './page-packages.mjs'

const packages = pagePackages()

console.log('The pages of Cloud Repository contain these packages, each under its own licence.')
for (const one of packages) {
  const { path, name, version, license } = one
  const text = one.text ?? readmeIn(path) ?? ofTheSameRepository(path)
  if (text === undefined) throw new Error(`${path} says nowhere what its licence is.`)
  const whole = [text, ...noticesIn(path)].join('\n\n')
  console.log(`\n${'-'.repeat(80)}\n\n${name} ${version}: ${license}\n\n${whole}`)
}

/** What Apache 2.0 asks to be passed on beside the licence. */
function noticesIn(path) {
  const names = readdirSync(path).filter((name) => /^notice/i.test(name))
  return names.map((name) => readFileSync(join(path, name), 'utf8').trim())
}

/** Some packages come without a file of their licence, and have it at the end of their README. */
function readmeIn(path) {
  const name = readdirSync(path).find((entry) => /^readme/i.test(entry))
  if (name === undefined) return undefined
  const [, text] = readFileSync(join(path, name), 'utf8').split(/^#+ licen[cs]e.*$/im)
  return text?.trim()
}

/** Others have left it to the packages of the same repository. */
function ofTheSameRepository(path) {
  const own = repositoryOf(path)
  if (own === undefined) return undefined
  return packages.find((other) => repositoryOf(other.path) === own && other.text !== undefined)
    ?.text
}

function repositoryOf(path) {
  const { repository } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
  return repository?.url ?? repository
}
