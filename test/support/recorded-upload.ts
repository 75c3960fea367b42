import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import type { ObjectKey } from '../../src/core/objects/object-key.ts'
import type { ObjectStore } from '../../src/core/objects/object-store.ts'
import type {
  AppendObject,
  StoredAppend,
  Durable,
  Piece,
} from '../../src/core/objects/append-store.ts'
import { chunked, freshKey, never } from './objects.ts'

export interface RecordedUploadOptions {
  readonly store: ObjectStore
  /** Bytes. */
  readonly partSize: number
  /** Bytes of the whole content; `undefined` while deferred. */
  readonly length: number | undefined
  readonly metadata?: Readonly<Record<string, string>>
}

type AppendOptions = Partial<Pick<AppendObject, 'signal' | 'memory' | 'bodySize' | 'onDurable'>> & {
  /** Of what the append has stored nothing is recorded; or only the state, as after a wrong checksum. */
  readonly isDiscarded?: boolean | 'pieces'
}

/** What the port allows an adapter. */
export const MAX_STATE_BYTES = 1024
export const MAX_RECEIPT_BYTES = 256
const MAX_TAIL_OBJECTS = 96

/** An upload as the ledger records it: under the claim of the last append, and with what the port promises of it. */
export class RecordedUpload {
  readonly key: ObjectKey = freshKey('appends')
  offset = 0
  length: number | undefined
  storeState = '{}'
  pieces: readonly Piece[] = []
  /** All keys that a tail was stored under. */
  readonly tailKeys: ObjectKey[] = []
  readonly #options: RecordedUploadOptions
  #epoch = 0
  #isHeld = false

  constructor(options: RecordedUploadOptions) {
    this.#options = options
    this.length = options.length
  }

  /** The recorded pieces after the last full part. */
  get tail(): readonly Piece[] {
    const start = this.offset - (this.offset % this.#options.partSize)
    return this.pieces.filter(({ firstByte }) => firstByte >= start)
  }

  /** Claims, appends and records. An earlier append that still runs is fenced, and taken over from. */
  async append(
    content: Buffer | Readable,
    { signal = never(), onDurable, isDiscarded = false, ...options }: AppendOptions = {},
  ): Promise<StoredAppend | undefined> {
    const { store, partSize, metadata = {} } = this.#options
    const { offset, length, key } = this
    const body = content instanceof Readable ? content : chunked(content)
    const bodySize = content instanceof Readable ? options.bodySize : content.byteLength
    const epoch = this.#claim(bodySize, isDiscarded !== false)
    const tailKey = store.hasTails ? freshKey('appends') : undefined
    if (tailKey !== undefined) this.tailKeys.push(tailKey)
    const { storeState, tail } = this
    const claimed = { key, offset, length, partSize, storeState, tail, tailKey }
    let sentTailBytes: number | undefined
    const assertTailSent = ({ pieces }: Durable): void => {
      const stored = pieces.find(({ objectKey }) => objectKey !== undefined)
      assert.equal(stored?.objectKey, stored && tailKey)
      if (stored !== undefined) assert.equal(stored.size, sentTailBytes)
    }
    try {
      const appended = await store.append({
        ...claimed,
        ...options,
        body,
        bodySize,
        metadata,
        signal,
        onTail: (bytes) => (sentTailBytes = bytes),
        onDurable: (durable) => {
          assertTailSent(durable)
          if (isDiscarded === false) this.#record(epoch, durable)
          if (isDiscarded === 'pieces' && epoch === this.#epoch)
            this.storeState = durable.storeState
          onDurable?.(durable)
        },
      })
      if (appended !== undefined && isDiscarded === false) this.#record(epoch, appended.durable)
      return appended
    } finally {
      if (epoch === this.#epoch) this.#isHeld = false
    }
  }

  /** Claims, and suspends the append before its first write. `wake` lets it go on, fenced or not, until it is over. */
  suspend(content: Buffer): { wake(): Promise<void> } {
    const { store, partSize, metadata = {} } = this.#options
    const { key, offset, length } = this
    const bodySize = content.byteLength
    this.#claim(bodySize, false)
    const tailKey = store.hasTails ? freshKey('appends') : undefined
    if (tailKey !== undefined) this.tailKeys.push(tailKey)
    const { storeState, tail } = this
    const claimed = { key, offset, length, partSize, storeState, tail, tailKey, bodySize, metadata }
    return {
      wake: async () => {
        let last = storeState
        const onDurable = (durable: Durable): void => void (last = durable.storeState)
        const rest = { body: chunked(content), onTail: () => {}, onDurable, signal: never() }
        await store.append({ ...claimed, ...rest }).catch(() => undefined)
        const recorded = this.storeState
        await store.removeFenced({ key, storeState: last, recorded, signal: never() })
      },
    }
  }

  /** As if its instance had died: no append that runs can record any more, or has released the upload. */
  crash(): void {
    this.#epoch += 1
    this.#isHeld = true
  }

  finish(signal = never()): Promise<{ readonly size: number } | undefined> {
    const { store, partSize, metadata = {} } = this.#options
    const { key, storeState, pieces, offset: size } = this
    return store.finish({ key, partSize, storeState, size, pieces, metadata, signal })
  }

  isStored(): Promise<boolean> {
    const { store, partSize } = this.#options
    const { key, storeState, pieces, offset } = this
    return store.isStored({ key, partSize, storeState, offset, pieces, signal: never() })
  }

  #claim(bodySize: number | undefined, isDiscardable: boolean): number {
    const { store, partSize } = this.#options
    const { storeState, offset, length } = this
    const isTakeover = this.#isHeld
    const claim = { storeState, partSize, offset, length, bodySize, isDiscardable, isTakeover }
    const plan = store.planAppend(claim)
    if (plan === undefined) throw new LostUpload()
    this.storeState = plan.storeState
    this.#isHeld = true
    this.#epoch += 1
    return this.#epoch
  }

  #record(epoch: number, durable: Durable): void {
    if (epoch !== this.#epoch) return
    const { offset, replacedFrom, pieces, storeState } = durable
    assert(offset >= this.offset, 'The offset has shrunk')
    assert(Buffer.byteLength(storeState) <= MAX_STATE_BYTES)
    const kept = this.pieces.filter(({ firstByte }) => firstByte < replacedFrom)
    this.offset = offset
    this.storeState = storeState
    this.pieces = [...kept, ...pieces]
    if (this.#options.store.hasTails) this.#assertCovered()
  }

  #assertCovered(): void {
    const { partSize } = this.#options
    let end = 0
    for (const { firstByte, size, receipt, objectKey } of this.pieces) {
      assert.equal(firstByte, end)
      assert(size > 0)
      assert(receipt.length <= MAX_RECEIPT_BYTES)
      end += size
      if (objectKey !== undefined) continue
      assert.equal(firstByte % partSize, 0)
      if (end !== this.length) assert.equal(size, partSize)
    }
    assert.equal(end, this.offset)
    assert(this.tail.length <= MAX_TAIL_OBJECTS)
  }
}

/** What the port says of a state that shows a lost upload. */
export class LostUpload extends Error {
  constructor() {
    super('The upload is lost')
    this.name = 'LostUpload'
  }
}

/** A body that brings what it is given, when it is read, and then waits for more. Nothing is read ahead. */
export function heldBody(): {
  readonly body: Readable
  /** A failure comes after the last byte. */
  readonly give: (content: Buffer, failure?: Error) => void
  /** Resolves when the store has done with all of it, and reads on. */
  readonly drained: () => Promise<void>
} {
  const left: Buffer[] = []
  let failure: Error | undefined
  let isWanted = false
  let onDrained: (() => void) | undefined
  const push = (): void => {
    const chunk = left.shift()
    isWanted = chunk === undefined
    if (chunk !== undefined) body.push(chunk)
    else if (failure !== undefined) body.destroy(failure)
    else onDrained?.()
  }
  const body = new Readable({ highWaterMark: 0, read: push })
  return {
    body,
    give(content, error) {
      for (let at = 0; at < content.length; at += CHUNK_BYTES) {
        left.push(content.subarray(at, at + CHUNK_BYTES))
      }
      failure = error
      if (isWanted) push()
    },
    drained: () =>
      new Promise((resolve) => {
        onDrained = resolve
        if (isWanted && left.length === 0) resolve()
      }),
  }
}

const CHUNK_BYTES = 65_521
