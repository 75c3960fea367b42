// Builds the page into dist/web where its sources are newer than what was built, in about a second. Plain JavaScript, as
// run.mjs is. Programs that build at once do not get in one another's way: the last build stands, whole.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const built = join(root, 'dist', 'web')

if (isStale()) build()

function isStale() {
  const document = join(built, 'index.html')
  return !existsSync(document) || newestSource() > statSync(document).mtimeMs
}

function newestSource() {
  const names = readdirSync(join(root, 'web'), { recursive: true }).map((name) => join('web', name))
  const times = [...names, 'package-lock.json'].map((name) => statSync(join(root, name)).mtimeMs)
  return Math.max(...times)
}

function build() {
  const folder = `${built}-${process.pid}`
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js')
  const args = ['build', '--config', join(root, 'web', 'vite.config.ts'), '--outDir', folder]
  const { status } = spawnSync(process.execPath, [vite, ...args], { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
  replace(folder)
}

function replace(folder) {
  const old = `${folder}-old`
  try {
    if (existsSync(built)) renameSync(built, old)
    renameSync(folder, built)
  } catch (error) {
    // Someone else's stands already.
    if (!existsSync(join(built, 'index.html'))) throw error
  } finally {
    for (const left of [folder, old]) rmSync(left, { recursive: true, force: true })
  }
}
