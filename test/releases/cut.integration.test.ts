import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, readFile, symlink, utimes, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { findInstalled, findPostgresProgram } from '../support/servers/postgres-program.ts'
import { isSkipped, whyMissing } from '../support/servers/needs.ts'
import { temporaryFolder } from '../support/service/program.ts'

const minio = inject('minio')
const needed = Promise.all([findInstalled(), findPostgresProgram('pg_dump')])
const skipped = isSkipped(await whyMissing(needed)) || minio === undefined

const execute = promisify(execFile)

const opened = new AsyncDisposableStack()
let clone: string
beforeAll(async () => {
  if (!skipped) clone = await cloneHere()
})
afterAll(() => opened.disposeAsync())

describe.skipIf(skipped)('npm version', () => {
  it('commits and tags a release with its notes and its data, and names it for the tests', async () => {
    const before = await run(clone, 'node scripts/versions.mjs')
    await run(clone, 'npm version 1.0.0')
    expect(await run(clone, 'git log --format=%s -3')).toBe(
      'release: test upgrades from 1.0.0\nrelease: version 1.0.0\nclone',
    )
    const tagged = await run(clone, 'git rev-parse --short=12 v1.0.0^{commit}')
    expect(tagged).toBe(await run(clone, 'git rev-parse --short=12 HEAD~1'))
    expect(await run(clone, 'git show HEAD:test/proofs/upgrade/released-before.json')).toBe(
      `{ "commit": "${tagged}" }`,
    )
    expect(await run(clone, 'git status --porcelain')).toBe('')
    expect(await run(clone, 'node scripts/versions.mjs')).toBe('1.0.0')
    const elsewhere = ':!package-lock.json :!test :!*.md'
    expect(await run(clone, `git grep -lwF ${before} v1.0.0 -- . ${elsewhere}`).catch(isNone)).toBe(
      '',
    )
    const stored = await run(clone, 'git ls-tree -r --name-only v1.0.0 test/upgrades/1.0.0')
    expect(stored.split('\n').map((path) => path.replace('test/upgrades/1.0.0/', ''))).toEqual([
      'embedded/database.sql',
      'embedded/objects.tar.gz',
      'embedded/record.json',
      'production/database.sql',
      'production/objects.json.gz',
      'production/record.json',
    ])
  })

  it('has dated what was unreleased, and a forge gets it as notes', async () => {
    const before = await readFile('CHANGELOG.md', 'utf8')
    const [, unreleased = ''] = before.split('\n## Unreleased\n')
    const today = new Date().toISOString().slice(0, 10)
    const after = await readFile(join(clone, 'CHANGELOG.md'), 'utf8')
    expect(after).toBe(before.replace('## Unreleased', `## Unreleased\n\n## 1.0.0 (${today})`))
    const notes = await run(clone, 'node scripts/changelog.mjs notes 1.0.0 https://x/v1')
    expect(wordsOf(notes.replaceAll('](https://x/v1/', ']('))).toEqual(
      wordsOf(unreleased.split('\n## ')[0] ?? ''),
    )
    expect(notes).toContain('](https://x/v1/docs/')
    expect(notes).not.toMatch(/\]\((?!https:|#)/)
    // A paragraph of several lines is one line.
    expect(Math.max(...notes.split('\n').map((line) => line.length))).toBeGreaterThan(200)
  })

  it('changes nothing when there is nothing to release', async () => {
    const head = await run(clone, 'git rev-parse HEAD')
    await expect(run(clone, 'npm version patch')).rejects.toThrow('"Unreleased" says nothing.')
    expect(await run(clone, 'git rev-parse HEAD')).toBe(head)
    expect(await run(clone, 'git status --porcelain')).toBe('')
  })
})

/** `git grep` exits with 1 if it finds nothing. */
function isNone(error: unknown): string {
  if (error instanceof Error && 'code' in error && error.code === 1) return ''
  throw error
}

/** What a clone of this working tree would have. */
async function cloneHere(): Promise<string> {
  const folder = await temporaryFolder(opened)
  const words = ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate', '-z']
  const { stdout } = await execute('git', words, { maxBuffer: 2 ** 24 })
  const files = stdout.split('\0').filter((file) => file !== '')
  await Promise.all(files.filter(existsSync).map((file) => cp(file, join(folder, file))))
  await symlink(resolve('node_modules'), join(folder, 'node_modules'))
  // Else the scripts could take the packages for outdated.
  await utimes(join(folder, 'package-lock.json'), 0, 0)
  await run(folder, 'git init --quiet')
  await writeFile(join(folder, '.git', 'info', 'exclude'), 'node_modules\n')
  await run(folder, 'git add --all')
  await run(folder, 'git commit --quiet --message=clone')
  return folder
}

/** Runs a program in the folder and resolves to what it printed. */
async function run(folder: string, line: string): Promise<string> {
  const [program = '', ...words] = line.split(' ')
  const { stdout } = await execute(program, words, { cwd: folder, env: ENVIRONMENT })
  return stdout.trim()
}

const ENVIRONMENT = {
  // Those of the npm that runs the tests name this folder.
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_'))),
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Test',
  GIT_AUTHOR_EMAIL: 'test@example.com',
  GIT_COMMITTER_NAME: 'Test',
  GIT_COMMITTER_EMAIL: 'test@example.com',
  TEST_S3_ENDPOINT: minio?.endpoint,
  TEST_S3_ACCESS_KEY_ID: minio?.accessKeyId,
  TEST_S3_SECRET_ACCESS_KEY: minio?.secretAccessKey,
}

function wordsOf(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '')
}
