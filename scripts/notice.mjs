// Writes the licences of the packages that the pages are made of, as they ask of whoever passes them on.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pagePackages } from './page-packages.mjs'

const packages = pagePackages()

console.log('The pages of Cloud Repository contain these packages, each under its own licence.')
for (const { path, name, version, license } of packages) {
  const text = filesIn(path) || readmeIn(path) || ofTheSameRepository(path)
  if (text === '') throw new Error(`${path} says nowhere what its licence is.`)
  console.log(`\n${'-'.repeat(80)}\n\n${name} ${version}: ${license}\n\n${text}`)
}

function filesIn(path) {
  const names = readdirSync(path).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name))
  return names.map((name) => readFileSync(join(path, name), 'utf8').trim()).join('\n\n')
}

function readmeIn(path) {
  const name = readdirSync(path).find((entry) => /^readme/i.test(entry))
  if (name === undefined) return ''
  const [, text = ''] = readFileSync(join(path, name), 'utf8').split(/^#+ licen[cs]e.*$/im)
  return text.trim()
}

/** Some packages of one repository come without the file that the others bring along. */
function ofTheSameRepository(path) {
  const own = repositoryOf(path)
  if (own === undefined) return ''
  const others = packages.filter((other) => repositoryOf(other.path) === own)
  return others.map((other) => filesIn(other.path)).find((text) => text !== '') ?? ''
}

function repositoryOf(path) {
  const { repository } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
  return repository?.url ?? repository
}
