// Lists the packages in the pages. The image contains their code, although package.json lists them as development
// dependencies.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Written by Vite when it builds the pages (`build.license`): each package whose code it bundled. */
const LIST = join(root, 'dist', 'web', 'licenses.json')

/**
 * Each package has its `name`, `version`, `license` (SPDX) and `path` in package-lock.json. `text` is its licence text,
 * if the package contains one. Throws unless the pages are built.
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

/** All packages of package-lock.json but the workspaces, each with its `path` there and its `name`. */
export function lockedPackages() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const installed = Object.entries(packages).filter(
    ([path, { link }]) => path.includes('node_modules/') && link !== true,
  )
  return installed.map(([path, one]) => ({ ...one, path, name: one.name ?? nameOf(path) }))
}

function nameOf(path) {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
}
