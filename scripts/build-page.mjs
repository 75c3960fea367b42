// Builds the pages into dist/web where their sources are newer than what was built, in about a second. Plain JavaScript, as
// run.mjs is. Of programs that want it at once one builds and the others wait; whoever reads meanwhile finds a page.
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

/** Longer than any build. Whoever holds the lock still then is taken for another program that has got the id. */
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

/** Also where a build was cut before it was whole. */
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
  const names = ['web', 'api'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, name)),
  )
  const times = [...names, 'package-lock.json'].map((name) => statSync(join(root, name)).mtimeMs)
  return Math.max(...times)
}

/** The lock is a file that holds the id of its process from its first moment on. */
async function takeLock() {
  mkdirSync(dirname(lock), { recursive: true })
  const own = `${lock}-${process.pid}`
  writeFileSync(own, String(process.pid))
  try {
    const until = Date.now() + MAX_WAIT_MS
    while (!isLinked(own)) {
      if (isForsaken() || Date.now() > until) rmSync(lock, { force: true })
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

function isForsaken() {
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

/** What builds have left behind that were killed; a process that has got the id of one keeps it until it ends, too. */
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
  try {
    const { status } = spawnSync(process.execPath, [vite, ...args], { cwd: root, stdio: 'inherit' })
    if (status === 0) replace(folder)
    return status ?? 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What the document refers to comes before it and goes after it, so that there is a page at every moment. */
function replace(folder) {
  mkdirSync(join(built, 'assets'), { recursive: true })
  const names = filesIn(folder).toSorted((a, b) => turnOf(a) - turnOf(b))
  const old = filesIn(built).filter((name) => !names.includes(name))
  for (const name of names) renameSync(join(folder, name), join(built, name))
  for (const name of old) rmSync(join(built, name))
}

/** The document comes last, since by its time a build that was cut is told from one that is whole. */
function turnOf(name) {
  return ['index.html.gz', 'index.html.br', 'index.html'].indexOf(name)
}

function filesIn(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return files.map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
}
