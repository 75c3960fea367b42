import { setImmediate } from 'node:timers/promises'
import { type CompiledQuery, type RawBuilder, sql } from 'kysely'
import type { File } from '../../core/files/file.ts'
import type { Audience, ListAudience } from '../../core/files/listing.ts'
import type { FileLedger, FindFile, ListFiles } from '../../core/files/file-ledger.ts'
import type { Database } from '../database.ts'
import { compileOnce, type Slot } from '../statement.ts'
import { type Clock, isCurrent } from '../ledger/ledger-sql.ts'
import { FILE_COLUMNS } from '../ledger/rows.ts'

/** SQL for whether the audience sees the `files` row, in the same terms as the partial indexes. */
const VISIBLE_TO = {
  owner: sql`1 = 1`,
  operator: sql`1 = 1`,
  users: sql`files.visibility <> 'private'`,
  anyone: sql`files.visibility = 'public'`,
} as const satisfies Record<ListAudience, RawBuilder<unknown>>

/** SQL for whether the listing shows a `files` row within its range, in the same terms as the partial indexes. */
export function isListed({ audience, deviceId }: Pick<ListFiles, 'audience' | 'deviceId'>) {
  const seen = VISIBLE_TO[audience]
  return deviceId === undefined ? seen : sql`${seen} AND files.device_id = ${deviceId}`
}

/** Tests visibility in SQL, so that a hidden file takes no longer than a missing one. */
export function createFindFile(database: Database): FileLedger['findFile'] {
  const { kysely, runBatch } = database
  const findOne = compileOnce<FindFile, File>(
    kysely,
    (slot) => sql<File>`SELECT ${FILE_COLUMNS} ${fromSeenFiles(database, slot)}`,
  )
  if (runBatch === undefined) {
    return async (file) => (await read(database, findOne(file)))[0]
  }
  const findMany = compileOnce<Wanted, FoundRow>(kysely, (slot) => manyStatement(database, slot))
  return createReadBatches(async (files) => {
    const [first] = files
    if (first === undefined) return []
    if (files.length === 1) return await read(database, findOne(first))
    const found: (File | undefined)[] = []
    for (const { at, ...file } of await read(database, findMany(toWanted(files)))) {
      found[at - 1] = file
    }
    return found
  })
}

/** Not by `execute`: a download must not queue behind changes that wait for rows. */
async function read<R>(database: Database, statement: CompiledQuery<R>): Promise<readonly R[]> {
  const { rows } = await database.query((db) => db.executeQuery(statement))
  return rows
}

type Value = (member: keyof FindFile) => RawBuilder<unknown>

function fromSeenFiles(clock: Clock, value: Value) {
  const [owner, users] = (['owner', 'users'] as const).map(
    (audience) => sql`WHEN ${sql.lit(audience)} THEN ${VISIBLE_TO[audience]}`,
  )
  return sql`
    FROM files JOIN users ON users.id = files.user_id
    WHERE files.user_id = ${value('userId')} AND files.name = ${value('name')}
      AND ${isCurrent(clock)} AND users.status = 'active'
      AND users.created_at = COALESCE(${value('userCreatedAt')}, users.created_at)
      AND CASE ${value('audience')} ${owner} ${users} ELSE ${VISIBLE_TO.anyone} END
  `
}

interface Wanted {
  readonly userIds: readonly string[]
  readonly names: readonly string[]
  readonly audiences: readonly Audience[]
  readonly userCreatedAts: readonly (number | null)[]
}

function toWanted(files: readonly FindFile[]): Wanted {
  return {
    userIds: files.map(({ userId }) => userId),
    names: files.map(({ name }) => name),
    audiences: files.map(({ audience }) => audience),
    userCreatedAts: files.map(({ userCreatedAt }) => userCreatedAt ?? null),
  }
}

type FoundRow = File & { readonly at: number }

/** PostgreSQL only. LATERAL forces one lookup per file, whatever number the planner estimates. */
function manyStatement(clock: Clock, slot: Slot<Wanted>) {
  return sql<FoundRow>`
    SELECT wanted.at, found.*
    FROM unnest(
      CAST(${slot('userIds')} AS TEXT[]), CAST(${slot('names')} AS TEXT[]),
      CAST(${slot('audiences')} AS TEXT[]), CAST(${slot('userCreatedAts')} AS BIGINT[])
    ) WITH ORDINALITY AS wanted ("userId", name, audience, "userCreatedAt", at)
    CROSS JOIN LATERAL (
      SELECT ${FILE_COLUMNS} ${fromSeenFiles(clock, (member) => sql.ref(`wanted.${member}`))} LIMIT 1
    ) AS found
  `
}

/** Batches concurrent reads into one `readAll`, which answers in key order. If it rejects, all of them reject. */
export function createReadBatches<K, V>(
  readAll: (keys: readonly K[]) => Promise<readonly V[]>,
): (key: K) => Promise<V> {
  let gathering: K[] | undefined
  let answers: Promise<readonly V[]>

  async function readTogether(keys: readonly K[]): Promise<readonly V[]> {
    // Lets reads that arrived on other connections in this iteration join.
    await setImmediate()
    if (gathering === keys) gathering = undefined
    return await readAll(keys)
  }

  return async (key) => {
    if (gathering === undefined || gathering.length === MAX_KEYS) {
      gathering = []
      answers = readTogether(gathering)
    }
    const at = gathering.push(key) - 1
    return (await answers)[at] as V
  }
}

/** Bounds how long a read waits for others. */
const MAX_KEYS = 64
