import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MAX_LABEL_LENGTH } from '../../src/core/auth/terms.ts'
import { OPERATOR_ACTIONS } from '../../src/core/audit/audit-ledger.ts'
import { LINK_KINDS } from '../../src/core/links/link.ts'
import { hashPassword, MAX_PASSWORD_LENGTH } from '../../src/core/links/link-password.ts'
import { ACTIONS, WHEN_FULL } from '../../src/core/auth/scope.ts'
import { sha256 } from '../../src/core/auth/sha256.ts'
import { CHANGE_EVENTS } from '../../src/core/changes/change.ts'
import { ERROR_CODES } from '../../src/core/error-codes.ts'
import { ENDS } from '../../src/core/history/past-version.ts'
import { type File, NEVER, VISIBILITIES } from '../../src/core/files/file.ts'
import {
  MAX_FILE_NAME_BYTES,
  parseFileName,
  parseFileNamePrefix,
} from '../../src/core/files/file-name.ts'
import { MAX_MEDIA_TYPE_BYTES, parseMediaType } from '../../src/core/files/media-type.ts'
import { MAX_METADATA_BYTES, parseMetadata } from '../../src/core/files/metadata.ts'
import { createVersion, objectKey } from '../../src/core/objects/object-key.ts'
import { OPERATOR_NAME_PATTERN, OPERATOR_ROLES } from '../../src/core/operators/operator.ts'
import { CAPACITY_STATES } from '../../src/core/quota/capacity.ts'
import { MODEL_PATTERN, REFERENCE_PATTERN, SOURCE_PATTERN } from '../../src/core/quota/grants.ts'
import { MAX_PRECONDITION_BYTES } from '../../src/core/resumable/create-upload.ts'
import { parseUserId } from '../../src/core/users/user-id.ts'
import { webhookOf } from '../../src/core/webhooks/webhook.ts'
import { WEBHOOK_EVENTS } from '../../src/core/webhooks/webhook-events.ts'
import { MAX_REASON_LENGTH } from '../../src/webhooks/sender.ts'
import { scopeJson } from '../../src/database/auth/access-tokens.ts'
import { migrate } from '../../src/database/migrate.ts'
import { openSqlite } from '../../src/database/sqlite/sqlite.ts'
import type { Database } from '../../src/database/database.ts'
import { parseMetadata as parseUploadMetadata } from '../../src/http/routes/uploads/tus-headers.ts'
import { MAX_RECEIPT_BYTES, MAX_STATE_BYTES } from '../support/recorded-upload.ts'

describe('the bounds that the README of the database states', () => {
  let folder: string
  let database: Database
  let bounds: Bounds

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bounds-'))
    database = await openSqlite({ file: join(folder, 'database.sqlite') })
    await migrate(database)
    bounds = readBounds(await readFile('src/database/README.md', 'utf8'))
  })
  afterAll(async () => {
    await database.close()
    await rm(folder, { recursive: true })
  })

  it('are of every table, and of no other', async () => {
    const tables = [...(await textColumns(database)).keys()]
    expect(sorted(bounds.tables.keys())).toEqual(sorted(tables))
    for (const [table, { rows }] of bounds.tables) expect([table, rows]).not.toEqual([table, ''])
  })

  it('are of every text column, and of no other', async () => {
    for (const [table, columns] of await textColumns(database)) {
      const named = bounds.tables.get(table)?.columns ?? new Map<string, number>()
      const own = columns.filter((column) => !bounds.common.has(column))
      expect([table, ...sorted(own)]).toEqual([table, ...sorted(named.keys())])
    }
  })

  it('are enforced before a value reaches the database', () => {
    const ofTables = [...bounds.tables].map(([table, { columns }]) => ({ table, columns }))
    const all = [{ table: '', columns: bounds.common }, ...ofTables]
    const found = all.flatMap(({ table, columns }) =>
      [...columns].map(([column, bytes]) => ({ column: `${table}.${column}`, bytes })),
    )
    const enforced = found.map(({ column }) => ({ column, bytes: longest(column) }))
    expect(found).toEqual(enforced)
  })
})

interface Bounds {
  /** Of columns of these names in any table. */
  readonly common: ReadonlyMap<string, number>
  readonly tables: ReadonlyMap<
    string,
    { readonly rows: string; readonly columns: ReadonlyMap<string, number> }
  >
}

function readBounds(page: string): Bounds {
  const [, section = ''] = page.split('## What bounds each table')
  const [, , ...lines] = section.split('\n## ')[0]?.match(/^\|.*\|$/gm) ?? []
  const rows = lines.map((line) => line.split('|').map((cell) => cell.trim()))
  const parsed = rows.map(([, table = '', about = '', bytes = '']) => {
    const columns = [...bytes.matchAll(/`(\w+)` (\d+)/g)]
    const sizes = columns.map(([, column = '', size]) => [column, Number(size)] as const)
    return [table.replaceAll('`', ''), { rows: about, columns: new Map(sizes) }] as const
  })
  const [[, common] = ['', { columns: new Map<string, number>() }], ...tables] = parsed
  return { common: common.columns, tables: new Map(tables) }
}

async function textColumns({ kysely }: Database): Promise<ReadonlyMap<string, readonly string[]>> {
  const tables = await kysely.introspection.getTables()
  return new Map(
    tables.map(({ name, columns }) => {
      const texts = columns.filter(({ dataType }) => !/^(bigint|integer)$/i.test(dataType))
      return [name, texts.map((column) => column.name)]
    }),
  )
}

function sorted(names: Iterable<string>): readonly string[] {
  return [...names].toSorted((a, b) => a.localeCompare(b))
}

/** The bytes of the longest value that reaches the column. */
function longest(column: string): number | undefined {
  return LONGEST[column]?.()
}

const USER = parseUserId('u'.repeat(64))
const KEY = objectKey(USER, createVersion())
const PASSWORD = await hashPassword('p'.repeat(MAX_PASSWORD_LENGTH))

const LONGEST: Readonly<Record<string, () => number>> = {
  '.user_id': () => longestAccepted((text) => parseUserId(text)),
  '.version': () => createVersion().length,
  '.object_key': () => KEY.length,
  '.sha256': () => 'f'.repeat(64).length,
  '.visibility': () => longestOf(VISIBILITIES),
  '.device_id': () => longestAccepted(matches(REFERENCE_PATTERN)),
  'users.id': () => longestAccepted((text) => parseUserId(text)),
  'users.status': () => longestOf(['active', 'suspended', 'deleted']),
  'access_tokens.token_id': () => randomUUID().length,
  'access_tokens.label': () => 3 * MAX_LABEL_LENGTH,
  'access_tokens.scope': () => {
    // A quote takes two bytes in JSON.
    const prefix = parseFileNamePrefix(asPath('"'.repeat(MAX_FILE_NAME_BYTES)))
    const scope = { actions: ACTIONS, prefix, deviceId: undefined }
    return Math.max(...WHEN_FULL.map((whenFull) => scopeJson({ ...scope, whenFull }).length))
  },
  'access_tokens.parent_id': () => sha256('a JWT').length,
  'access_tokens.credential': () => sha256('the scope of a JWT').length,
  'links.link_id': () => createVersion().length,
  'links.token_id': () => sha256('a JWT').length,
  'links.credential': () => sha256('the scope of a JWT').length,
  'uploads.credential': () => sha256('the scope of a JWT').length,
  'links.kind': () => longestOf(LINK_KINDS),
  'links.name': () => longestAccepted((text) => parseFileName(asPath(text))),
  'links.prefix': () => longestAccepted((text) => parseFileNamePrefix(asPath(text))),
  'links.label': () => 3 * MAX_LABEL_LENGTH,
  'links.password_hash': () => PASSWORD.length,
  'grants.source': () => longestAccepted(matches(SOURCE_PATTERN)),
  'grants.reference': () => longestAccepted(matches(REFERENCE_PATTERN)),
  'grants.model': () => longestAccepted(matches(MODEL_PATTERN)),
  'grants.label': () => 3 * MAX_LABEL_LENGTH,
  'grants.share': () => String(Number.MAX_SAFE_INTEGER).length,
  'files.name': () => longestAccepted((text) => parseFileName(asPath(text))),
  '.media_type': () => MEDIA_TYPE?.length ?? 0,
  'files.metadata': () => METADATA.length,
  'history.metadata': () => METADATA.length,
  'files.stored_by': () => sha256('').length,
  'history.stored_by': () => sha256('').length,
  'history.ended_by': () => sha256('').length,
  'quotas.capacity_state': () => longestOf(CAPACITY_STATES),
  'history.name': () => longestAccepted((text) => parseFileName(asPath(text))),
  'history.ended_as': () => longestOf(ENDS),
  'changes.type': () => longestOf(CHANGE_EVENTS),
  'changes.name': () => longestAccepted((text) => parseFileName(asPath(text))),
  'changes.previous_name': () => longestAccepted((text) => parseFileName(asPath(text))),
  'parked_webhooks.webhook_id': () => EVENT.id.length,
  'parked_webhooks.type': () => longestOf(WEBHOOK_EVENTS),
  // No more is known than that the bound suffices.
  'parked_webhooks.body': () => Math.max(5632, Buffer.byteLength(EVENT.body)),
  'parked_webhooks.reason': () => 3 * MAX_REASON_LENGTH,
  'uploads.name': () => longestAccepted((text) => parseFileName(asPath(text))),
  'uploads.state': () => longestOf(['pending', 'committed', 'aborted']),
  // PostgreSQL writes spaces between the members. No more is known than that the bound suffices.
  'uploads.outcome': () => Math.max(8192, JSON.stringify(OUTCOME).length + 64),
  'resumable_uploads.holder': () => randomUUID().length,
  'resumable_uploads.tail_key': () => KEY.length,
  'resumable_uploads.store_state': () => MAX_STATE_BYTES,
  'resumable_uploads.metadata': () => longestAccepted(parseAsMetadata),
  'resumable_uploads.precondition': () => MAX_PRECONDITION_BYTES,
  'uploads.link_id': () => createVersion().length,
  'resumable_uploads.evict': () => longestAccepted((text) => parseFileNamePrefix(asPath(text))),
  'resumable_uploads.expected_sha256': () => 'f'.repeat(64).length,
  'resumable_uploads.refusal': () => longestOf(ERROR_CODES),
  'resumable_uploads.ended_as': () => longestOf(['cancelled', 'lost']),
  'upload_pieces.receipt': () => MAX_RECEIPT_BYTES,
  'operators.name': () => longestAccepted(matches(OPERATOR_NAME_PATTERN)),
  'operators.role': () => longestOf(OPERATOR_ROLES),
  'operators.token_sha256': () => sha256('').length,
  'operator_actions.action_id': () => createVersion().length,
  'operator_actions.action': () => longestOf(OPERATOR_ACTIONS),
  // No more is known than that the bound suffices.
  'operator_actions.details': () => Math.max(2048, Buffer.byteLength(JSON.stringify(DETAILS))),
  'operator_actions.operator': () => longestAccepted(matches(OPERATOR_NAME_PATTERN)),
  'operator_actions.address': () => LONGEST_ADDRESS.length,
  'operator_actions.request_id': () => randomUUID().length,
  'object_store.identity': () => randomUUID().length,
  'leader_leases.name': () => longestOf(['sweep', 'webhooks', 'write_probe']),
  'leader_leases.holder': () => 32 * 1024,
}

/** Of an access token, which has the longest. */
const DETAILS = {
  token_id: randomUUID(),
  label: '\u2028'.repeat(MAX_LABEL_LENGTH),
  actions: ACTIONS.join(','),
  device_id: 'd'.repeat(128),
}

/** An IPv4 address in IPv6; zones are left out. */
const LONGEST_ADDRESS = '0000:0000:0000:0000:0000:ffff:255.255.255.255'

const MEDIA_TYPE = parseMediaType(`a/b;c="${'\\'.repeat(MAX_MEDIA_TYPE_BYTES - 9)}x"`)
const METADATA = parseMetadata(JSON.stringify({ '': '"'.repeat(MAX_METADATA_BYTES / 2 - 4) + 'x' }))

/** The JSON of a text doubles each quotation mark, and each backslash. */
const OUTCOME: { readonly file: File; readonly replaced: boolean } = {
  file: {
    userId: USER,
    name: parseFileName(asPath('"'.repeat(MAX_FILE_NAME_BYTES))),
    version: createVersion(),
    objectKey: KEY,
    size: Number.MAX_SAFE_INTEGER,
    sha256: 'f'.repeat(64),
    crc32: 0xffff_ffff,
    visibility: 'private',
    deviceId: 'd'.repeat(128),
    createdAt: Number.MAX_SAFE_INTEGER,
    updatedAt: Number.MAX_SAFE_INTEGER,
    expiresAt: NEVER,
    isKept: 0,
    metadataBytes: 0,
    modifiedAt: Number.MAX_SAFE_INTEGER,
    storedBy: 'f'.repeat(64),
    mediaType: MEDIA_TYPE,
    metadata: METADATA,
  },
  replaced: false,
}

const EVENT = webhookOf(USER, {
  type: 'file.renamed',
  sequence: Number.MAX_SAFE_INTEGER,
  at: Date.now(),
  file: { ...OUTCOME.file, visibility: 'private' },
  previousName: OUTCOME.file.name,
})

/** In segments that are not too long. */
function asPath(text: string): string {
  return text.replaceAll(/(.{250})(?:.)(?=.)/g, '$1/')
}

function parseAsMetadata(text: string): void {
  const required = 'filename YQ==,'
  parseUploadMetadata({ 'upload-metadata': (required + text).slice(0, text.length) || required })
}

function matches(pattern: string): (text: string) => void {
  return (text) => expect(text).toMatch(new RegExp(pattern))
}

function longestOf(values: readonly string[]): number {
  return Math.max(...values.map((value) => value.length))
}

/** Of texts of that many equal letters. */
function longestAccepted(parse: (text: string) => unknown): number {
  const isAccepted = (bytes: number): boolean => {
    try {
      parse('a'.repeat(bytes))
      return true
    } catch {
      return false
    }
  }
  const sizes = Array.from({ length: 8192 }, (_, at) => 8192 - at)
  return sizes.find(isAccepted) ?? 0
}
