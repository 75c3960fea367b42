import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, describe, it } from 'vitest'
import { createFilesystemStore } from '../../../../src/object-store/filesystem/store.ts'
import { blocksOf } from '../../../documents/pages.ts'
import { bytesOf, freshKey, never } from '../../../support/objects.ts'
import { findProgram } from '../../../support/servers/local-server.ts'
import { isSkipped, whyMissing } from '../../../support/servers/needs.ts'
import { temporaryFolder } from '../../../support/service/program.ts'
import { cutTo, overwritePageWith } from './damage.ts'

const programs = Promise.all(['fossil', 'sqlite3'].map(findProgram))
const withoutPrograms = isSkipped(await whyMissing(programs))

const COMMAND_LINE = `cloud-repo() { '${process.execPath}' '${join(process.cwd(), 'src/main.ts')}' "$@"; }`

describe.skipIf(withoutPrograms)('E18 a damaged pack that docs/storage.md repairs', () => {
  it.each<[damage: string, least: number]>([
    ['table', 950],
    ['index', 1000],
    ['0.3', 250],
    ['0.6', 500],
    ['0.95', 900],
  ])('keeps what is intact, and gets the rest from the backup (%s)', async (damage, least) => {
    await using opened = new AsyncDisposableStack()
    const folder = await temporaryFolder(opened)
    const [objects, backup] = ['data/objects', 'backup'].map((name) => join(folder, name)) as [
      string,
      string,
    ]
    const keys = Array.from({ length: 1000 }, () => freshKey())
    const contents = new Map(keys.map((key, at) => [key, randomBytes(1 + ((at * 97) % 9000))]))
    for (const directory of [objects, backup]) {
      await mkdir(directory, { recursive: true })
      const store = createFilesystemStore({ directory })
      await store.prepare(never())
      // The backup is older.
      const put = directory === backup ? keys.slice(0, 100) : keys
      await Promise.all(
        put.map((key) =>
          store.put({ key, body: contents.get(key) ?? Buffer.alloc(0), signal: never() }),
        ),
      )
      await store.close()
    }
    const pack = join(objects, 'pack.sqlite')
    const share = Number(damage)
    if (share > 0) await cutTo(pack, share)
    else await overwritePageWith(pack, keys[500] ?? '', damage === 'index' ? 'index' : 'table')

    const text = await readFile('docs/storage.md', 'utf8')
    const repair = blocksOf({ path: 'docs/storage.md', text }).find(({ comment = '' }) =>
      comment.includes('recover.proof.test'),
    )
    const lines = `${COMMAND_LINE}\n${repair?.text.replace('/backups/objects', backup)}`
    const env = { PATH: process.env['PATH'], HOME: folder, DATA_DIR: folder }
    await promisify(execFile)('bash', ['--norc', '-c', lines], { cwd: folder, env })

    const store = createFilesystemStore({ directory: objects })
    let intact = 0
    for (const key of keys) {
      const found = await store.open({ key, signal: never() })
      if (found === undefined) continue
      expect(await bytesOf(found.body)).toEqual(contents.get(key))
      intact += 1
    }
    const listed = await Array.fromAsync(store.list({ prefix: 'users/', signal: never() }))
    await store.close()
    expect(listed).toHaveLength(intact)
    expect(intact).toBeGreaterThanOrEqual(least)
    expect(intact).toBeLessThanOrEqual(1000)
  })
})
