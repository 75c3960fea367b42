import { randomUUID } from 'node:crypto'
import { AppError } from '../errors.ts'
import type { ObjectStore } from './object-store.ts'
import type { StoreRecord } from './store-record.ts'

export interface Recognition {
  readonly record: StoreRecord
  readonly store: ObjectStore
  readonly signal: AbortSignal
}

export interface StartRecognition extends Recognition {
  /** What an operator can do if the store is another one. */
  readonly advice: string
  readonly warn: ((err: unknown, message: string) => void) | undefined
}

/**
 * Prepares the object store and resolves to its identity. Guarantees that a database which knows an object store gets
 * no other one: then rejects with `unavailable`, and creates neither bucket nor folder. A database that knows none takes
 * the store as it is. Any number of instances may call it at once, and be killed: all of them propose the identity
 * that is recorded first, and a start is refused only once that was found in a store. Then it only reads the database.
 * `undefined` if the store cannot be given an identity, for example because it is full; the next start tries again.
 */
export async function recognizeStore(start: StartRecognition): Promise<string | undefined> {
  const { record, store, advice, signal } = start
  const recorded = await record.read()
  const found = await store.readIdentity(signal)
  if (recorded?.isConfirmed === true) {
    assertKnown({ known: recorded.identity, found, advice })
    await store.prepare(signal)
    return recorded.identity
  }
  await store.prepare(signal)
  const identity = found ?? (await tryToCreate(start))
  if (identity === undefined) return undefined
  const known = await record.confirm(identity)
  assertKnown({ known, found: identity, advice })
  return known
}

async function tryToCreate(start: StartRecognition): Promise<string | undefined> {
  const { record, store, warn, signal } = start
  const proposed = await record.propose(randomUUID())
  try {
    return await store.createIdentity(proposed, signal)
  } catch (error) {
    // The service serves what there is.
    warn?.(error, FAILED)
    return undefined
  }
}

const FAILED =
  'the object store could not be given an identity, so another one in its place would not be noticed; the next start ' +
  'tries again'

/** Makes the object store the one that the database knows, whichever it knew before. Resolves to its identity. */
export async function adoptStore({ record, store, signal }: Recognition): Promise<string> {
  const found = await store.readIdentity(signal)
  const proposed = found ?? (await record.propose(randomUUID()))
  const identity = found ?? (await store.createIdentity(proposed, signal))
  await record.replace(identity)
  return identity
}

interface Comparison {
  readonly known: string
  readonly found: string | undefined
  readonly advice: string
}

/** Rejects with `unavailable` and a sentence for operators unless the store has the identity that the database knows. */
export function assertKnown({ known, found, advice }: Comparison): void {
  if (found === known) return
  const has = found === undefined ? 'no identity' : `the identity ${found}`
  throw new AppError(
    'unavailable',
    `The object store is not the one that the database knows: it has ${has} instead of ${known}. ${advice}`,
    { dependency: 'object_store' },
  )
}
