import { createHash, randomBytes } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { forEachConcurrent } from '../../../src/core/async/for-each-concurrent.ts'
import { type FileName, parseFileName } from '../../../src/core/files/file-name.ts'
import {
  MAX_METADATA_BYTES,
  type Metadata,
  parseMetadata,
} from '../../../src/core/files/metadata.ts'
import type { FileOperation } from '../../../src/core/files/operation.ts'
import { createVersion, objectKey, type Version } from '../../../src/core/objects/object-key.ts'
import { growthOf, type LedgerSpace } from '../../../src/core/uploads/ledger-space.ts'
import { type Actor, callerOf } from '../../../src/core/users/caller.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import type { Database } from '../../../src/database/database.ts'
import { createLedger, type Ledger } from '../../../src/database/ledger.ts'
import { createUserStore, type UserStores } from '../../../src/database/users/user-store.ts'
import { guardWrites } from '../../../src/database/operations.ts'
import { createMemoryFolder } from '../../support/servers/local-server.ts'
import { openMigrated } from '../../support/service/migrated-file.ts'

const PAGE_BYTES = 4096
const FILES = 1_500
const OPTIONS = {
  baseCapacity: 2 ** 40,
  historyLifetimeMs: 86_400_000,
  historyShare: 50,
  queuesWebhooks: true,
}

// The names are as long as they may be, and in no order: each write changes as many pages as it can.
describe('F08 a growing write adds no more to the disk of an embedded database than is claimed for it', () => {
  let opened: AsyncDisposableStack
  let database: Database
  let log: string
  let ledger: Ledger
  let users: UserStores
  let actor: Actor
  /** What each write of a test has added, as a part of what was claimed for it. */
  let shares: number[] = []

  beforeAll(async () => {
    opened = new AsyncDisposableStack()
    const folder = await createMemoryFolder('growth')
    opened.defer(() => folder.remove())
    const file = join(folder.path, 'database.sqlite')
    log = `${file}-wal`
    database = await openMigrated({ file, undoInMemory: true })
    opened.defer(() => database.close())
    users = createUserStore(database, { baseCapacity: 0 })
    ledger = createLedger(database, OPTIONS)
    const { user } = await users.createUser(parseUserId('u'.repeat(64)))
    actor = { ...callerOf(user), credential: undefined }
    await forEachConcurrent([...Array(FILES).keys()], 64, store)
    await sql`PRAGMA wal_autocheckpoint = 0`.execute(database.kysely)
    ledger = guardWrites('ledger', ledger, measuring)
    users = guardWrites('users', users, measuring)
  }, 60_000)
  afterAll(() => opened.disposeAsync())

  const measuring: LedgerSpace = {
    isReserveInUse: () => false,
    measureReserve: async () => 0,
    async run({ kind, rows }, call) {
      await sql`PRAGMA wal_checkpoint(TRUNCATE)`.execute(database.kysely)
      const before = await pages()
      const result = await call()
      const { size } = await stat(log)
      const added = size + ((await pages()) - before) * PAGE_BYTES
      if (kind === 'grows') shares.push(added / growthOf(rows))
      return result
    },
  }

  async function pages(): Promise<number> {
    const { rows } = await sql<{ page_count: number }>`PRAGMA page_count`.execute(database.kysely)
    return rows[0]?.page_count ?? 0
  }

  async function store(at: number): Promise<void> {
    const version = createVersion()
    const upload = { ...actor, version, name: nameOf(at), precondition: undefined }
    const key = objectKey(actor.userId, version)
    await ledger.begin({ ...upload, objectKey: key, bytes: 1 })
    const content = { size: 1, sha256: 'a'.repeat(64), crc32: 7, visibility: 'public' } as const
    await ledger.commit({ ...upload, ...content, metadata: metadataOf(at) })
  }

  async function change(operations: readonly FileOperation[]): Promise<void> {
    await ledger.changeFiles({ ...actor, operations })
  }

  const kinds: Readonly<Record<string, (round: number) => Promise<unknown>>> = {
    'an upload of a new name': (round) => store(FILES + round),
    'an overwrite': (round) => store(round),
    metadata: (round) => change([described(round, round)]),
    'a visibility': (round) =>
      change([{ op: 'update', name: nameOf(round), visibility: 'users', overwrite: false }]),
    'a rename': (round) => change([renamed(50 + round, FILES + 50 + round)]),
    'a rename onto another file': (round) => change([renamed(100 + 2 * round, 101 + 2 * round)]),
    'a user': (round) => users.createUser(parseUserId(`user-${round}`)),
    'a token': () =>
      users.addAccessToken({
        userId: actor.userId,
        tokenId: createVersion(),
        scope: undefined,
        parent: undefined,
        sha256: randomBytes(32).toString('hex'),
        label: 'l'.repeat(100),
        expiresInMs: undefined,
      }),
  }

  it.each(Object.entries(kinds))('%s', async (_kind, write) => {
    shares = []
    for (let round = 0; round < 25; round++) await write(round)
    expect(shares.length).toBeGreaterThanOrEqual(25)
    expect(Math.max(...shares)).toBeLessThanOrEqual(1)
  })

  it.each([
    [10, 200],
    [100, 300],
    [400, 500],
  ])('a batch of %d', async (count, first) => {
    shares = []
    const some = [...Array(count).keys()].map((at) => first + at)
    await change(some.map((at) => described(at, count)))
    await change(some.map((at) => renamed(at, 2 * FILES + at)))
    await change(some.map((at) => renamed(2 * FILES + at, at)))
    // Half of them end the other half.
    const [half, other] = [some.slice(0, count / 2), some.slice(count / 2)]
    await change(half.map((at, index) => renamed(at, other[index] ?? at)))
    const { rows } = await sql<{ version: Version }>`
      SELECT version FROM history ORDER BY ended_at DESC, version LIMIT ${sql.lit(count / 2)}
    `.execute(database.kysely)
    await change(
      rows.map(({ version }, at) => ({
        op: 'restore',
        version,
        name: nameOf(half[at] ?? 0),
        overwrite: true,
      })),
    )
    expect(shares).toHaveLength(5)
    expect(Math.max(...shares)).toBeLessThanOrEqual(1)
  })
})

function nameOf(at: number): FileName {
  return parseFileName(createHash('sha512').update(`${at}`).digest('hex').padEnd(255, 'n'))
}

function metadataOf(at: number): Metadata {
  return parseMetadata(JSON.stringify({ data: `${at}`.padEnd(MAX_METADATA_BYTES - 50, 'x') }))
}

function described(at: number, version: number): FileOperation {
  const metadata = { data: `${version} ${at}`.padEnd(MAX_METADATA_BYTES - 50, 'y') }
  return { op: 'update', name: nameOf(at), metadata, overwrite: false }
}

function renamed(at: number, to: number): FileOperation {
  return { op: 'update', name: nameOf(at), newName: nameOf(to), overwrite: true }
}
