// The packages that the pages are made of: what web/ imports, and what that pulls in. The image has them in its JavaScript
// although npm takes them for development alone.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Each as package-lock.json has it, with its `path` there and its `name`, and the `paths` of what it needs. */
export function pagePackages() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const found = new Map()
  const wanted = importedNames().map((name) => pathOf(name, { from: '', packages }))
  for (const path of wanted) {
    if (path === undefined || found.has(path)) continue
    const { dependencies, peerDependencies } = packages[path]
    const needed = Object.keys({ ...dependencies, ...peerDependencies })
    const paths = needed.map((name) => pathOf(name, { from: path, packages })).filter(Boolean)
    found.set(path, { ...packages[path], path, name: nameOf(path), paths })
    wanted.push(...paths)
  }
  return [...found.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

/** What lies directly in web/ builds the pages and is not in them, but for the texts, which import no package. */
function importedNames() {
  const entries = readdirSync(join(root, 'web'), { recursive: true, withFileTypes: true })
  const sources = entries.filter(
    ({ name, parentPath }) => /\.tsx?$/.test(name) && parentPath !== join(root, 'web'),
  )
  const texts = sources.map(({ name, parentPath }) => readFileSync(join(parentPath, name), 'utf8'))
  const imported = texts.flatMap((text) => [...text.matchAll(IMPORT)].map(([, name]) => name))
  return [...new Set(imported)]
}

const IMPORT = /^(?:import|.*\bfrom) '((?:@[\w-]+\/)?[\w-]+)(?:\/[^']*)?'/gm

/** Where Node would find it. One that is optional may be nowhere. */
function pathOf(name, { from, packages }) {
  for (
    let folder = from;
    ;
    folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))
  ) {
    const path = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (path in packages) return path
    if (folder === '') return undefined
  }
}

function nameOf(path) {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
}
