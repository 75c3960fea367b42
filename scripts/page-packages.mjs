// The packages that the pages contain. The image ships them in its JavaScript, although npm lists them as development
// dependencies.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Written by Vite when it builds the pages (`build.license`): the packages whose code it bundled. */
const LIST = join(root, 'dist', 'web', 'licenses.json')

/**
 * Returns for each package its `name`, `version`, `license` (SPDX), `path` in package-lock.json, and the `text` of the
 * licence if the package contains it. The pages must have been built.
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

/** Returns the packages of package-lock.json, each with its `path` and `name`. */
export function lockedPackages() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const installed = Object.entries(packages).filter(([path]) => path !== '')
  return installed.map(([path, one]) => ({ ...one, path, name: one.name ?? nameOf(path) }))
}

function nameOf(path) {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
}
