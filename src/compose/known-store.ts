import type { ObjectStoreConfig } from '../config/config.ts'
import { timeoutSignal } from '../core/async/deadline.ts'
import { guardStore } from '../core/objects/guard-store.ts'
import { IDENTITY_NAME, type ObjectStore } from '../core/objects/object-store.ts'
import { recognizeStore } from '../core/objects/recognize-store.ts'
import type { StoreRecord } from '../core/objects/store-record.ts'

export interface KnownStoreOptions {
  readonly config: ObjectStoreConfig
  readonly record: StoreRecord
  readonly store: ObjectStore
  readonly warn: ((err: unknown, message: string) => void) | undefined
  /** The caller only reads. */
  readonly acceptsAny: boolean
}

export const PREPARE_TIMEOUT_MS = 30_000

/** Prepares the store. The result takes no writes while another store has its place. */
export async function openKnownStore(options: KnownStoreOptions): Promise<ObjectStore> {
  const { config, record, store, warn, acceptsAny } = options
  const signal = timeoutSignal(PREPARE_TIMEOUT_MS)
  if (acceptsAny) {
    // An empty bucket or folder is none to accept.
    await store.check(signal)
    await store.prepare(signal)
    return store
  }
  const advice = otherStoreAdvice(config)
  const identity = await recognizeStore({ record, store, advice, warn, signal })
  if (identity === undefined) return store
  const onChange = (isKnown: boolean): void =>
    warn?.(undefined, isKnown ? KNOWN_AGAIN : `${OTHER}. ${advice}`)
  return guardStore(store, { identity, onChange })
}

const OTHER =
  'the object store is not the one that the database knows; uploads and removals are refused'

const KNOWN_AGAIN = 'the object store is the known one again; uploads and removals are accepted'

/** What an operator can do if the object store is not the one that the database knows. */
export function otherStoreAdvice(config: ObjectStoreConfig): string {
  const place =
    config.kind === 'file'
      ? `Mount the folder ${config.directory}, or correct DATA_DIR or OBJECT_STORE.`
      : `Correct OBJECT_STORE, which names the bucket ${config.bucket}, or AWS_ENDPOINT_URL_S3.`
  return `${place} If the objects were moved without ${IDENTITY_NAME}, run "cloud-repo verify --adopt-store".`
}
