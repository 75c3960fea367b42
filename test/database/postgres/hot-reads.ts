import { callerOf } from '../../../src/core/users/caller.ts'
import { CompiledQuery, type KyselyPlugin } from 'kysely'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import { objectKey, createVersion } from '../../../src/core/objects/object-key.ts'
import { parseUserId, parseUserIdPrefix } from '../../../src/core/users/user-id.ts'
import { createDatabase, type Database } from '../../../src/database/database.ts'
import { createLedger, type Ledger } from '../../../src/database/ledger.ts'
import { createUserStore } from '../../../src/database/users/user-store.ts'
import { type Account, accountOf, BASE_CAPACITY, digestOf } from '../../core/ledger/fixture.ts'
import { part, resumablesOf, tailPiece } from '../../core/ledger/resumable/fixture.ts'

/**
 * Records the statements of every request and of the sweeper as they are sent, and returns each
 * with its plan.
 */
export async function explainHotReads(database: Database, explain: string): Promise<string[]> {
  const statements: CompiledQuery[] = []
  await runHotReads(recording(database, statements))
  return await explainAll({ database, statements, explain })
}

/** Each statement with its plan. */
export async function explainAll(options: {
  readonly database: Database
  readonly statements: readonly CompiledQuery[]
  readonly explain: string
}): Promise<string[]> {
  const { database, statements, explain } = options
  return await database.kysely.transaction().execute(async (tx) => {
    const plans: string[] = []
    for (const statement of statements) {
      const { sql, parameters } = statement
      // What a statement before it has set for its plan counts.
      const isSetting = sql.includes('set_config')
      const asked = CompiledQuery.raw(`${explain} ${sql}`, [...parameters])
      const { rows } = await tx.executeQuery(isSetting ? statement : asked)
      plans.push([sql, ...rows.map((row) => JSON.stringify(row))].join('\n'))
    }
    return plans
  })
}

async function runHotReads(database: Database): Promise<void> {
  const ledger = createLedger(database, { baseCapacity: BASE_CAPACITY })
  const users = createUserStore(database, { baseCapacity: BASE_CAPACITY })
  const userId = parseUserId('hot')
  const { user } = await users.createUser(userId)
  const account = accountOf({ ledger, users, ...callerOf(user) })
  await account.put('a', 1)
  await account.put('a', 2)
  await account.extend(await account.begin('b', 1), 2)
  await account.abort(createVersion())
  await ledger.findAccount(userId)
  await ledger.reportCapacity(userId)
  await ledger.listAccounts({ prefix: parseUserIdPrefix(''), after: userId, limit: 10 })
  for (const audience of ['owner', 'users', 'anyone'] as const) {
    await ledger.findFile({ userId, name: parseFileName('a'), audience })
  }
  const found = { userId, name: parseFileName('a'), audience: 'owner' } as const
  await Promise.all([ledger.findFile(found), ledger.findFile(found)])
  await account.change('a', { newName: 'c' })
  await account.remove('c')
  await ledger.readChanges({ ...account, after: 0, limit: 10 })
  await ledger.latestChange(account)
  await ledger.latestSequences([userId])
  await ledger.readGrantClock()
  const turns = { after: { at: 1, userId }, to: 2, limit: 10 }
  for (const kind of ['starts', 'ends'] as const)
    await ledger.listGrantBoundaries({ ...turns, kind })
  await ledger.checkBegin({ ...account, name: found.name, bytes: 1 })
  await users.findAccessTokenUser(digestOf(1))
  await users.recordAccessTokenUses([{ sha256: digestOf(1), agoMs: 1 }])
  await users.listAccessTokens({ userId })
  await ledger.listExpiredUploads({ limit: 10 })
  const place = { objectKey: objectKey(userId, createVersion()), version: createVersion() }
  const aborted = { ...place, userId, removeAt: 0, isLast: false }
  await ledger.listAbortedUploads({ after: aborted, limit: 10 })
  const removals = { removed: [aborted, { ...aborted, isLast: true }], failed: [aborted] }
  await ledger.noteAbortedRemovals({ ...removals, userId })
  await ledger.forgetUploads({ limit: 10 })
  const garbage = { ...place, notBefore: 0, userId }
  await ledger.forgetChanges({ lifetimeMs: 1, limit: 10 })
  await ledger.listGarbage({ after: garbage, limit: 10 })
  await ledger.noteGarbageRemovals({ userId, removed: [garbage], failed: [garbage] })
  await ledger.measureBacklog(10)
  await ledger.measureJournal(10)
  await appendToUpload(ledger, account)
  const claim = { name: 'sweep', holder: 'hot' } as const
  await ledger.acquireLeaderLease({ ...claim, leaseMs: 1 })
  await ledger.releaseLeaderLease(claim)
  await ledger.findUserToPurge(userId)
  await ledger.purgeDeletedUsers({ limit: 10 })
}

async function appendToUpload(ledger: Ledger, account: Account): Promise<void> {
  const uploads = resumablesOf(ledger, account)
  const upload = await uploads.create('r', 20)
  await uploads.prepare(upload, { bytes: 20 })
  const tailKey = uploads.tailKey()
  const { upload: claimed } = await uploads.hold(upload, { tailKey })
  const tail = [tailPiece(0, { size: 3, key: tailKey })]
  await uploads.record(claimed, { offset: 3, replacedFrom: 0, pieces: tail, holderMs: 1_000 })
  await uploads.record(claimed, { offset: 8, replacedFrom: 0, pieces: [part(0)] })
  await ledger.askToStop(upload)
  await ledger.listAskedToStop('here')
  await ledger.fence(claimed)
  const { upload: last } = await uploads.hold(upload, { offset: 8, tailKey: uploads.tailKey() })
  await uploads.record(last, { offset: 20, sealed: { digest: undefined } })
  const finishing = await uploads.finish(upload)
  await ledger.endFinish({ ...last, epoch: finishing?.epoch ?? 0, refusal: 'capacity_exceeded' })
  await ledger.listPieces(upload.version)
  await ledger.listResumables({ ...account, after: undefined, limit: 10 })
  await ledger.measureUnfinished(account.userId)
  await ledger.findVersion(upload)
  const deferred = await uploads.create('s')
  await uploads.prepare(deferred, { bytes: 5, length: 5 })
  await uploads.abort(deferred, { endedAs: 'cancelled' })
  await uploads.abort(upload)
}

/** The same database, which notes each statement that is sent. */
export function recording(database: Database, statements: CompiledQuery[]): Database {
  const plugin: KyselyPlugin = {
    transformQuery: ({ node, queryId }) => {
      const query = database.kysely.getExecutor().compileQuery(node, queryId)
      // What is compiled without values is run in batches.
      if (query.parameters.every(isValue)) statements.push(query)
      return node
    },
    transformResult: async ({ result }) => result,
  }
  const kysely = database.kysely.withPlugin(plugin)
  const { runBatch } = database
  return createDatabase({
    ...database,
    kysely,
    confirmation: undefined,
    runBatch:
      runBatch &&
      (({ lock, take }) =>
        runBatch({
          lock,
          take: (locked) => {
            const queries = take(locked)
            statements.push(lock, ...queries)
            return queries
          },
        })),
    classify: () => 'defect',
    release: () => Promise.resolve(),
  })
}

function isValue(parameter: unknown): boolean {
  return parameter === null || typeof parameter !== 'object' || Array.isArray(parameter)
}
