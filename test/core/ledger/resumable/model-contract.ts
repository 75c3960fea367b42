import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ObjectKey, Version } from '../../../../src/core/objects/object-key.ts'
import {
  type Account,
  BASE_CAPACITY,
  type LedgerHarness,
  LONG_MS,
  openAccount,
  type OpenHarness,
  outcomeOf,
} from '../fixture.ts'
import { DAY_MS, type Resumables, resumablesOf, TAIL_RETENTION_MS } from './fixture.ts'
import { type ModelUpload, ResumableModel } from './model.ts'
import { ALL_OUTCOMES, type Operation, operations } from './operations.ts'

/** Any sequence of operations on resumable uploads answers and ends as a plain model in memory says, step by step. */
export function resumableModelContract(name: string, open: OpenHarness, runs: number): void {
  describe(`resumable uploads against their model on ${name}`, () => {
    let harness: LedgerHarness
    /** Kinds of operations with what they came to. */
    const seen = new Set<string>()

    beforeAll(async () => {
      harness = await open({ limits: LIMITS })
    })
    afterAll(() => harness.close())

    it('agree with it on every answer and every figure', async () => {
      const property = fc.asyncProperty(operations, async (all) => {
        const world = await openWorld(harness)
        for (const operation of all) {
          const outcome = await step(world, operation)
          if (outcome !== undefined) seen.add(`${operation.kind} ${outcome}`)
          await compare(world)
        }
      })
      await expect(fc.assert(property, { numRuns: runs })).resolves.toBeUndefined()
      const unseen = runs >= ENOUGH_RUNS ? ALL_OUTCOMES.filter((outcome) => !seen.has(outcome)) : []
      expect(unseen).toEqual([])
    })
  })
}

/** Fewer do not come to every outcome. */
const ENOUGH_RUNS = 50

interface Tracked {
  readonly version: Version
  readonly model: ModelUpload
}

interface TrackedClaim extends Tracked {
  readonly epoch: number
  readonly tailKey: ObjectKey | undefined
}

interface World {
  readonly harness: LedgerHarness
  readonly account: Account
  readonly resumables: Resumables
  /** On an instance where they live no longer than `LONG_MS` from their last progress. */
  readonly shortLived: Resumables
  readonly model: ResumableModel
  readonly uploads: Tracked[]
  readonly claims: TrackedClaim[]
}

const LIMITS = { maxFiles: 2, maxUnfinished: 2 } as const

async function openWorld(harness: LedgerHarness): Promise<World> {
  const account = await openAccount(harness)
  const resumables = resumablesOf(harness.ledger, account)
  const model = new ResumableModel({ base: BASE_CAPACITY, ...LIMITS })
  const { ledger } = harness.with({ times: { uploadLifetimeMs: LONG_MS } })
  const shortLived = resumables.through(ledger)
  return { harness, account, resumables, shortLived, model, uploads: [], claims: [] }
}

/** What the operation came to, after the comparison with the model; `undefined` if it had nothing to work on. */
async function step(world: World, operation: Operation): Promise<string | undefined> {
  await world.harness.advance(1)
  world.model.now = world.harness.now()
  switch (operation.kind) {
    case 'create':
      return await create(world, operation)
    case 'part':
    case 'seal':
    case 'renew':
      return await record(world, operation)
    case 'tail':
      return await append(world, { ...operation, bytes: (operation.bytes % 5) + 1, flag: true })
    case 'whole':
      return await append(world, { ...operation, kind: 'seal' })
    case 'endFinish':
      return await endFinish(world, operation)
    case 'put':
    case 'remove':
    case 'grant':
    case 'advance':
      return await surround(world, operation)
    case 'finish':
    case 'commit': {
      const sealed = world.uploads.filter(({ model }) => model.isSealed)
      const tracked = (sealed.length > 0 ? sealed : world.uploads).at(-1 - operation.target)
      return tracked && (await change(world, { ...operation, kind: operation.kind }, tracked))
    }
    case 'prepare':
    case 'claim':
    case 'fence':
    case 'abort':
    case 'expire': {
      const tracked = world.uploads.at(-1 - operation.target)
      return tracked && (await change(world, { ...operation, kind: operation.kind }, tracked))
    }
  }
}

function same(actual: unknown, expected: unknown): string {
  expect(actual).toEqual(expected)
  return String(actual)
}

async function create(world: World, operation: Operation): Promise<string> {
  const { resumables, model } = world
  const { name, bytes, flag, other } = operation
  const length = other === 0 ? undefined : bytes
  const emptyLifetimeMs = flag ? LONG_MS : DAY_MS
  const upload: ModelUpload = {
    name,
    isNew: other === 3,
    endsAt: model.now + 2 * DAY_MS,
    length,
    announced: length ?? 0,
    reserved: 0,
    offset: 0,
    epoch: 0,
    holder: undefined,
    heldUntil: 0,
    leaseUntil: model.now + emptyLifetimeMs,
    isSealed: false,
    state: 'pending',
    tailKey: undefined,
    pieces: [],
  }
  const created = resumables.create(name, length, {
    emptyLifetimeMs,
    maxLifetimeMs: 2 * DAY_MS,
    precondition: upload.isNew ? { ifNoneMatch: '*' } : undefined,
  })
  const outcome = same(await outcomeOf(created), model.create(upload))
  if (outcome === 'ok') world.uploads.push({ version: (await created).version, model: upload })
  return outcome
}

type ChangeKind = 'prepare' | 'claim' | 'fence' | 'abort' | 'expire' | 'finish' | 'commit'

async function change(
  world: World,
  { kind, bytes, flag, other }: Operation & { readonly kind: ChangeKind },
  tracked: Tracked,
): Promise<string | undefined> {
  const { resumables, model, harness, account } = world
  const { version, model: upload } = tracked
  const named = { userId: account.userId, version }
  switch (kind) {
    case 'prepare': {
      const length = flag && upload.length === undefined ? bytes : undefined
      const declared = other === 3 ? bytes : length
      const wanted = { bytes: declared ?? upload.length ?? bytes, length: declared }
      const prepared = resumables.prepare(named, wanted)
      return same(await outcomeOf(prepared), model.prepare(upload, wanted.bytes, declared))
    }
    case 'claim': {
      const offset = other === 0 ? bytes : upload.offset
      const tailKey = flag ? resumables.tailKey() : undefined
      const holderMs = other < 2 ? 0 : LONG_MS
      const claim = await resumables.claim(named, { offset, tailKey, holderMs })
      const expected = model.claim(upload, { offset, ms: holderMs, tailKey })
      const { epoch } = claim?.upload ?? {}
      expect(epoch).toEqual(expected)
      if (claim) world.claims.push({ ...tracked, epoch: claim.upload.epoch, tailKey })
      return String(claim !== undefined)
    }
    case 'finish': {
      const holderMs = flag ? 0 : LONG_MS
      const claim = await resumables.finish(named, holderMs)
      expect(claim?.epoch).toBe(model.finish(upload, holderMs))
      if (claim) world.claims.push({ ...tracked, epoch: claim.epoch, tailKey: undefined })
      return String(claim !== undefined)
    }
    case 'fence':
      await harness.other.fence({ ...named, epoch: upload.epoch })
      model.fence(upload)
      return undefined
    case 'abort': {
      const endedAs = flag ? 'cancelled' : 'lost'
      return same(await resumables.abort(named, { endedAs }), model.abort(upload, endedAs))
    }
    case 'expire': {
      const isSpared = upload.state === 'pending' && upload.leaseUntil > model.now
      const expected = isSpared ? undefined : model.abort(upload, 'expired')
      return same(await resumables.abort(named, { expiredOnly: true }), expected)
    }
    case 'commit': {
      if (!upload.isSealed) return undefined
      const precondition = upload.isNew ? ({ ifNoneMatch: '*' } as const) : undefined
      const committed = account.commit(version, upload.offset, { precondition })
      return same(await outcomeOf(committed), model.commit(upload))
    }
  }
}

/** A claim of the last offset, and its record. */
async function append(world: World, operation: Operation): Promise<string | undefined> {
  const tracked = world.uploads.at(-1 - operation.target)
  if (tracked === undefined) return undefined
  const claim = { ...operation, kind: 'claim', other: 2 } as const
  if ((await change(world, claim, tracked)) !== 'true') return undefined
  const { kind, other } = operation
  return await record(world, { ...operation, kind, target: 0, other: other % 3 })
}

async function record(world: World, operation: Operation): Promise<string | undefined> {
  const { resumables, shortLived, model } = world
  const { kind, bytes, flag, other } = operation
  const claim = world.claims.at(-1 - operation.target)
  if (claim === undefined) return undefined
  const { version, epoch, tailKey, model: upload } = claim
  const { length = Infinity, offset: before } = upload
  if (kind === 'seal' && length === Infinity) return undefined
  // At times a record that is late.
  const moved = other === 3 ? before - 1 : before + bytes
  const grown = Math.min(length, Math.max(0, moved))
  const offset = kind === 'seal' ? length : kind === 'renew' ? before : grown
  const isTail = kind === 'tail'
  const firstByte = isTail ? before : 0
  const size = offset - firstByte
  const hasPiece = kind !== 'renew' && size > 0
  const pieces = hasPiece ? [{ firstByte, size, key: isTail ? tailKey : undefined }] : []
  const told = {
    epoch,
    offset,
    replacedFrom: hasPiece ? firstByte : offset,
    holderMs: other === 1 ? LONG_MS : undefined,
  }
  const recorded = await (flag ? resumables : shortLived).record(
    await resumables.find({ ...claim, ...resumables }),
    {
      ...told,
      pieces: pieces.map(({ key, ...piece }) => ({ ...piece, receipt: 'r', objectKey: key })),
      sealed: kind === 'seal' ? { digest: undefined } : undefined,
      version,
    },
  )
  return same(
    recorded,
    model.record(upload, {
      ...told,
      lifetimeMs: flag ? DAY_MS : LONG_MS,
      pieces,
      isSealed: kind === 'seal',
    }),
  )
}

async function endFinish(world: World, { target }: Operation): Promise<undefined> {
  const claim = world.claims.at(-1 - target)
  if (claim === undefined) return
  const { version, epoch } = claim
  const { userId } = world.account
  await world.harness.ledger.endFinish({
    userId,
    version,
    epoch,
    refusal: undefined,
    digest: undefined,
  })
  world.model.endFinish(claim.model, epoch)
}

async function surround(world: World, operation: Operation): Promise<string | undefined> {
  const { account, model, harness } = world
  const { kind, name, bytes, other } = operation
  if (kind === 'put') {
    const put = async () => {
      const version = await account.begin(name, bytes)
      await account.commit(version, bytes)
    }
    return same(await outcomeOf(put()), model.put(name, bytes))
  }
  if (kind === 'remove') return same(await outcomeOf(account.remove(name)), model.remove(name))
  if (kind === 'grant') {
    await account.grant('gift', bytes)
    model.granted = bytes
  } else {
    await harness.advance([1, LONG_MS - 1, LONG_MS, DAY_MS][other] ?? 1)
    model.now = harness.now()
  }
  return undefined
}

async function compare(world: World): Promise<void> {
  const { account, model, harness } = world
  const { userId } = account
  expect(await account.usage()).toEqual(model.usage)
  expect(model.usage).toMatchObject(await harness.audit(userId))
  expect(await harness.ledger.measureUnfinished(userId)).toEqual(model.unfinished())
  expect(await harness.runningUploads(userId)).toBe(model.running)
  const counted = { recorded: model.garbageBytes, counted: model.garbageBytes }
  expect(await harness.garbageBytes(userId)).toEqual(counted)
  const { garbage } = await harness.keys(userId)
  const due = new Map(garbage.map(({ key, notBefore }) => [key, notBefore]))
  for (const { version, model: upload } of world.uploads) {
    const isForgotten = upload.state === 'forgotten'
    const found = await harness.ledger.findResumable({ userId, version })
    expect(found === undefined).toBe(isForgotten)
    if (found === undefined) continue
    expect(shown(found)).toEqual(shown({ ...upload, state: model.stateOf(upload) }))
    expect(found.expiresAt).toBe(upload.leaseUntil)
    const pieces = await harness.ledger.listPieces(version)
    expect(pieces.map(({ firstByte, size, objectKey: key }) => ({ firstByte, size, key }))).toEqual(
      upload.pieces,
    )
    if (upload.state !== 'pending') continue
    for (const key of [upload.tailKey, ...upload.pieces.map((piece) => piece.key)]) {
      if (key === undefined || model.leftUntil.has(key)) continue
      expect(due.get(key)).toBeGreaterThanOrEqual(found.expiresAt + TAIL_RETENTION_MS)
    }
  }
  for (const key of model.forgottenKeys) expect(due.has(key)).toBe(false)
  for (const [key, until] of model.leftUntil) expect(due.get(key)).toBeLessThanOrEqual(until)
}

type Shown = Pick<ModelUpload, 'length' | 'offset' | 'epoch' | 'holder'> & {
  readonly state: string
}

function shown({ length, offset, epoch, holder, state }: Shown): Shown {
  return { length, offset, epoch, holder, state }
}
