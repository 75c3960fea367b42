import type {
  ResumableLedger,
  NamedResumable,
  ResumablePage,
  ResumableUpload,
  Unfinished,
} from '../../core/resumable/resumable-ledger.ts'
import { untilFound } from '../ledger/eviction-search.ts'
import type { Operations } from '../operations/operation.ts'
import type { Session } from '../operations/session.ts'
import { askToStop, claimAppend, claimFinish, endFinish, fence } from './claim.ts'
import { CREATE_STATEMENT, createResumable } from './create.ts'
import { isPrepared, prepare } from './prepare.ts'
import { recordAppend } from './record.ts'
import { sql } from 'kysely'
import type { File } from '../../core/files/file.ts'
import type { Version } from '../../core/objects/object-key.ts'
import type { Piece } from '../../core/objects/append-store.ts'
import type { UserId } from '../../core/users/user-id.ts'
import type { PieceRow } from '../schema.ts'
import { createdAt, isCurrent, type LedgerTx } from '../ledger/ledger-sql.ts'
import { unfinishedUploads } from '../ledger/quota-rule.ts'
import { FILE_COLUMNS } from '../ledger/rows.ts'
import { isInRange } from '../prefix-range.ts'
import { isLeased, type ResumableRow, selectResumables, toPiece, toResumable } from './rows.ts'

/** Locks are taken in the order `quotas`, `uploads`, `resumable_uploads`, `garbage`. */
export const RESUMABLE_OPERATIONS = {
  createResumable: {
    through: 'change',
    run: createResumable,
    statement: CREATE_STATEMENT,
    mayEvict: true,
    effect: 'grows',
    startsWriter: true,
  },
  findResumable: { through: 'queryPrepared', run: findResumable, effect: 'reads' },
  findVersion: { through: 'queryPrepared', run: findVersion, effect: 'reads' },
  listResumables: { through: 'queryPrepared', run: listResumables, effect: 'reads' },
  measureUnfinished: { through: 'queryPrepared', run: measureUnfinished, effect: 'reads' },
  prepareAppend: { bind: prepareAppend, effect: 'frees' },
  claimAppend: { through: 'change', run: claimAppend, effect: 'grows', startsWriter: true },
  claimFinish: { through: 'change', run: claimFinish, effect: 'frees' },
  // Of bytes that the store has already.
  recordAppend: { through: 'change', run: recordAppend, effect: 'frees' },
  endFinish: { through: 'queryPrepared', run: endFinish, effect: 'frees' },
  listPieces: { through: 'queryPrepared', run: listPieces, effect: 'reads' },
  askToStop: { through: 'queryPrepared', run: askToStop, effect: 'frees' },
  listAskedToStop: { through: 'queryPrepared', run: listAskedToStop, effect: 'reads' },
  fence: { through: 'queryPrepared', run: fence, effect: 'frees' },
  confirm: {
    bind:
      ({ database }) =>
      () =>
        database.confirm(),
    effect: 'reads',
  },
} as const satisfies Operations<ResumableLedger>

/** Takes the lock only if something has to be written or searched. */
function prepareAppend({ queryPrepared, change }: Session): ResumableLedger['prepareAppend'] {
  return async (append) => {
    if (await queryPrepared((tx) => isPrepared(tx, append))) return
    await untilFound(() => change(append.userId, (tx) => prepare(tx, append)))
  }
}

async function findResumable(
  { db, now }: LedgerTx,
  { userId, userCreatedAt, version, linkId }: NamedResumable,
): Promise<ResumableUpload | undefined> {
  const byLink = linkId === undefined ? sql`` : sql`AND uploads.link_id = ${linkId}`
  const { rows } = await sql<ResumableRow>`
    ${selectResumables(now)} JOIN users ON users.id = resumable_uploads.user_id
    WHERE resumable_uploads.version = ${version} AND resumable_uploads.user_id = ${userId}
      ${byLink} ${createdAt(userCreatedAt)}
  `.execute(db)
  return rows[0] && toResumable(rows[0])
}

async function findVersion(
  { db, now }: LedgerTx,
  { userId, userCreatedAt, version }: NamedResumable,
): Promise<File | undefined> {
  const { rows } = await sql<File>`
    SELECT ${FILE_COLUMNS} FROM files JOIN users ON users.id = files.user_id
    WHERE files.version = ${version} AND files.user_id = ${userId} AND ${isCurrent({ now })}
      ${createdAt(userCreatedAt)}
  `.execute(db)
  return rows[0]
}

async function listResumables(
  { db, now }: LedgerTx,
  { userId, userCreatedAt, prefix, after, limit }: ResumablePage,
): Promise<readonly ResumableUpload[]> {
  // A user has few unfinished uploads, so no index leads to their names.
  const isNamed =
    prefix === undefined ? sql`` : sql`AND ${isInRange(sql`uploads.name`, { prefix, after: '' })}`
  const { rows } = await sql<ResumableRow>`
    ${selectResumables(now)} JOIN users ON users.id = resumable_uploads.user_id
    WHERE resumable_uploads.user_id = ${userId} AND resumable_uploads.version > ${after ?? ''}
      ${isNamed} AND uploads.state = 'pending' AND ${isLeased({ now })} ${createdAt(userCreatedAt)}
    ORDER BY resumable_uploads.version LIMIT ${limit}
  `.execute(db)
  return rows.map(toResumable)
}

async function measureUnfinished({ db, now }: LedgerTx, userId: UserId): Promise<Unfinished> {
  const { count, bytes } = unfinishedUploads(now)
  const { rows } = await sql<Unfinished>`
    SELECT ${count} AS count, ${bytes} AS bytes FROM quotas WHERE user_id = ${userId}
  `.execute(db)
  return rows[0] ?? { count: 0, bytes: 0 }
}

async function listPieces({ db }: LedgerTx, version: Version): Promise<readonly Piece[]> {
  const { rows } = await sql<PieceRow>`
    SELECT first_byte, size, receipt, object_key FROM upload_pieces
    WHERE version = ${version} ORDER BY first_byte
  `.execute(db)
  return rows.map(toPiece)
}

async function listAskedToStop({ db }: LedgerTx, holder: string): Promise<readonly Version[]> {
  const { rows } = await sql<{ readonly version: Version }>`
    SELECT version FROM resumable_uploads WHERE holder = ${holder} AND stop_asked = 1
  `.execute(db)
  return rows.map(({ version }) => version)
}
