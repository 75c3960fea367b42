import { setTimeout } from 'node:timers/promises'
import { expect } from 'vitest'
import { ask, jsonOf } from '../http/fixture.ts'
import type { TestAdapters, TestService, TestUser } from '../support/test-service.ts'
import { kindsFound } from '../support/verify.ts'
import type { Load } from './load.ts'
import { readFrom } from './requests.ts'

interface Settling extends TestAdapters {
  readonly service: TestService
  readonly load: Load
}

/**
 * Asserts that once faults are over and leases have ended, every name holds what it may, the figures equal the files,
 * and after two sweeps there is nothing else (I1, I2, I4, I8).
 */
export async function expectSettled({ service, load, ...adapters }: Settling): Promise<void> {
  const users = new Map<TestUser, { used: number; files: number }>()
  for (const register of load.registers) {
    const { answer, size } = await readFrom({ service, register })
    expect(answer).not.toBe('unavailable')
    const sum = users.get(register.user) ?? { used: 0, files: 0 }
    const files = sum.files + (answer === 'done' ? 1 : 0)
    users.set(register.user, { used: sum.used + size, files })
  }
  for (const user of users.keys()) await releaseReservations(service, user)
  await service.sweep()
  await service.sweep()
  for (const [user, { used, files }] of users) {
    const { body } = await ask(service, { user, path: '/users/me/capacity' })
    expect(jsonOf({ body })).toMatchObject({ used, reserved: 0, file_count: files })
    expect(await service.storedKeys(user)).toHaveLength(files)
  }
  expect(await kindsFound(adapters)).toEqual([])
}

/** Sweeps until every lease that a fault left behind has ended. */
async function releaseReservations(service: TestService, { userId }: TestUser): Promise<void> {
  for (;;) {
    await service.sweep()
    if ((await service.ledger.usage(userId))?.reserved === 0) return
    await setTimeout(250)
  }
}
