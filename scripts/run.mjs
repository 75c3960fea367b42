// Runs the project's commands on a machine that has only npm and Node 20 or newer. Installs missing packages, and uses
// the Node 24 of the npm package `node` if the machine's own is older. Plain JavaScript, because an older Node runs it.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, lstatSync, statSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const modules = join(root, 'node_modules')
const [task, ...words] = process.argv.slice(2)
const args = words.map(forVitest)

/** npm, which can exit while this runs. */
const parent = process.ppid

// Only if it exists: Node prints a message about a missing file.
const ENV_FILE = existsSync(join(root, '.env')) ? ['--env-file=.env'] : []

const LINTED = ['src', 'test', 'bench', 'web', 'packages/js', 'vitest.config.ts']

const COMMANDS = {
  start: [[...ENV_FILE, 'src/main.ts', 'serve', '--demo']],
  dev: [[...ENV_FILE, '--watch', '--watch-kill-signal=SIGINT', 'src/main.ts', 'serve', '--demo']],
  cli: [[...ENV_FILE, 'src/main.ts']],
  test: [[bin('vitest'), 'run']],
  proof: [[bin('vitest'), 'run', '--mode', 'proof']],
  simulate: [['test/proofs/simulation/main.ts']],
  crash: [['test/proofs/crash/main.ts']],
  hostile: [['test/proofs/hostile/main.ts']],
  fuzz: [['test/proofs/fuzz/main.ts']],
  bench: [['bench/main.ts']],
  openapi: [['test/openapi/main.ts']],
  fix: [
    ['packages/js/scripts/generate.mjs'],
    [bin('oxfmt')],
    [bin('oxlint'), '--type-aware', '--fix', ...LINTED],
  ],
  check: [
    ['packages/js/scripts/generate.mjs'],
    [bin('oxfmt'), '--check'],
    [bin('oxlint'), '--type-aware', '--deny-warnings', ...LINTED],
    [bin('tsc'), '-p', '.'],
    [bin('tsc'), '-p', 'web'],
    [bin('tsc'), '-p', 'packages/js'],
    [bin('knip')],
    ['scripts/check-regexps.mjs'],
    ['packages/js/scripts/check.mjs'],
  ],
}

installWhatIsMissing()
const node = findNode()
// If the build fails, the service itself reports the missing page.
if (task === 'start' || task === 'dev') await run(node, ['scripts/build-page.mjs'])
for (const command of COMMANDS[task] ?? usage()) {
  const code = await run(node, [...command, ...args])
  if (code !== 0) process.exit(code)
}

function installWhatIsMissing() {
  // An installation would take away what the tests are running on.
  if (process.env.VITEST !== undefined) return
  const installed = join(modules, '.package-lock.json')
  const isFresh =
    existsSync(installed) &&
    statSync(installed).mtimeMs >= statSync(join(root, 'package-lock.json')).mtimeMs
  if (isFresh) return
  if (isLink(modules)) {
    console.error(
      'node_modules links to an outdated install: run `npm ci` in the folder it links to.',
    )
    process.exit(1)
  }
  console.error(
    'Installing dependencies; this takes half a minute to two minutes and happens once ...',
  )
  const npm = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  })
  if (npm.status !== 0) process.exit(npm.status ?? 1)
}

/** What `test` and `proof` take beside the options of vitest. */
function forVitest(word) {
  if (task === 'test' && word === '--fast') return '--mode=fast'
  return task === 'proof' ? word.replace(/^--slice\b/, '--shard') : word
}

/** npm would empty the folder that the link points to. */
function isLink(path) {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
}

function findNode() {
  const [major = 0, minor = 0, patch = 0] = process.versions.node.split('.').map(Number)
  const isRecent = minor > 18 || (minor === 18 && patch >= 1)
  if (major > 24 || (major === 24 && isRecent)) return process.execPath
  const packaged = join(modules, 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  if (existsSync(packaged)) return packaged
  console.error('Node 24.18.1 or newer is required, and the npm package "node" did not install it.')
  process.exit(1)
}

function bin(name) {
  return join(modules, '.bin', name)
}

/**
 * Runs a program with this Node first on the PATH, forwards signals, and resolves to its exit code. If a signal ends
 * the program, this process exits too, with the code that a shell would report.
 */
function run(program, words) {
  const [first, ...rest] = words
  const isScript = first?.startsWith(modules)
  const PATH = `${dirname(program)}:${process.env.PATH}`
  const child = spawn(isScript ? first : program, isScript ? rest : words, {
    stdio: 'inherit',
    env: { ...process.env, PATH },
    cwd: root,
  })
  // A terminal sends Ctrl-C to the child as well, so this process only has to survive it.
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  if (process.env.npm_lifecycle_event !== undefined) endWithNpm(child)
  return new Promise((resolve) => {
    child.once('error', (error) => {
      console.error(error.message)
      resolve(1)
    })
    child.once('exit', (code, signal) => {
      if (signal !== null) process.exit(128 + constants.signals[signal])
      resolve(code)
    })
  })
}

/** On SIGTERM npm exits without forwarding the signal. */
function endWithNpm(child) {
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    child.kill('SIGTERM')
  }, 250)
  timer.unref()
}

function usage() {
  console.error(`usage: node scripts/run.mjs ${Object.keys(COMMANDS).join('|')}`)
  process.exit(2)
}
