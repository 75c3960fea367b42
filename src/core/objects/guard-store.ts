import { settledUnlessAborted, timeoutSignal } from '../async/deadline.ts'
import { AppError } from '../errors.ts'
import type { AppendObject, Durable, StoredAppend } from './append-store.ts'
import { discardBody, type ObjectStore } from './object-store.ts'

export interface GuardOptions {
  readonly identity: string
  /** How old an answer may be; one second by default. */
  readonly maxAgeMs?: number
  /** Called when another store has taken the place of the known one, and when that one is back. */
  readonly onChange: (isKnown: boolean) => void
}

const MAX_AGE_MS = 1_000

/** One that takes longer proves nothing. */
const LOOK_TIMEOUT_MS = 1_000

/**
 * The store, as long as it has the identity. Guarantees that no write to another store resolves, nor a report of
 * durable bytes arrives, if the other one has been there for a second: such calls reject with `unavailable`. The identity
 * is read at most once a second, beside a write. An answer that does not arrive refuses no write. A loss is final, so it
 * is reported only after an answer that was asked for then.
 */
export function guardStore(store: ObjectStore, options: GuardOptions): ObjectStore {
  const { identity, onChange, maxAgeMs = MAX_AGE_MS } = options
  let isKnown = true
  let latest: Promise<void> = Promise.resolve()
  let askedAt = Number.NEGATIVE_INFINITY
  let asked = 0
  let answered = 0

  function look(signal: AbortSignal): Promise<void> {
    askedAt = performance.now()
    // A disk that hangs ignores the signal.
    const looking = settledUnlessAborted(compare(signal), signal)
    latest = looking.catch(() => undefined)
    return looking
  }

  async function compare(signal: AbortSignal): Promise<void> {
    const question = ++asked
    const isIt = (await store.readIdentity(signal)) === identity
    // An answer can arrive after that to a later question.
    if (question < answered) return
    answered = question
    if (isIt === isKnown) return
    isKnown = isIt
    onChange(isIt)
  }

  /** Resolves to an answer that is at most as old. Never rejects. */
  function refresh(ageMs: number): Promise<void> {
    if (performance.now() - askedAt > ageMs)
      void look(timeoutSignal(LOOK_TIMEOUT_MS)).catch(() => undefined)
    return latest
  }

  async function write<T>(call: () => Promise<T>, refuse?: () => void): Promise<T> {
    const looked = refresh(maxAgeMs)
    if (!isKnown) {
      await looked
      if (!isKnown) refuse?.()
      assertKnown()
    }
    const result = await call()
    // Another question if the call took long: its last bytes may have gone to another store.
    await refresh(maxAgeMs)
    assertKnown()
    return result
  }

  /** `call` may report, for good, that the store has lost something. */
  async function writeOrLose<T>(call: () => Promise<T>, refuse?: () => void): Promise<T> {
    const result = await write(call, refuse)
    if (result === undefined || result === false) {
      await look(timeoutSignal(LOOK_TIMEOUT_MS)).catch((cause: unknown) => {
        throw noAnswer(cause)
      })
      assertKnown()
    }
    return result
  }

  /** The caller also counts what was reported of an append that rejects. Reports keep their order. */
  async function append(appended: AppendObject): Promise<StoredAppend | undefined> {
    let reported: Promise<void> = Promise.resolve()
    async function report(durable: Durable, before: Promise<void>): Promise<void> {
      const looked = refresh(maxAgeMs)
      await before
      await looked
      if (isKnown) appended.onDurable(durable)
    }
    const onDurable = (durable: Durable): void => void (reported = report(durable, reported))
    try {
      return await store.append({ ...appended, onDurable })
    } finally {
      await reported
    }
  }

  function assertKnown(): void {
    if (!isKnown) throw otherStore()
  }

  return {
    put: (object) =>
      write(
        () => store.put(object),
        () => {
          discardBody(object)
          object.onUntouched?.()
        },
      ),
    append: (appended) =>
      writeOrLose(
        () => append(appended),
        () => discardBody(appended),
      ),
    finish: (upload) => writeOrLose(() => store.finish(upload)),
    isStored: (upload) => writeOrLose(() => store.isStored(upload)),
    remove: (object) => write(() => store.remove(object)),
    removeFenced: (append) => write(() => store.removeFenced(append)),
    async check(signal) {
      await Promise.all([store.check(signal), look(signal)])
      assertKnown()
    },
    hasTails: store.hasTails,
    partSizeFor: (length) => store.partSizeFor(length),
    planAppend: (append) => store.planAppend(append),
    isFenceable: (storeState) => store.isFenceable(storeState),
    open: (object) => store.open(object),
    head: (object) => store.head(object),
    list: (objects) => store.list(objects),
    prepare: (signal) => store.prepare(signal),
    readIdentity: (signal) => store.readIdentity(signal),
    createIdentity: (created, signal) => store.createIdentity(created, signal),
    close: () => store.close(),
  }
}

function otherStore(): AppError {
  return new AppError('unavailable', 'The object store is not the one of this service.', {
    dependency: 'object_store',
    isLogged: true,
  })
}

function noAnswer(cause: unknown): AppError {
  return new AppError('unavailable', 'The object store does not say which one it is.', {
    cause,
    dependency: 'object_store',
  })
}
