import { afterEach, describe, expect, it } from 'vitest'
import { openEmbeddedTwins } from '../../support/service/embedded-service.ts'
import {
  isWithoutProduction,
  openProductionTwins,
} from '../../support/service/production-service.ts'
import type {
  TestService,
  TestServiceOptions,
  TwinServices,
} from '../../support/service/test-service.ts'
import { upload } from '../fixture.ts'
import { attackAt, block, LONG_BLOCK, timesOfDownloads } from './guessing-load.ts'

describe('the service on SQLite and local files', () => {
  guessingTimingSuite(openEmbeddedTwins)
})

describe.skipIf(isWithoutProduction())('the service on PostgreSQL and MinIO', () => {
  guessingTimingSuite(openProductionTwins)
})

function guessingTimingSuite(open: (options?: TestServiceOptions) => Promise<TwinServices>): void {
  let twins: readonly TestService[] = []
  afterEach(() => Promise.all(twins.map((service) => service.stop())))

  // Other work on the machine slows one attempt; an attack that slows others would slow each.
  it('C08 at 100 a second slows nobody who shares the address', { retry: 2 }, async () => {
    twins = await open(LONG_BLOCK)
    const [service] = twins
    if (service === undefined) throw new TypeError('There are two services.')
    const users = [await service.createUser(1000), await service.createUser(1000)]
    for (const user of users) await upload(service, { user, content: 'hello' })
    await block(service)
    const quiet: number[] = []
    const besides: number[] = []
    for (let round = 0; round < 6; round += 1) {
      const noise = new AbortController()
      const isAttacked = round % 2 === 1
      const attack = isAttacked ? attackAt(service, 100, noise.signal) : undefined
      const times = await timesOfDownloads(service, users)
      ;(isAttacked ? besides : quiet).push(...times)
      noise.abort()
      await attack
    }
    expect(quantile(besides, 0.5)).toBeLessThan(2 * quantile(quiet, 0.5) + 5)
    expect(quantile(besides, 0.99)).toBeLessThan(3 * quantile(quiet, 0.99) + 20)
  })
}

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(part * (sorted.length - 1))] ?? Number.NaN
}
