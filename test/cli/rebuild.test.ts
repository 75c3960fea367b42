import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../support/service/program.ts'
import { runCommand } from '../support/service/running-service.ts'
import { join } from 'node:path'
import { rename, rm } from 'node:fs/promises'
import { createRebuildLedger } from '../../src/database/rebuild/rebuild-ledger.ts'
import { migrate } from '../../src/database/migrate.ts'
import { openSqlite } from '../../src/database/sqlite/sqlite.ts'
import { createFilesystemStore } from '../../src/object-store/filesystem/store.ts'
import { objectMetadata } from '../../src/core/files/object-metadata.ts'
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
    const dry = await run('rebuild --dry-run --json')
    expect(dry.code).toBe(0)
    const figures = { users: 1, files: 2, bytes: 10, replaced_objects: 1, left_alone: 0 }
    const replaced = { kind: 'replaced_object', user_id: 'ada', file_name: 'a', object_key: older }
    expect(documentsIn(dry.output)).toEqual([replaced, { dry_run: true, objects: 3, ...figures }])
    const real = await run('rebuild --json')
    expect(real.code).toBe(0)
    expect(documentsIn(real.output)).toEqual([replaced, { dry_run: false, objects: 3, ...figures }])
    expect(await run('verify --deep')).toMatchObject({ code: 0 })
  })

  it('fails when something is left alone, and prints a line of it', async () => {
    const key = await putObject()
    const { code, output } = await run('rebuild')
    expect(code).toBe(1)
    expect(output).toMatch(new RegExp(`^unnamed_object +user_id="ada" object_key="${key}"$`, 'm'))
    expect(output).toMatch(/^left_alone +1$/m)
  })

  it('refuses a database that is in use', async () => {
    expect(await run('users create ada')).toMatchObject({ code: 0 })
    const { code, output } = await run('rebuild')
    expect(code).toBe(1)
    expect(output).toContain('needs an empty database')
  })

  it('keeps a service and other commands from what it has not finished', async () => {
    const database = await openSqlite({ file: join(DATA_DIR, 'database.sqlite') })
    await migrate(database)
    await createRebuildLedger(database).begin()
    await database.close()
    const refused = await run('serve')
    expect(refused.code).toBe(1)
    expect(refused.output).toContain('A rebuild was interrupted')
    const examined = await run('doctor')
    expect(examined.code).toBe(1)
    expect(examined.output).toContain('A rebuild was interrupted')
    const swept = await run('sweep')
    expect(swept.code).toBe(1)
    expect(swept.output).toContain('A rebuild was interrupted')
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

function documentsIn(output: string): readonly unknown[] {
  return output
    .trim()
    .split('\n')
    .map((line): unknown => JSON.parse(line))
}

function run(args: string, environment: Readonly<Record<string, string>> = {}) {
  return runCommand(args, { environment: { ...environment, DATA_DIR }, opened })
}
