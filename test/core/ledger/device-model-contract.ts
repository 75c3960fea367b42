import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseFileNamePrefix } from '../../../src/core/files/file-name.ts'
import { isAppError } from '../../../src/core/errors.ts'
import { createVersion, objectKey, type Version } from '../../../src/core/objects/object-key.ts'
import {
  type Account,
  BASE_CAPACITY,
  grantOf,
  type LedgerHarness,
  LONG_MS,
  openAccount,
  type OpenHarness,
} from './fixture.ts'

const NAMES = ['a/1', 'a/2', 'a/3', 'b/1', 'b/2'] as const
const DEVICES = ['front', 'back'] as const

const name = fc.constantFrom(...NAMES)
const size = fc.constantFrom(0, 1, 10, 20, 30, 45, 60)
const deviceId = fc.constantFrom(...DEVICES, ...DEVICES, undefined)
/** One of those in progress, if there are any. */
const upload = fc.nat(3)
const share = fc.constantFrom('all', 'own', 0, 10, 40, 60, 'removed' as const)

const operation = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('put' as const),
      name,
      size,
      deviceId,
      evicts: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('begin' as const), name, size, deviceId }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('extend' as const), upload, size }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('commit' as const), upload, size }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('abort' as const), upload }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), name }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('rename' as const), name, onto: name }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('restore' as const), at: fc.nat(5) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('share' as const),
      deviceId: fc.constantFrom(...DEVICES),
      share,
    }),
  },
)

type Operation = typeof operation extends fc.Arbitrary<infer O> ? O : never

interface ModelFile {
  readonly name: string
  readonly size: number
  readonly deviceId: string | null
}

interface ModelUpload extends Reserved {
  readonly version: Version
  readonly name: string
  readonly deviceId: string | null
}

/** By an upload: of the account, and of the share of its device. */
interface Reserved {
  readonly reserved: number
  readonly ofShare: number
}

interface Admitted {
  readonly evicted: readonly string[]
  /** What the upload reserves, if it is begun. */
  readonly reserves: Reserved
}

/** What each device grants, which `own` is. The account has it besides its own. */
const GRANTED = 15

/** The rule of shares, formulated once more: files in the order of their last change. */
class Model {
  files: readonly ModelFile[] = []
  /** In progress. */
  uploads: readonly ModelUpload[] = []
  readonly shares = new Map<string, number | 'all' | 'own'>(DEVICES.map((each) => [each, 'all']))

  get capacity(): number {
    return BASE_CAPACITY + GRANTED * this.shares.size
  }

  find(named: string): ModelFile | undefined {
    return this.files.find((file) => file.name === named)
  }

  usedBy(device: string | null | undefined): number {
    const own = device === undefined ? this.files : this.files.filter((f) => f.deviceId === device)
    return own.reduce((sum, file) => sum + file.size, 0)
  }

  limitOf(device: string | null): number {
    const set = device === null ? 'all' : (this.shares.get(device) ?? 'all')
    if (set === 'all') return Infinity
    return set === 'own' ? GRANTED : set
  }

  write(file: ModelFile): void {
    this.files = [...this.files.filter(({ name: other }) => other !== file.name), file]
  }

  forget(gone: readonly string[]): void {
    this.files = this.files.filter((file) => !gone.includes(file.name))
  }

  reservedBy(device: string | null | undefined): Reserved {
    const own =
      device === undefined ? this.uploads : this.uploads.filter((u) => u.deviceId === device)
    return {
      reserved: own.reduce((sum, each) => sum + each.reserved, 0),
      ofShare: own.reduce((sum, each) => sum + each.ofShare, 0),
    }
  }

  reserve(upload: ModelUpload): void {
    this.end(upload)
    this.uploads = [...this.uploads, upload]
  }

  end({ version }: ModelUpload): void {
    this.uploads = this.uploads.filter((each) => each.version !== version)
  }

  growthOf(file: ModelFile): Reserved {
    const old = this.find(file.name)
    const own = old?.deviceId === file.deviceId ? old : undefined
    return {
      reserved: Math.max(0, file.size - (old?.size ?? 0)),
      ofShare: file.deviceId === null ? 0 : Math.max(0, file.size - (own?.size ?? 0)),
    }
  }

  /** Whether the upload may reserve what it lacks for the file, or what refuses it. */
  extend(upload: ModelUpload, file: ModelFile): ModelUpload | string {
    const growth = this.growthOf(file)
    const { deviceId } = file
    const ofShare = Math.max(upload.ofShare, growth.ofShare)
    const reserved = Math.max(upload.reserved, growth.reserved)
    const share = this.usedBy(deviceId) + this.reservedBy(deviceId).ofShare
    if (ofShare > upload.ofShare && share + ofShare - upload.ofShare > this.limitOf(deviceId)) {
      return this.refusedByShare(deviceId)
    }
    const all = this.usedBy(undefined) + this.reservedBy(undefined).reserved
    if (reserved > upload.reserved && all + reserved - upload.reserved > this.capacity) {
      return this.refusedByAccount()
    }
    return { ...upload, reserved, ofShare }
  }

  /** What the file would evict if it `evicts`, or what refuses it. `upload`: in progress, whose reservation it may use. */
  admit(
    file: ModelFile,
    { evicts = false, upload }: { readonly evicts?: boolean; readonly upload?: ModelUpload } = {},
  ): Admitted | string {
    const { deviceId } = file
    const growth = this.growthOf(file)
    const old = this.find(file.name)
    const isNewToDevice = deviceId !== null && old?.deviceId !== deviceId
    // Files that uploads in progress are about to replace are spared.
    const spared = new Set([file.name, ...this.uploads.map((each) => each.name)])
    const candidates = evicts
      ? this.files.filter((f) => f.name.startsWith('a/') && !spared.has(f.name))
      : []
    const own = fit(
      { growth: growth.ofShare, reserved: upload?.ofShare ?? 0 },
      {
        used: this.usedBy(deviceId),
        others: this.reservedBy(deviceId).ofShare - (upload?.ofShare ?? 0),
        limit: this.limitOf(deviceId),
        candidates: candidates.filter((f) => f.deviceId === deviceId),
        evicts,
      },
    )
    const isEmpty = growth.ofShare === 0 && isNewToDevice && this.limitOf(deviceId) === 0
    if (isEmpty || own === undefined) return this.refusedByShare(deviceId)
    const names = own.map((f) => f.name)
    const more = fit(
      { growth: growth.reserved, reserved: upload?.reserved ?? 0 },
      {
        used: this.usedBy(undefined) - own.reduce((sum, f) => sum + f.size, 0),
        others: this.reservedBy(undefined).reserved - (upload?.reserved ?? 0),
        limit: this.capacity,
        candidates: candidates.filter((f) => !names.includes(f.name)),
        evicts,
      },
    )
    if (more === undefined) return this.refusedByAccount()
    return { evicted: [...names, ...more.map((f) => f.name)], reserves: growth }
  }

  private refusedByShare(deviceId: string | null): string {
    return refused('device', {
      capacity: this.limitOf(deviceId),
      used: this.usedBy(deviceId),
      reserved: this.reservedBy(deviceId).ofShare,
    })
  }

  private refusedByAccount(): string {
    const { capacity } = this
    const { reserved } = this.reservedBy(undefined)
    return refused('account', { capacity, used: this.usedBy(undefined), reserved })
  }
}

interface Bounds {
  readonly used: number
  /** What others have reserved. */
  readonly others: number
  readonly limit: number
  readonly candidates: readonly ModelFile[]
  readonly evicts: boolean
}

/** The files to evict so that the growth fits, beside what others have reserved, or in what the upload has itself. */
function fit(
  { growth, reserved }: { readonly growth: number; readonly reserved: number },
  { used, others, limit, candidates, evicts }: Bounds,
): readonly ModelFile[] | undefined {
  if (growth === 0) return []
  if (evicts) {
    return others + growth > limit ? undefined : oldest(candidates, used + others + growth - limit)
  }
  const fits = used + others + growth <= limit || (growth <= reserved && used + growth <= limit)
  return fits ? [] : undefined
}

/** What a refusal says, in the model and in the facts of an answer. */
function refused(limit: unknown, { capacity, used, reserved }: Readonly<Record<string, unknown>>) {
  return `${String(limit)}: ${String(used)} and ${String(reserved)} of ${String(capacity)}`
}

/** The first files that free so many bytes; `undefined` if all free too little. */
function oldest(files: readonly ModelFile[], bytes: number): readonly ModelFile[] | undefined {
  let left = bytes
  const found: ModelFile[] = []
  for (const file of files) {
    if (left <= 0) break
    left -= file.size
    found.push(file)
  }
  return left > 0 ? undefined : found
}

/** I16: devices use what their files count, and no commit raises it above the share. */
export function ledgerDeviceModelContract(name: string, open: OpenHarness, runs: number): void {
  describe(`devices against their model on ${name}`, () => {
    let harness: LedgerHarness

    beforeAll(async () => {
      harness = await open({ historyLifetimeMs: LONG_MS, historyShare: 100 })
    })
    afterAll(() => harness.close())

    it('I16 agree with it on every answer and every figure', { timeout: 300_000 }, async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(operation, { maxLength: 30, size: 'max' }),
          async (operations) => {
            const account = await openAccount(harness)
            const model = new Model()
            for (const each of DEVICES) await setShare(account, each, 'all')
            for (const each of operations) {
              await perform({ account, model }, each)
              await harness.advance(2)
              await compare(account, model)
            }
            const devices = new Set(model.files.flatMap((file) => file.deviceId ?? []))
            expect((await harness.devices(account.userId)).recorded).toHaveLength(devices.size)
          },
        ),
        { numRuns: runs },
      )
    })

    const setShare = async (account: Account, device: string, set: string | number) => {
      const { userId } = account
      const key = { userId, source: 'device', reference: device }
      if (set === 'removed') return await harness.users.revokeGrant(key)
      await harness.users.putGrant({ ...grantOf(userId, device), ...key, bytes: GRANTED })
      await harness.setShare(userId, device, String(set))
    }

    const compare = async (account: Account, model: Model) => {
      const { recorded, counted } = await harness.devices(account.userId)
      expect(recorded).toEqual(counted)
      const used = DEVICES.toSorted().flatMap((device) => {
        const own = model.files.filter((file) => file.deviceId === device)
        return own.length === 0
          ? []
          : [{ deviceId: device, used: model.usedBy(device), files: own.length }]
      })
      expect(recorded).toEqual(used)
      const files = (await account.list({ order: 'updated_at' })).map((file) => [
        file.name,
        file.size,
        file.deviceId,
      ])
      expect(files).toEqual(model.files.map((file) => [file.name, file.size, file.deviceId]))
      const { reserved } = model.reservedBy(undefined)
      expect(await account.usage()).toMatchObject({ used: model.usedBy(undefined), reserved })
      const devices = await harness.ledger.reportDevices(account.userId)
      expect(devices.map((each) => [each.deviceId, each.used, each.reserved])).toEqual(
        DEVICES.toSorted()
          .filter((device) => model.shares.has(device))
          .map((device) => [device, model.usedBy(device), model.reservedBy(device).ofShare]),
      )
    }

    const perform = async (
      { account, model }: { readonly account: Account; readonly model: Model },
      each: Operation,
    ): Promise<void> => {
      switch (each.kind) {
        case 'put': {
          const file = { name: each.name, size: each.size, deviceId: each.deviceId ?? null }
          const expected = model.admit(file, { evicts: each.evicts })
          const evict = each.evicts ? parseFileNamePrefix('a/') : undefined
          const by = { deviceId: each.deviceId, evict }
          const answer = await answerOf(async () => {
            const version = await account.begin(each.name, each.size, by)
            try {
              await account.commit(version, each.size, by)
            } catch (error) {
              await account.abort(version)
              throw error
            }
          })
          expect(answer).toBe(typeof expected === 'string' ? expected : 'ok')
          if (typeof expected === 'string') return
          model.forget(expected.evicted)
          model.write(file)
          return
        }
        case 'begin': {
          const file = { name: each.name, size: each.size, deviceId: each.deviceId ?? null }
          const expected = model.admit(file)
          const version = createVersion()
          const key = { version, objectKey: objectKey(account.userId, version) }
          const { deviceId } = each
          const answer = await answerOf(() =>
            account.begin(each.name, each.size, { ...key, deviceId }),
          )
          expect(answer).toBe(typeof expected === 'string' ? expected : 'ok')
          if (typeof expected === 'string') return
          model.reserve({ ...expected.reserves, ...file, version })
          return
        }
        case 'extend': {
          const pending = model.uploads[each.upload]
          if (pending === undefined) return
          const expected = model.extend(pending, { ...pending, size: each.size })
          const answer = await answerOf(() => account.extend(pending.version, each.size))
          expect(answer).toBe(typeof expected === 'string' ? expected : 'ok')
          if (typeof expected !== 'string') model.reserve(expected)
          return
        }
        case 'commit': {
          const pending = model.uploads[each.upload]
          if (pending === undefined) return
          const { name: named, deviceId } = pending
          const file = { name: named, size: each.size, deviceId }
          const expected = model.admit(file, { upload: pending })
          const answer = await answerOf(() => account.commit(pending.version, each.size))
          expect(answer).toBe(typeof expected === 'string' ? expected : 'ok')
          if (typeof expected === 'string') return
          model.end(pending)
          model.write(file)
          return
        }
        case 'abort': {
          const pending = model.uploads[each.upload]
          if (pending === undefined) return
          await account.abort(pending.version)
          model.end(pending)
          return
        }
        case 'remove': {
          if (model.find(each.name) === undefined) return
          await account.remove(each.name)
          model.forget([each.name])
          return
        }
        case 'rename': {
          const old = model.find(each.name)
          if (old === undefined || each.onto === each.name) return
          await account.change(each.name, { newName: each.onto, overwrite: true })
          model.forget([each.name])
          model.write({ ...old, name: each.onto })
          return
        }
        case 'restore': {
          const past = (await account.past())[each.at]
          if (past === undefined) return
          const expected = model.admit(past)
          const answer = await answerOf(() => account.restore(past.version, { overwrite: true }))
          expect(answer).toBe(typeof expected === 'string' ? expected : 'ok')
          if (answer === 'ok') model.write({ ...past })
          return
        }
        case 'share':
          await setShare(account, each.deviceId, each.share)
          if (each.share === 'removed') model.shares.delete(each.deviceId)
          else model.shares.set(each.deviceId, each.share as number | 'all' | 'own')
      }
    }
  })
}

/** `ok`, or what refuses the operation. */
async function answerOf(operate: () => Promise<unknown>): Promise<string> {
  try {
    await operate()
    return 'ok'
  } catch (error) {
    if (isAppError(error, 'capacity_exceeded')) return refused(error.facts['limit'], error.facts)
    throw error
  }
}
