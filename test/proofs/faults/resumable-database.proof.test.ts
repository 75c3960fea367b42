// On SQLite and local files.
import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../../../src/database/database.ts'
import { databaseUnavailable } from '../../../src/database/repeats.ts'
import { openSqlite } from '../../../src/database/sqlite/sqlite.ts'
import { createFilesystemStore } from '../../../src/object-store/filesystem/store.ts'
import { expectProblem, jsonOf, type Placed, placeFile, SHORT_LINGER } from '../../http/fixture.ts'
import {
  append,
  beginAppend,
  createUpload,
  expectFile,
  expectOldFile,
  head,
  look,
  offsetOf,
  resume,
  type TusUpload,
} from '../../http/resumable/tus-requests.ts'
import { createMemoryFolder } from '../../support/servers/local-server.ts'
import { startTestService, type TestService } from '../../support/service/test-service.ts'

const UNAVAILABLE = { status: 503, code: 'unavailable' } as const

/** What the database does to the transactions that `isMeant` picks. */
interface Fault {
  readonly isMeant: (result: unknown) => boolean
  /** Whether they take effect before they fail. */
  readonly isApplied: boolean
}

const isCommit = (result: unknown): boolean =>
  typeof result === 'object' && result !== null && 'replaced' in result

describe('a database that fails under a resumable upload', () => {
  let opened: AsyncDisposableStack
  let service: TestService
  let placed: Placed
  let upload: TusUpload
  let fault: Fault | undefined
  const content = randomBytes(50_000)
  beforeEach(async () => {
    fault = undefined
    opened = new AsyncDisposableStack()
    const folder = await createMemoryFolder('faulty')
    opened.defer(() => folder.remove())
    const { path } = folder
    const sound = opened.adopt(await openSqlite({ file: `${path}/test.db` }), (it) => it.close())
    const database = faulty(sound, () => fault)
    const objects = createFilesystemStore({ directory: `${path}/objects` })
    service = opened.adopt(await startTestService({ database, objects }, SHORT_LINGER), (it) =>
      it.stop(),
    )
    placed = await placeFile(service)
    upload = await createUpload(service, { user: placed.user, length: content.length })
  })
  afterEach(() => opened.disposeAsync())

  it.each([
    ['did not arrive', false],
    ['arrived', true],
  ])(
    'R13 whose commit is not known to have happened, and %s, is settled by a HEAD',
    async (_, isApplied) => {
      fault = { isMeant: isCommit, isApplied }
      const reply = await append(service, upload, { body: content })
      // A commit is repeated, and answers the same for the same version.
      expectProblem(reply, UNAVAILABLE)
      expect(isApplied ? [200] : [423]).toContain((await head(service, upload)).status)
      fault = undefined
      expect(await offsetOf(service, upload)).toBe(content.length)
      await expectOldFile(service, { ...upload, content })
      expect(jsonOf(await look(service, upload))).toMatchObject({ state: 'finished' })
    },
  )

  it('R14 that is gone makes HEAD answer 423 and appends 503, and nothing recorded is lost', async () => {
    const body = content.subarray(0, 20_000)
    await append(service, upload, { body })
    const [first, rest] = [content.subarray(20_000, 30_000), content.subarray(30_000)]
    const running = await beginAppend(service, upload, { offset: 20_000, first, rest })
    fault = { isMeant: () => true, isApplied: false }
    running.goOn()
    expectProblem(await running.reply, UNAVAILABLE)
    const refused = await head(service, upload)
    expect(refused).toMatchObject({ status: 423, headers: { 'retry-after': '5' } })
    expectProblem(await append(service, upload, { offset: 20_000, body: rest }), UNAVAILABLE)
    fault = undefined
    expect(await offsetOf(service, upload)).toBeGreaterThanOrEqual(20_000)
    await resume(service, upload, content)
    await expectFile(service, upload, content)
  })

  it('R14 that fails in the record of the last byte leaves an upload that a HEAD finishes (I12)', async () => {
    let times = 0
    // Also that of earlier bytes, if the append has recorded some: a record of more bytes makes good for it.
    fault = { isMeant: (result) => result === true && ++times > 0, isApplied: false }
    expectProblem(await append(service, upload, { body: content }), UNAVAILABLE)
    expect(times).toBeGreaterThan(0)
    fault = undefined
    const offset = await offsetOf(service, upload)
    if (offset < content.length) await resume(service, upload, content)
    await expectOldFile(service, { ...upload, content })
  })
})

function faulty(database: Database, faultOf: () => Fault | undefined): Database {
  const gone = (): Error => databaseUnavailable(new Error('the connection is gone'))
  return {
    ...database,
    async query(work) {
      const fault = faultOf()
      if (fault?.isMeant(undefined) === true) throw gone()
      return await database.query(work)
    },
    async transaction(work) {
      let isHit = false
      const result = await database.transaction(async (tx) => {
        const done = await work(tx)
        const fault = faultOf()
        isHit = fault?.isMeant(done) === true
        if (isHit && fault?.isApplied === false) throw gone()
        return done
      })
      if (isHit) throw gone()
      return result
    },
  }
}
