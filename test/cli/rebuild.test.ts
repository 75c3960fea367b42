import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../support/service/program.ts'
import { runCommand } from '../support/service/running-service.ts'
import { join } from 'node:path'
import { rename, rm } from 'node:fs/promises'
import { createRebuildJournal } from '../../src/database/rebuild/journal.ts'
import { migrate } from '../../src/database/migrate.ts'
import { openSqlite } from '../../src/database/sqlite/sqlite.ts'
import { createFilesystemStore } from '../../src/object-store/filesystem/store.ts'
import { markerKey, type ObjectKey } from '../../src/core/objects/object-key.ts'
import { objectMetadata } from '../../src/core/objects/object-metadata.ts'
import { parseFileName } from '../../src/core/files/file-name.ts'
import { contentOf } from '../support/http/incoming-file.ts'
import { freshKey, never } from '../support/objects.ts'

let opened: AsyncDisposableStack
let DATA_DIR: string

beforeEach(async () => {
  opened = new AsyncDisposableStack()
  DATA_DIR = await temporaryFolder(opened)
})
afterEach(() => opened.disposeAsync())

describe('the command rebuild', () => {
  it('brings the files of an object store back, and their users', async () => {
    await putObject('ünï')
    const older = await putObject('a')
    await new Promise((resolve) => setTimeout(resolve, 2))
    await putObject('a')
    const past = await putObject('b')
    await markPast(past)
    const dry = await run('rebuild --dry-run --json')
    expect(dry.code).toBe(0)
    const counts = { users: 1, files: 2, bytes: 10, past_objects: 1, replaced_objects: 1 }
    const figures = { ...counts, left_alone: 0 }
    expect(JSON.parse(dry.output)).toMatchObject({ dry_run: true, ...figures })
    const real = await run('rebuild --json')
    expect(real.code).toBe(0)
    const lines = real.output.trim().split('\n')
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      { kind: 'past_object', user_id: 'ada', file_name: 'b', object_key: past },
      { kind: 'replaced_object', user_id: 'ada', file_name: 'a', object_key: older },
      { dry_run: false, ...figures },
    ])
    expect(await run('verify --deep')).toMatchObject({ code: 0 })
  })

  it('fails when something is left alone, and prints a line of it', async () => {
    const key = await putObject()
    const { code, output } = await run('rebuild')
    expect(code).toBe(1)
    expect(output).toMatch(new RegExp(`^unnamed_object +user_id="ada" object_key="${key}"$`, 'm'))
    expect(output).toMatch(/^unnamed_objects +1$/m)
  })

  it('refuses a database that is in use', async () => {
    expect(await run('users create ada')).toMatchObject({ code: 0 })
    const { code, output } = await run('rebuild')
    expect(code).toBe(1)
    expect(output).toContain('needs an empty database')
  })

  it('keeps a service from starting on what it has not finished', async () => {
    const database = await openSqlite({ file: join(DATA_DIR, 'database.sqlite') })
    await migrate(database)
    await createRebuildJournal(database).begin()
    await database.close()
    const refused = await run('serve')
    expect(refused.code).toBe(1)
    expect(refused.output).toContain('A rebuild was interrupted')
    const examined = await run('doctor')
    expect(examined.code).toBe(1)
    expect(examined.output).toContain('A rebuild was interrupted')
    expect((await run('rebuild')).output).toContain('This one starts over.')
    expect((await run('users list')).code).toBe(0)
  })

  it('finds the names again in a folder that was moved', async () => {
    await putObject('a')
    await rename(join(DATA_DIR, 'objects'), join(DATA_DIR, 'moved'))
    await rm(join(DATA_DIR, 'database.sqlite'), { force: true })
    const environment = { OBJECT_STORE: `file:${join(DATA_DIR, 'moved')}` }
    expect((await run('rebuild', environment)).output).toMatch(/^files +1$/m)
  })
})

async function putObject(name?: string): Promise<string> {
  const store = createFilesystemStore({ directory: join(DATA_DIR, 'objects') })
  const key = freshKey('ada')
  const metadata = name === undefined ? {} : objectMetadata({ name: parseFileName(name) })
  await store.put({ key, body: contentOf([Buffer.from('hello')]), metadata, signal: never() })
  return key
}

async function markPast(key: string): Promise<void> {
  const store = createFilesystemStore({ directory: join(DATA_DIR, 'objects') })
  await store.put({ key: markerKey(key as ObjectKey), body: contentOf([]), signal: never() })
}

function run(args: string, environment: Readonly<Record<string, string>> = {}) {
  return runCommand(args, { environment: { ...environment, DATA_DIR }, opened })
}
