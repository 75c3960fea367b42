// The packages that the pages are made of. The image has them in its JavaScript although npm takes them for development
// alone.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** What Vite writes when it builds the pages (`build.license`): each package of which it bundled code. */
const LIST = join(root, 'dist', 'web', 'licenses.json')

/**
 * Each with its `name`, `version`, `license` (SPDX) and `path` in package-lock.json; `text` is that of its licence,
 * where it comes with one. The pages have to be built.
 */
export function pagePackages() {
  if (!existsSync(LIST)) throw new Error('Build the pages first: node scripts/build-page.mjs')
  const locked = lockedPackages()
  return JSON.parse(readFileSync(LIST, 'utf8')).map(({ name, version, identifier, text }) => {
    const found = locked.find((one) => one.name === name && one.version === version)
    if (found === undefined) throw new Error(`${name} ${version} is not in package-lock.json.`)
    return { name, version, license: identifier, text, path: found.path }
  })
}

/** All packages as package-lock.json has them, each with its `path` there and its `name`. */
export function lockedPackages() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const installed = Object.entries(packages).filter(([path]) => path !== '')
  return installed.map(([path, one]) => ({ ...one, path, name: one.name ?? nameOf(path) }))
}

function nameOf(path) {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
}
