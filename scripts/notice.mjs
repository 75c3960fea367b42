// Prints the licences of the packages in the pages, which require that copies include them.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pagePackages } from './page-packages.mjs'

const packages = pagePackages()

console.log('The pages of Cloud Repository contain these packages, each under its own licence.')
for (const one of packages) {
  const { path, name, version, license } = one
  const text = one.text ?? readmeIn(path) ?? ofTheSameRepository(path)
  if (text === undefined) throw new Error(`${path} has no licence text.`)
  const whole = [text, ...noticesIn(path)].join('\n\n')
  console.log(`\n${'-'.repeat(80)}\n\n${name} ${version}: ${license}\n\n${whole}`)
}

/** Apache 2.0 requires that copies also include NOTICE files. */
function noticesIn(path) {
  const names = readdirSync(path).filter((name) => /^notice/i.test(name))
  return names.map((name) => readFileSync(join(path, name), 'utf8').trim())
}

/** Some packages have no licence file, but a licence section at the end of their README. */
function readmeIn(path) {
  const name = readdirSync(path).find((entry) => /^readme/i.test(entry))
  if (name === undefined) return undefined
  const [, text] = readFileSync(join(path, name), 'utf8').split(/^#+ licen[cs]e.*$/im)
  return text?.trim()
}

/** Others rely on the licence file of another package of the same repository. */
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
