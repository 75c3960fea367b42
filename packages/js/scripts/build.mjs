// Builds the package into dist/: one module for each source, so that bundlers drop what is not used, and its types.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import './generate.mjs'

const folder = dirname(dirname(fileURLToPath(import.meta.url)))
const dist = join(folder, 'dist')

rmSync(dist, { recursive: true, force: true })
const tsc = join(folder, '..', '..', 'node_modules', '.bin', 'tsc')
const { status } = spawnSync(tsc, ['-p', join(folder, 'tsconfig.build.json')], { stdio: 'inherit' })
if (status !== 0) process.exit(status ?? 1)

// The compiler rewrites the imports of programs, but not those of declarations.
for (const name of readdirSync(dist, { recursive: true })) {
  if (!name.endsWith('.d.ts')) continue
  const path = join(dist, name)
  const text = readFileSync(path, 'utf8')
  writeFileSync(path, text.replaceAll(/(from '\.[^']*)\.ts'/g, "$1.js'"))
}
