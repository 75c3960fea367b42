import { text } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import { type Config, readConfig } from './config.ts'
import { isAppError } from './core/errors.ts'
import { objectKey } from './core/object-key.ts'
import type { ObjectStore } from './core/object-store.ts'
import { parseUserId } from './core/user-id.ts'
import { createVersion } from './core/version.ts'
import { createLedger } from './database/ledger.ts'
import { openDatabase, openObjectStore } from './service.ts'

/** What one examination found. */
export type Finding = Readonly<{
  check: string
  result: 'ok' | 'failed'
  /** What is the case and, where it failed, what to do. */
  detail: string
}>

/**
 * Examines the settings, the database, the clocks and the object store by using them, each on its own, so that one run
 * shows all that is wrong. It leaves nothing behind but a bucket or a folder that was missing. Never rejects.
 */
export async function diagnose(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<readonly Finding[]> {
  let config: Config
  try {
    config = readConfig(environment)
  } catch (error) {
    return [{ check: 'settings', result: 'failed', detail: messageOf(error) }]
  }
  return [
    { check: 'settings', result: 'ok', detail: 'are valid' },
    await examine('database', ADVICE.database, () => askDatabase(config)),
    await examine('clock', ADVICE.clock, () => compareClocks(config)),
    await examine('object store', ADVICE.objectStore, () => useObjectStore(config)),
  ]
}

const ADVICE = {
  database: 'Is the server up, and do DATABASE_URL, its user and its password fit?',
  clock: 'Both servers must answer, and all machines should take their time from NTP.',
  objectStore:
    'Is the server up, and do OBJECT_STORE, AWS_ENDPOINT_URL_S3 and the keys fit? The user needs to get, put, ' +
    'delete and list objects and multipart uploads.',
} as const

async function examine(
  check: string,
  advice: string,
  run: () => Promise<string>,
): Promise<Finding> {
  try {
    return { check, result: 'ok', detail: await run() }
  } catch (error) {
    return { check, result: 'failed', detail: `${reasonOf(error)} ${advice}` }
  }
}

async function askDatabase(config: Config): Promise<string> {
  await readDatabaseClock(config)
  return config.databaseUrl.startsWith('sqlite:') ? 'SQLite answers' : 'PostgreSQL answers'
}

/** Leases and grants go by the database's clock, signatures by the object store's. */
const MAX_SKEW_MS = 60_000

async function compareClocks(config: Config): Promise<string> {
  const skews = [{ of: 'database', ms: (await readDatabaseClock(config)) - Date.now() }]
  const { objectStore } = config
  if (objectStore.kind === 's3' && objectStore.endpoint !== undefined) {
    skews.push({ of: 'object store', ms: (await readHttpClock(objectStore.endpoint)) - Date.now() })
  }
  const far = skews.find(({ ms }) => !(Math.abs(ms) <= MAX_SKEW_MS))
  if (far !== undefined) {
    throw new Error(`The clock of the ${far.of} differs by ${Math.round(far.ms / 1000)} s.`)
  }
  return `differs by less than ${MAX_SKEW_MS / 1000} s`
}

async function readDatabaseClock({ databaseUrl }: Config): Promise<number> {
  const database = await openDatabase(databaseUrl)
  try {
    return await createLedger(database, { baseCapacity: 0 }).check()
  } finally {
    await database.close()
  }
}

async function readHttpClock(endpoint: string): Promise<number> {
  const answer = await fetch(endpoint, { method: 'HEAD', signal: AbortSignal.timeout(TIMEOUT_MS) })
  return Date.parse(answer.headers.get('date') ?? '')
}

const TIMEOUT_MS = 10_000

async function useObjectStore({ objectStore, maxFileSize }: Config): Promise<string> {
  const objects = openObjectStore(objectStore, maxFileSize)
  try {
    await objects.prepare(AbortSignal.timeout(TIMEOUT_MS))
    await roundTrip(objects)
  } finally {
    await objects.close()
  }
  return objectStore.kind === 's3'
    ? `put, got and deleted an object in the bucket ${objectStore.bucket}`
    : `wrote, read and deleted a file in ${objectStore.directory}`
}

async function roundTrip(objects: ObjectStore): Promise<void> {
  const key = objectKey(parseUserId('doctor'), createVersion())
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  try {
    await objects.put({ key, body: Readable.from([Buffer.from(key)]), signal })
    const opened = await objects.open({ key, signal })
    if (opened === undefined || (await text(opened.body)) !== key) {
      throw new Error('What was put could not be got back.')
    }
  } finally {
    await objects.remove({ key, signal })
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function reasonOf(error: unknown): string {
  const reason: unknown = isAppError(error) ? (error.cause ?? error) : error
  if (!(reason instanceof Error)) return String(reason)
  // What answers a HEAD has no words, only a name.
  const named = reason.name === 'Error' ? reason.message : `${reason.name}: ${reason.message}`
  return `${named.replace(/\.$/, '')}.`
}
