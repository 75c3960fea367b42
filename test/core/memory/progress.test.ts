import { once } from 'node:events'
import { setImmediate as iteration } from 'node:timers/promises'
import { assert, asyncProperty, constantFrom, integer, nat, record } from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { MemoryAllocation } from '../../../src/core/memory/allocation.ts'
import { FIRST_BYTES } from '../../../src/core/memory/body-memory.ts'
import { UploadMemory } from '../../../src/core/memory/upload-memory.ts'
import { BufferPool } from '../../../src/object-store/buffer-pool.ts'
import { gatherParts } from '../../../src/object-store/s3/parts.ts'
import { createRandom } from '../../proofs/simulation/plan/random.ts'

const KIB = 2 ** 10
const MIB = 2 ** 20

/** As in a service: pieces that are small beside a part, and room for a few parts. */
const PIECE = 64 * KIB
const PART = 8 * MIB
const BUDGET = 64 * MIB
const CONTENT = new Uint8Array(PIECE)

/** At this all of them stood still while room was claimed in steps of up to 1 MiB. */
const ONCE_STUCK = {
  count: 26,
  size: 10_216_661,
  seed: 2_048_063_839,
  heldBefore: 0,
  stores: 0.01,
}

beforeEach(() => {
  // No time passes, so that nobody is slow, and who waits waits for ever.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
})

afterEach(() => {
  vi.useRealTimers()
})

describe('uploads that gather parts', () => {
  it('all end, in whatever order clients send and the store takes parts, and give all back', async () => {
    const plan = record({
      count: integer({ min: 20, max: 28 }),
      size: integer({ min: PART, max: 1.5 * PART }),
      seed: nat(),
      /** What the store reads back for the first part: none for a file that is sent whole. */
      heldBefore: constantFrom(0, 100 * KIB, PART - 1),
      /** The share of the steps that are the store's while clients can send. */
      stores: constantFrom(0.001, 0.01),
    })
    await assert(
      asyncProperty(plan, async ({ count, size, seed, heldBefore, stores }) => {
        const random = createRandom(seed)
        const memory = new UploadMemory({ budget: BUDGET, partSize: PART, maxPerUser: Infinity })
        const memoryUse = { held: 0, max: 0 }
        const uploads = Array.from({ length: count }, (_, at) => {
          return new Upload({ memory, size, heldBefore, userId: `user-${at % 3}`, memoryUse })
        })
        for (;;) {
          await iteration()
          const clients = uploads.flatMap(({ sendPiece }) => sendPiece ?? [])
          const sent = uploads.flatMap(({ underWay }) => underWay)
          const isStores = clients.length === 0 || (sent.length > 0 && random.chance(stores))
          const [step, ...others] = isStores ? sent : clients
          if (step === undefined) break
          random.pick([step, ...others])()
        }
        expect(uploads.filter(({ isOver }) => !isOver)).toHaveLength(0)
        expect(memoryUse.max).toBeLessThanOrEqual(BUDGET / 2 + count * (FIRST_BYTES + PIECE))
        await expectAllIsThere(memory)
      }),
      { numRuns: 5, endOnFailure: true, examples: [[ONCE_STUCK]] },
    )
  }, 60_000)
})

describe('an upload beside a crowd of another user', () => {
  it.each([
    ['that is just not slow, and comes back whenever it is turned away', 900],
    ['that sends as much as it may', 100],
  ])('%s, comes in within a minute', async (_crowd, pieceMs) => {
    const memory = new UploadMemory({ budget: BUDGET, partSize: PART, maxPerUser: Infinity })
    const memoryUse = { held: 0, max: 0 }
    const crowd = new Crowd({ memory, size: 64 * MIB, userId: 'crowd', memoryUse })
    for (let ms = 0; ms < 15_000; ms += pieceMs) await crowd.pass(pieceMs)
    const ann = new Upload({ memory, size: 20 * MIB, userId: 'ann', memoryUse })
    let waitedMs = 0
    for (; !ann.isOver && waitedMs < 600_000; waitedMs += pieceMs) {
      for (await iteration(); ann.sendPiece !== undefined; await iteration()) ann.sendPiece()
      for (const sent of ann.underWay) sent()
      await crowd.pass(pieceMs)
    }
    expect(ann.isTaken).toBe(false)
    expect(waitedMs).toBeLessThan(60_000)
  })

  it('a crowd of the same user is not turned away while it is just not slow', async () => {
    const memory = new UploadMemory({ budget: BUDGET, partSize: PART, maxPerUser: Infinity })
    const memoryUse = { held: 0, max: 0 }
    const crowd = new Crowd({ memory, size: 64 * MIB, userId: 'ann', memoryUse })
    for (let ms = 0; ms < 40_000; ms += 900) await crowd.pass(900)
    expect(crowd.turnedAway).toBe(0)
  })
})

/** Sixty uploads that come back whenever they are over. */
class Crowd {
  turnedAway = 0
  readonly #options: UploadOptions
  #uploads: Upload[]

  constructor(options: UploadOptions) {
    this.#options = options
    this.#uploads = Array.from({ length: 60 }, () => new Upload(options))
  }

  /** So much time passes; then each of them sends a piece, if it may, and what is on its way has been sent. */
  async pass(ms: number): Promise<void> {
    await vi.advanceTimersByTimeAsync(ms)
    for (const { sendPiece, underWay } of this.#uploads) {
      for (const go of [sendPiece, ...underWay]) go?.()
    }
    await iteration()
    this.turnedAway += this.#uploads.filter(({ isTaken }) => isTaken).length
    this.#uploads = this.#uploads.map((upload) =>
      upload.isOver ? new Upload(this.#options) : upload,
    )
  }
}

/** All of the room, and no more, can be had for parts that are never sent. */
async function expectAllIsThere(memory: UploadMemory): Promise<void> {
  const memoryUse = { held: 0, max: 0 }
  const upload = new Upload({
    memory,
    size: BUDGET,
    userId: 'last',
    memoryUse,
    senders: BUDGET / PART,
  })
  for (await iteration(); upload.sendPiece !== undefined; await iteration()) upload.sendPiece()
  // The next piece waits in hand.
  expect(memoryUse.held).toBe(BUDGET / 2 + PIECE)
}

interface UploadOptions {
  readonly memory: UploadMemory
  readonly size: number
  readonly heldBefore?: number
  readonly userId: string
  /** What all of them together hold, and held at most. */
  readonly memoryUse: { held: number; max: number }
  readonly senders?: number
}

/** An upload whose client sends when told to, to a store that gathers parts and has taken them when told so. */
class Upload {
  isOver = false
  /** Whether it ended because its room was taken from it, or was not to be had. */
  isTaken = false
  /** Set while the client may send. */
  sendPiece: (() => void) | undefined
  /** Each tells that the store has a part. */
  underWay: (() => void)[] = []
  readonly #client = { bytes: 0, isAwaited: false }
  readonly #options: UploadOptions

  constructor(options: UploadOptions) {
    this.#options = options
    this.#run()
      .catch(() => (this.isTaken = true))
      .finally(() => (this.isOver = true))
  }

  /** As `UploadSession` does: each of those who send takes the next part when it has sent one. */
  async #run(): Promise<void> {
    const { memory, userId, heldBefore = 0, senders = 2 } = this.#options
    using allocation = await memory.allocate({ userId, signal: new AbortController().signal })
    allocation.watch(this.#client)
    const { evicted } = allocation
    const parts = gatherParts(this.#content(), {
      partSize: PART,
      first: { partNumber: 1, bytes: PART - heldBefore, heldBefore },
      pool: new BufferPool(),
      acquire: (bytes) => allocation.acquire(bytes, evicted),
    })
    const sent = Array.from({ length: senders }, () => this.#send(parts, allocation))
    const taken = once(evicted, 'abort').then(() => evicted.throwIfAborted())
    await Promise.race([Promise.all(sent), taken])
  }

  async #send(parts: ReturnType<typeof gatherParts>, allocation: MemoryAllocation): Promise<void> {
    const { memoryUse, heldBefore = 0 } = this.#options
    const signal = allocation.evicted
    for await (const { content, partNumber, isLast } of parts) {
      const readBack = partNumber === 1 && !isLast ? heldBefore : 0
      // As an append whose first bytes complete a part.
      if (readBack > 0) content.permit ??= await allocation.acquire(PART, signal)
      memoryUse.held += readBack
      memoryUse.max = Math.max(memoryUse.max, memoryUse.held)
      const bytes = content.byteLength + readBack
      await new Promise<void>((resolve) => {
        const done = (): void => {
          this.underWay = this.underWay.filter((other) => other !== done)
          memoryUse.held -= bytes
          content.giveBack()
          resolve()
        }
        this.underWay.push(done)
      })
    }
  }

  async *#content(): AsyncGenerator<Uint8Array, void> {
    const { memoryUse } = this.#options
    for (let left = this.#options.size; left > 0; left -= PIECE) {
      this.#client.isAwaited = true
      await new Promise<void>((resolve) => {
        this.sendPiece = () => {
          this.sendPiece = undefined
          resolve()
        }
      })
      this.#client.isAwaited = false
      const piece = CONTENT.subarray(0, left)
      this.#client.bytes += piece.byteLength
      memoryUse.held += piece.byteLength
      memoryUse.max = Math.max(memoryUse.max, memoryUse.held)
      yield piece
    }
  }
}
