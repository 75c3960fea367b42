// Builds the pages into dist/web if their sources have changed since the last build; takes about a second. Plain
// JavaScript, like run.mjs. If several programs call it at the same time, one builds and the others wait. The pages can
// be read at any time meanwhile.
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const built = join(root, 'dist', 'web')
const lock = `${built}.lock`

/** Longer than any build. An older lock is of a dead build whose process id another program has received. */
const MAX_WAIT_MS = 60_000

if (isStale()) {
  await takeLock()
  let status
  try {
    status = isStale() ? build() : 0
    removeLeftovers()
  } finally {
    rmSync(lock, { force: true })
  }
  process.exitCode = status
}

/** Also true after an interrupted build. */
function isStale() {
  const document = join(built, 'index.html')
  return !existsSync(document) || !isWhole() || newestSource() > statSync(document).mtimeMs
}

function isWhole() {
  const names = new Set(filesIn(built))
  const plain = [...names].filter((name) => !/\.(br|gz)$/.test(name))
  return plain.every((name) => names.has(`${name}.br`) && names.has(`${name}.gz`))
}

function newestSource() {
  const names = ['web', 'api', 'packages/js/src'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, name)),
  )
  const times = [...names, 'package-lock.json'].map((name) => statSync(join(root, name)).mtimeMs)
  return Math.max(...times)
}

/** The lock is a file that contains the id of its process from the moment it exists. */
async function takeLock() {
  mkdirSync(dirname(lock), { recursive: true })
  const own = `${lock}-${process.pid}`
  writeFileSync(own, String(process.pid))
  try {
    const until = Date.now() + MAX_WAIT_MS
    while (!isLinked(own)) {
      if (isAbandoned() || Date.now() > until) rmSync(lock, { force: true })
      else await new Promise((resolve) => setTimeout(resolve, 50))
    }
  } finally {
    rmSync(own, { force: true })
  }
}

function isLinked(own) {
  try {
    linkSync(own, lock)
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  }
}

function isAbandoned() {
  try {
    return isGone(Number(readFileSync(lock, 'utf8')))
  } catch {
    return false
  }
}

function isGone(pid) {
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return error.code === 'ESRCH'
  }
}

/** Removes the files of killed builds. If another process has the id of one, its files stay until that process ends. */
function removeLeftovers() {
  for (const name of readdirSync(dirname(built))) {
    const [, pid] = /^web(?:\.lock)?-(\d+)$/.exec(name) ?? []
    if (pid === undefined || !isGone(Number(pid))) continue
    rmSync(join(dirname(built), name), { recursive: true, force: true })
  }
}

function build() {
  const folder = `${built}-${process.pid}`
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js')
  const args = ['build', '--config', join(root, 'web', 'vite.config.ts'), '--outDir', folder]
  // Vitest sets another one, with which the pages would contain what only developers need.
  const env = { ...process.env, NODE_ENV: 'production' }
  try {
    const { status } = spawnSync(process.execPath, [vite, ...args], {
      cwd: root,
      env,
      stdio: 'inherit',
    })
    if (status === 0) replace(folder)
    return status ?? 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Adds new assets before the document and removes old ones after it, so that the page is complete at every moment. */
function replace(folder) {
  mkdirSync(built, { recursive: true })
  const names = filesIn(folder).toSorted((a, b) => orderOf(a) - orderOf(b))
  const old = filesIn(built).filter((name) => !names.includes(name))
  for (const name of names) {
    mkdirSync(dirname(join(built, name)), { recursive: true })
    renameSync(join(folder, name), join(built, name))
  }
  for (const name of old) rmSync(join(built, name))
}

/** The document comes last: its modification time marks a complete build. */
function orderOf(name) {
  return ['index.html.gz', 'index.html.br', 'index.html'].indexOf(name)
}

function filesIn(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return files.map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
}
