// Checks the package as npm would publish it: its files and exports (publint), and its types for each kind of import
// (attw). `npm pack` builds it first.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = dirname(dirname(fileURLToPath(import.meta.url)))
const programs = join(folder, '..', '..', 'node_modules', '.bin')
const temporary = mkdtempSync(join(tmpdir(), 'cloud-repository-client-'))
try {
  const packed = run('npm', ['pack', '--silent', '--pack-destination', temporary])
  const archive = join(temporary, packed.trim())
  run(join(programs, 'publint'), ['run', archive, '--strict'])
  // CommonJS loads the package with `require` of Node 20.19 and newer, which the tests show.
  run(join(programs, 'attw'), [archive, '--profile', 'esm-only', '--format', 'ascii'])
  console.log(`The package is sound: ${packed.trim()}`)
} finally {
  rmSync(temporary, { recursive: true, force: true })
}

function run(program, words) {
  const { status, stdout, stderr } = spawnSync(program, words, { cwd: folder, encoding: 'utf8' })
  if (status === 0) return stdout
  console.error(`${stdout}${stderr}`)
  process.exitCode = 1
  throw new Error(`${program} failed.`)
}
