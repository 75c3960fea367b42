import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openPack } from '../../../../src/object-store/filesystem/pack/pack-file.ts'
import { createFolder } from '../../../support/servers/local-server.ts'

describe('the pack of an empty folder', () => {
  let folder: Awaited<ReturnType<typeof createFolder>>
  let file: string

  beforeEach(async () => {
    folder = await createFolder('pack-file')
    file = join(folder.path, 'pack.sqlite')
  })
  afterEach(() => folder.remove())

  const open = (busyTimeoutMs: number): DatabaseSync =>
    openPack({ file, isServed: true, busyTimeoutMs })

  it.each([
    ['before it wrote anything', ''],
    ['before it marked the pack', 'PRAGMA auto_vacuum = incremental'],
    [
      'before it made the table',
      'PRAGMA auto_vacuum = incremental; PRAGMA application_id = 0x7061636b',
    ],
  ])('is finished if a process that made it was killed %s', (_, written) => {
    const killed = new DatabaseSync(file)
    killed.exec(written)
    killed.close()
    for (const _start of [1, 2]) {
      using pack = open(0)
      expect(pack.prepare('PRAGMA application_id').get()).toEqual({ application_id: 0x7061636b })
      expect(pack.prepare('PRAGMA auto_vacuum').get()).toEqual({ auto_vacuum: 2 })
      expect(pack.prepare('SELECT count(*) AS count FROM objects').get()).toEqual({ count: 0 })
    }
  })

  it('E18 is none if its header is damaged, which does not make it a new one', async () => {
    open(0).close()
    const content = await readFile(file)
    content.fill(0, 30, 90)
    await writeFile(file, content)
    expect(() => open(0)).toThrow('is not a pack of small objects')
    expect(await readFile(file)).toEqual(content)
  })

  it('is opened once another process that makes it lets go of its lock', async () => {
    const other = new Worker(HOLD_LOCK, { eval: true, workerData: file })
    await once(other, 'message')
    expect(() => open(20)).toThrow('database is locked')
    open(10_000).close()
    await once(other, 'exit')
  })
})

/** Has what a process has that sets the journal mode. */
const HOLD_LOCK = `
  const { DatabaseSync } = require('node:sqlite')
  const { parentPort, workerData } = require('node:worker_threads')
  const other = new DatabaseSync(workerData)
  other.exec('PRAGMA auto_vacuum = incremental; PRAGMA application_id = 0x7061636b; BEGIN IMMEDIATE')
  parentPort.postMessage('locked')
  setTimeout(() => other.close(), 500)`
