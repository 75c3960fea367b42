import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { type Config, type JwtConfig, readConfig, type WebhookConfig } from './config/config.ts'
import { formatByteSize } from './core/byte-size.ts'
import { timeoutSignal } from './core/async/deadline.ts'
import { isAppError, messageOf } from './core/errors.ts'
import { createVersion, type ObjectKey, objectKey } from './core/objects/object-key.ts'
import { heldLead } from './core/clock/safe-clock.ts'
import { chunksOf, type ObjectStore } from './core/objects/object-store.ts'
import type { DownloadRedirect } from './core/objects/download-urls.ts'
import { assertKnown } from './core/objects/recognize-store.ts'
import { REBUILD_INTERRUPTED } from './core/rebuild/rebuilder.ts'
import type { RecordedStore } from './core/objects/store-record.ts'
import { parseUserId } from './core/users/user-id.ts'
import { createLedger } from './database/ledger.ts'
import { createStoreRecord } from './database/objects/store-record.ts'
import { hasTables, isRebuilding } from './database/schema.ts'
import { mayCreateTables } from './database/postgres/server-settings.ts'
import { fetchJwks } from './jwt/fetch-jwks.ts'
import {
  databaseWarnings,
  objectStoreWarnings,
  openDatabase,
  openObjectStore,
  openRedirect,
} from './compose/adapters.ts'
import { otherStoreAdvice } from './compose/known-store.ts'
import { bodyOf } from './core/webhooks/webhook.ts'
import { createWebhookSender } from './webhooks/sender.ts'
import { measurePack, PACK_NAME } from './object-store/filesystem/pack/pack-file.ts'
import type { EnvFile } from './config/env-files.ts'
import type { Environment } from './config/reader.ts'
import { settingWarnings } from './config/warnings.ts'
import { maxDescriptors } from './http/server/connection-slots.ts'

export type Diagnosis = Readonly<{
  check: string
  result: 'ok' | 'failed'
  detail: string
}>

/** Uses each dependency, so that one run shows every fault. Never rejects; leaves only a bucket or folder it made. */
export async function diagnose(
  environment: Environment,
  files: readonly EnvFile[] = [],
): Promise<readonly Diagnosis[]> {
  let config: Config
  try {
    config = readConfig(environment)
  } catch (error) {
    return [{ check: 'settings', result: 'failed', detail: messageOf(error) }]
  }
  const checked = { environment, files, config, maxDescriptors: maxDescriptors() }
  const warnings = settingWarnings(checked)
  const detail = withWarnings('valid', warnings)
  const { database, objectStore, jwt, webhooks } = config
  const redirect = await openRedirect(objectStore)
  const checks = [
    ['database', ADVICE.database[database.kind], () => useDatabase(config)],
    ['object store', ADVICE.objectStore[objectStore.kind], () => useObjectStore(config)],
    ['download redirect', ADVICE.redirect, redirect && (() => follow(redirect, config))],
    ['identity provider', ADVICE.identityProvider, jwt && (() => fetchKeys(jwt))],
    ['webhook receiver', ADVICE.webhookReceiver, webhooks && (() => ping(webhooks))],
  ] as const
  const diagnoses: Diagnosis[] = [{ check: 'settings', result: 'ok', detail }]
  for (const [check, advice, run] of checks) {
    if (run !== undefined) diagnoses.push(await examine(check, advice, run))
  }
  return diagnoses
}

function withWarnings(text: string, warnings: readonly string[]): string {
  return warnings.length === 0 ? text : `${text}, with warnings: ${warnings.join('; ')}`
}

const ADVICE = {
  database: {
    sqlite:
      'Check that the disk has free space and inodes, and that the service may write to the folder of DATA_DIR or DATABASE_URL.',
    postgres:
      'Check that the server is running, and that DATABASE_URL, its user and its password are correct.',
  },
  objectStore: {
    file:
      'Check that the disk has free space and inodes, and that the service may write to the folder of DATA_DIR or ' +
      'OBJECT_STORE.',
    s3:
      'Check that the server is running, and that OBJECT_STORE, AWS_ENDPOINT_URL_S3 and the keys are correct. ' +
      'The user needs permission to get, put, delete and list objects and multipart uploads.',
  },
  redirect:
    'Check that S3_PUBLIC_ENDPOINT leads to the server of the bucket, also from this machine, and that a proxy before it ' +
    'keeps the Host header.',
  webhookReceiver:
    'Check WEBHOOK_URL, and that the receiver verifies with a secret of WEBHOOK_SECRET and answers every event, ' +
    'also a ping, with 2xx.',
  identityProvider:
    'Check that JWT_JWKS_URL is the URL of the JSON Web Key Set of the identity provider.',
} as const

/** Downloads an object as a client does that is redirected. */
async function follow(
  { urls }: DownloadRedirect,
  { objectStore, maxFileSize }: Config,
): Promise<string> {
  const objects = await openObjectStore(objectStore, { maxFileSize, warn: undefined })
  const download = async (key: ObjectKey): Promise<void> => {
    const url = await urls.sign({ key, disposition: 'attachment' })
    const answer = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) })
    if ((await answer.text()) !== key) throw new Error(`It answers with ${answer.status}.`)
    assertClock(Date.parse(answer.headers.get('date') ?? ''))
  }
  try {
    await withObject(objects, (key) => Buffer.from(key), download)
  } finally {
    await objects.close()
  }
  return `read an object from ${urls.hostname}, past the service`
}

async function fetchKeys({ jwksUrl, userClaim, scopeClaim }: JwtConfig): Promise<string> {
  const { keys } = await fetchJwks(jwksUrl, timeoutSignal(TIMEOUT_MS))
  const scopes = scopeClaim === undefined ? 'no scopes' : `scopes in the claim ${scopeClaim}`
  return `published keys: ${keys.length}; users in the claim ${userClaim}, ${scopes}`
}

/** Sends a signed `ping`. */
async function ping(webhooks: WebhookConfig): Promise<string> {
  const id = `msg_${randomBytes(24).toString('base64url')}`
  const body = bodyOf('ping', Date.now(), {})
  const delivery = await createWebhookSender(webhooks).send({ id, body }, NEVER)
  if (!delivery.isDelivered) throw new Error(delivery.reason)
  return 'accepted a signed ping'
}

const NEVER = new AbortController().signal

async function examine(
  check: string,
  advice: string,
  run: () => Promise<string>,
): Promise<Diagnosis> {
  try {
    return { check, result: 'ok', detail: await run() }
  } catch (error) {
    return { check, result: 'failed', detail: `${reasonOf(error)} ${advice}` }
  }
}

async function useDatabase(config: Config): Promise<string> {
  let held = 0
  const database = await openDatabase(config.database)
  let warnings: readonly string[]
  try {
    const ledger = createLedger(database, { baseCapacity: 0 })
    assertClock(await ledger.check())
    if (config.database.kind === 'postgres' && !(await mayCreateTables(database))) {
      throw new Error('Its user may not create tables. Make the user the owner of the database.')
    }
    // Also before the first start, which creates the tables.
    if (await database.query(hasTables)) {
      if (await database.query(isRebuilding)) throw new Error(REBUILD_INTERRUPTED)
      held = heldLead((await ledger.readClock()).stored)
    }
    warnings = await databaseWarnings(config.database, database)
  } finally {
    await database.close()
  }
  const name = config.database.kind === 'sqlite' ? 'SQLite' : 'PostgreSQL'
  const responds = `${name} responds, and its clock is correct`
  if (held <= MAX_SKEW_MS) return withWarnings(responds, warnings)
  const minutes = Math.round(held / 60_000)
  const kept = `${responds}; what has ended only in the last ${minutes} min is kept for now, because the clock was ahead or the service down`
  return withWarnings(kept, warnings)
}

/** Leases and grants use the database's clock, signatures the object store's. */
const MAX_SKEW_MS = 60_000

function assertClock(ms: number): void {
  const skew = ms - Date.now()
  // A server need not state its time.
  if (Number.isNaN(ms) || Math.abs(skew) <= MAX_SKEW_MS) return
  throw new Error(
    `Its clock differs by ${Math.round(skew / 1000)} s. Synchronize all machines with NTP.`,
  )
}

async function readClock(endpoint: string): Promise<number> {
  const answer = await fetch(endpoint, { method: 'HEAD', signal: AbortSignal.timeout(TIMEOUT_MS) })
  return Date.parse(answer.headers.get('date') ?? '')
}

const TIMEOUT_MS = 10_000

async function useObjectStore(config: Config): Promise<string> {
  const { objectStore, maxFileSize } = config
  const objects = await openObjectStore(objectStore, { maxFileSize, warn: undefined })
  try {
    if (objectStore.kind === 's3' && objectStore.endpoint !== undefined) {
      assertClock(await readClock(objectStore.endpoint))
    }
    await prepareKnown(config, objects)
    for (const bodyOf of BODIES) {
      await withObject(objects, bodyOf, (key) => assertReadable(objects, key))
    }
  } finally {
    await objects.close()
  }
  if (objectStore.kind === 's3') {
    const text = `wrote, read and deleted an object in the bucket ${objectStore.bucket}`
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    return withWarnings(text, await objectStoreWarnings(objectStore, signal))
  }
  const { directory } = objectStore
  const packed = formatByteSize(await measurePack(directory))
  return `wrote, read and deleted a file in ${directory}; ${PACK_NAME} there holds the small ones in ${packed}`
}

/** Creates a bucket or folder only if the database can tell that it knows none. */
async function prepareKnown(config: Config, objects: ObjectStore): Promise<void> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const read = await readRecord(config).then(
    (recorded) => ({ recorded }),
    () => undefined,
  )
  if (read === undefined) return await objects.check(signal)
  if (read.recorded?.isConfirmed === true) {
    const known = read.recorded.identity
    const found = await objects.readIdentity(signal)
    assertKnown({ known, found, advice: otherStoreAdvice(config.objectStore) })
  }
  await objects.prepare(signal)
}

async function readRecord(config: Config): Promise<RecordedStore | undefined> {
  const database = await openDatabase(config.database)
  try {
    const isUsed = await database.query(hasTables)
    return isUsed ? await createStoreRecord(database).read() : undefined
  } finally {
    await database.close()
  }
}

/** As small files are stored, and as others are. */
const BODIES = [
  (key: string) => Buffer.from(key),
  (key: string) => Readable.from([Buffer.from(key)]),
]

async function withObject(
  objects: ObjectStore,
  bodyOf: (key: string) => Buffer | Readable,
  use: (key: ObjectKey) => Promise<void>,
): Promise<void> {
  const key = objectKey(parseUserId('doctor'), createVersion())
  try {
    await objects.put({ key, body: bodyOf(key), signal: AbortSignal.timeout(TIMEOUT_MS) })
    await use(key)
  } finally {
    // No journal knows this object, and a put that timed out can leave it. So removal has its own time limit.
    await objects.remove({ key, signal: AbortSignal.timeout(TIMEOUT_MS) })
  }
}

async function assertReadable(objects: ObjectStore, key: ObjectKey): Promise<void> {
  const opened = await objects.open({ key, signal: AbortSignal.timeout(TIMEOUT_MS) })
  const got = opened && Buffer.concat(await Array.fromAsync(chunksOf(opened)))
  if (got?.toString() !== key) {
    throw new Error('The object that was written could not be read back.')
  }
}

function reasonOf(error: unknown): string {
  const reason: unknown = isAppError(error) ? (error.cause ?? error) : error
  if (!(reason instanceof Error)) return String(reason)
  // The error of a HEAD request has a name but no message.
  const isSaid = reason.name === 'Error' || isAppError(reason)
  const named = isSaid ? reason.message : `${reason.name}: ${reason.message}`
  if (reason.cause instanceof Error) return `${named}: ${reasonOf(reason.cause)}`
  return `${named.replace(/\.$/, '')}.`
}
