import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Database } from '../../../src/database/database.ts'
import { download, MIB, upload, usageOf } from '../../http/fixture.ts'
import { eventually } from '../../support/eventually.ts'
import type { TcpProxy, Way } from '../../support/faults/tcp-proxy.ts'
import { missing, openFaultyService, SHORT } from './faulty-service.ts'
import { expectSettled } from './settled.ts'

const CASES = [
  { outcome: 'did not arrive', loses: 'request', back: true, status: 503, content: 'old' },
  { outcome: 'arrived', loses: 'answer', back: true, status: 200, content: 'new' },
  { outcome: 'did not arrive', loses: 'request', back: false, status: 503, content: 'old' },
  { outcome: 'arrived', loses: 'answer', back: false, status: 503, content: 'new' },
] as const

describe.skipIf(missing)('F04 the connection is lost in the commit of an overwrite', () => {
  it.concurrent.each(CASES)(
    'a COMMIT that $outcome, and the database is back at once: $back; it answers $status and leaves the $content file',
    async ({ loses, back, status, content }) => {
      const armed: Way[] = []
      const wrap = (database: Database, way: TcpProxy): Database =>
        ambush({ database, way, back, spring: () => armed.shift() })
      await using faulty = await openFaultyService({ ...SHORT, wrap })
      const { service, sound, ways } = faulty
      const user = await sound.createUser(64 * MIB)
      const files = { old: randomBytes(70_000), new: randomBytes(90_000) }
      const what = { user, name: 'file.bin', timeoutMs: 60_000 }
      await upload(sound, { ...what, content: files.old })
      // What has a condition is committed by itself; those that go together are in cluster/postgres.
      const headers = { 'if-match': '*' }

      armed.push(loses)
      const reply = await upload(service, { ...what, headers, content: files.new })
      await ways['the database'].heal()

      expect(reply.status).toBe(status)
      await eventually(async () => {
        const read = await download(service, { user })
        expect({ status: read.status, exact: read.body.equals(files[content]) }).toEqual({
          status: 200,
          exact: true,
        })
      })
      await expectSettled(faulty, { user, names: ['file.bin'] })
      expect(await usageOf(sound, user)).toMatchObject({ used: files[content].length })
    },
  )
})

interface Ambush {
  readonly database: Database
  readonly way: TcpProxy
  /** What is swallowed from when the statements of a commit are done and COMMIT is next. */
  readonly spring: () => Way | undefined
  /** Whether the way is sound again as soon as the commit has failed. */
  readonly back: boolean
}

/** A database whose way breaks under the commit of an upload. */
function ambush({ database, way, spring, back }: Ambush): Database {
  return {
    ...database,
    async transaction(work) {
      try {
        return await database.transaction(async (tx) => {
          const result = await work(tx)
          const lost = isCommitted(result) ? spring() : undefined
          if (lost !== undefined) await way.disturb({ kind: 'swallow' }, lost)
          return result
        })
      } catch (error) {
        if (back) await healAndClose(way)
        throw error
      }
    },
  }
}

/** The fault's end closes every connection, and the pool needs a moment to see that those it keeps are gone. */
async function healAndClose(way: TcpProxy): Promise<void> {
  await way.heal()
  await setTimeout(500)
}

/** Whether a transaction is about to answer what `UploadLedger.commit` does. */
function isCommitted(result: unknown): boolean {
  return typeof result === 'object' && result !== null && 'replaced' in result
}
