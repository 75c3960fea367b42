// What `npm version` does besides package.json, the commit and the tag. npm runs this before and after it changes
// package.json, and after the tag: docs/development/releasing.md.
// usage: release.mjs preversion|version|postversion (with npm_new_version in the environment)
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { closeUnreleased } from './changelog.mjs'
import { writeVersion } from './versions.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const [step] = process.argv.slice(2)
const version = process.env.npm_new_version
const date = new Date().toISOString().slice(0, 10)

/** The packages can be released without a change. */
const CHANGELOGS = {
  'CHANGELOG.md': undefined,
  'packages/js/CHANGELOG.md': 'No changes.',
  'packages/python/CHANGELOG.md': 'No changes.',
}

const RELEASED_BEFORE = 'test/proofs/upgrade/released-before.json'

const STEPS = {
  /** What can fail comes first, while nothing has changed. */
  preversion() {
    closeChangelogs()
  },
  version() {
    const closed = closeChangelogs()
    for (const [file, text] of Object.entries(closed)) writeFileSync(join(root, file), text)
    run('git', ['add', ...writeVersion(version), ...Object.keys(closed)])
  },
  /** From now on, the tests of rolling upgrades begin with this version. */
  postversion() {
    const commit = run('git', ['rev-parse', '--short=12', `v${version}^{commit}`])
    writeFileSync(join(root, RELEASED_BEFORE), `{ "commit": "${commit}" }\n`)
    const message = `release: test upgrades from ${version}`
    run('git', ['commit', '--quiet', '--message', message, RELEASED_BEFORE])
  },
}

const perform = STEPS[step]
if (perform === undefined || version === undefined) {
  console.error('npm version calls this program: see docs/development/releasing.md.')
  process.exit(2)
}
perform()

/** The new texts by file. */
function closeChangelogs() {
  const entries = Object.entries(CHANGELOGS).map(([file, whenEmpty]) => {
    const text = readFileSync(join(root, file), 'utf8')
    return [file, closeUnreleased(text, { version, date, whenEmpty })]
  })
  return Object.fromEntries(entries)
}

function run(program, words) {
  const { status, error, stdout } = spawnSync(program, words, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (status === 0) return stdout.trim()
  throw new Error(`${program} ${words.join(' ')} failed`, { cause: error })
}
