import { setTimeout } from 'node:timers/promises'
import { expect } from 'vitest'
import { ask, jsonOf } from '../../http/fixture.ts'
import type { TestAdapters, TestService, TestUser } from '../../support/service/test-service.ts'
import { createVerifier } from '../../../src/core/verify/verifier.ts'
import { createLedger } from '../../../src/database/ledger.ts'
import { createInventory } from '../../../src/database/verify/inventory.ts'
import { kindsFound } from '../../support/verify.ts'
import { describeLeftovers } from './leftovers.ts'
import type { Load } from './load.ts'
import { readFrom } from './requests.ts'

interface Settling extends TestAdapters {
  readonly service: TestService
  readonly load: Load
  /** What the store's own servers say of an object. */
  readonly copiesOf?: (key: string) => Promise<string>
  /** The store, when it is one of several nodes. */
  readonly cluster?: Cluster
}

/**
 * A store that may have confirmed removals that it did not make, which only `verify --repair` finds; and whose nodes
 * can lose one another, and keep removals waiting, until they begin anew.
 */
interface Cluster {
  beginAnew(): Promise<void>
}

/**
 * Asserts that once faults are over and leases have ended, every name holds what it may, the figures equal the files,
 * and after two sweeps there is nothing else (I1, I2, I4, I8).
 */
export async function expectSettled(settling: Settling): Promise<void> {
  const { service, load, copiesOf, cluster, ...adapters } = settling
  const users = new Map<TestUser, { used: number; files: number }>()
  for (const register of load.registers) {
    const { answer, size } = await readFrom({ service, register })
    expect(answer).not.toBe('unavailable')
    const sum = users.get(register.user) ?? { used: 0, files: 0 }
    const files = sum.files + (answer === 'done' ? 1 : 0)
    users.set(register.user, { used: sum.used + size, files })
  }
  const settle = async (): Promise<void> => {
    for (let times = 0; times < MOST_TIMES; times++) {
      if ((await sweepAfter(service, users)) || cluster === undefined) break
      await cluster.beginAnew()
    }
  }
  await settle()
  if (cluster !== undefined) {
    await repairOrphans(adapters)
    await settle()
  }
  await service.sweep()
  await service.sweep()
  for (const [user, { used, files }] of users) {
    const { body } = await ask(service, { user, path: '/users/me/capacity' })
    expect(jsonOf({ body })).toMatchObject({ used, reserved: 0, file_count: files })
    const stored = await service.storedKeys(user)
    expect(await describeLeftovers({ database: adapters.database, stored, copiesOf })).toBe('')
    expect(stored).toHaveLength(files)
  }
  expect(await kindsFound(adapters)).toEqual([])
}

/** As the operator does. */
async function repairOrphans({ database, objects }: TestAdapters): Promise<void> {
  const kinds = new Set<string>()
  await createVerifier({
    inventory: createInventory(database, { times: { garbageDelayMs: 0 } }),
    ledger: createLedger(database, { baseCapacity: 0 }),
    objects,
  }).verify({
    userId: undefined,
    repair: true,
    readOneIn: undefined,
    onFinding: ({ kind }) => kinds.add(kind),
    signal: AbortSignal.timeout(60_000),
  })
  kinds.delete('orphaned_object')
  expect([...kinds]).toEqual([])
}

const SETTLE_TIMEOUT_MS = 60_000
const MOST_TIMES = 3

/**
 * Sweeps until the leases that a fault left behind have ended, writes that were still on their way have landed, and
 * what was replaced is removed. Says whether that came about. It asks the ledger too, since a node that has just come
 * back may leave out of its list the objects whose removal still fails.
 */
async function sweepAfter(
  service: TestService,
  users: ReadonlyMap<TestUser, { readonly files: number }>,
): Promise<boolean> {
  const deadline = performance.now() + SETTLE_TIMEOUT_MS
  for (const [user, { files }] of users) {
    for (;;) {
      await service.sweep()
      // Of all users; one is enough to see whether there is any.
      const { reservations, garbage } = await service.ledger.measureJournal(1)
      const stored = await service.storedKeys(user)
      if (reservations + garbage === 0 && stored.length === files) break
      if (performance.now() > deadline) return false
      await setTimeout(250)
    }
  }
  return true
}
