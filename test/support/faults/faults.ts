import { onAbort } from '../../../src/core/async/on-abort.ts'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { AppError } from '../../../src/core/errors.ts'
import type { Ledger } from '../../../src/database/ledger.ts'
import { chunksOf, discardBody, type ObjectStore } from '../../../src/core/objects/object-store.ts'

/** What a port rejects with when what is behind it fails. */
export function outage(): AppError {
  return new AppError('unavailable', 'An injected fault.')
}

/** The same store, but for the members in `faults`. */
export function faultyStore(store: ObjectStore, faults: Partial<ObjectStore>): ObjectStore {
  return {
    put: (object) => store.put(object),
    append: (append) => store.append(append),
    finish: (upload) => store.finish(upload),
    isStored: (upload) => store.isStored(upload),
    partSizeFor: (length) => store.partSizeFor(length),
    hasTails: store.hasTails,
    planAppend: (append) => store.planAppend(append),
    isFenceable: (storeState) => store.isFenceable(storeState),
    removeFenced: (append) => store.removeFenced(append),
    open: (object) => store.open(object),
    head: (object) => store.head(object),
    remove: (object) => store.remove(object),
    list: (options) => store.list(options),
    prepare: (signal) => store.prepare(signal),
    readIdentity: (signal) => store.readIdentity(signal),
    createIdentity: (identity, signal) => store.createIdentity(identity, signal),
    check: (signal) => store.check(signal),
    close: () => store.close(),
    ...faults,
  }
}

/** Takes the body and fails at its end. */
export const failingPut: ObjectStore['put'] = async (object) => {
  for await (const _ of chunksOf(object));
  throw outage()
}

/** Reads nothing and answers nothing until its signal aborts, as a store behind a dead network does. */
export const hangingPut: ObjectStore['put'] = ({ body, signal }) =>
  new Promise((_, reject) => {
    // Also for one that has aborted already.
    onAbort(signal, () => {
      discardBody({ body })
      reject(outage())
    })
  })

/** Keeps one byte less than it was given, and says so as the port promises. */
export function truncatingPut(store: ObjectStore): ObjectStore['put'] {
  return async (object) => {
    const chunks: Buffer[] = []
    for await (const chunk of chunksOf(object)) chunks.push(Buffer.from(chunk))
    const [whole, kept] = [Buffer.concat(chunks), new Transform({ transform: pass })]
    const [stored] = await Promise.all([
      store.put({ ...object, body: kept }),
      pipeline([whole.subarray(0, -1)], kept),
    ])
    return stored
  }
}

function pass(chunk: Buffer, _encoding: string, done: (error: null, chunk: Buffer) => void): void {
  done(null, chunk)
}

/** The connection breaks before the commit reaches the database. */
export async function commitLost(): Promise<never> {
  throw outage()
}

/** The connection breaks between the commit and its answer, the first time. */
export function commitUnanswered(ledger: Ledger): Ledger['commit'] {
  return onceFailing(
    async (upload) => {
      await ledger.commit(upload)
      throw outage()
    },
    (upload) => ledger.commit(upload),
  )
}

/** Does `first` the first time, and `then` ever after. */
export function onceFailing<A, R>(
  first: (argument: A) => Promise<R>,
  then: (argument: A) => Promise<R>,
): (argument: A) => Promise<R> {
  let called = false
  return (argument) => {
    if (called) return then(argument)
    called = true
    return first(argument)
  }
}
