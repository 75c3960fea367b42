import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Ledger } from '../../../src/database/ledger.ts'
import { createInstruments } from '../../../src/metrics/instruments.ts'
import { createMetrics, type MetricsOptions } from '../../../src/metrics/metrics.ts'
import { meterSweeper } from '../../../src/metrics/sweeps.ts'
import type { Sweeper } from '../../../src/core/sweep/sweeper.ts'
import { expectProblem, type OpenService, upload } from '../fixture.ts'
import { outage } from '../../support/faults/faults.ts'
import type { TestService } from '../../support/service/test-service.ts'
import { ampleMemory } from '../../support/upload-memory.ts'
import { ADMIN_OPTIONS, ADMIN_TOKEN, send } from './fixture.ts'

/** Prometheus' view of the service. */
export function adminMetricsSuite(open: OpenService): void {
  describe('admin: metrics', () => {
    let service: TestService
    beforeAll(async () => {
      service = await open(ADMIN_OPTIONS)
    })
    afterAll(() => service.stop())

    const scrape = (headers = AUTHORIZATION) =>
      send(service, { method: 'GET', at: '/metrics', headers })
    const sample = async (name: string): Promise<number | undefined> =>
      sampleOf((await scrape()).body.toString(), name)

    it('answers in the text format to who shows the token, and to no one else', async () => {
      const reply = await scrape()
      expect(reply.status).toBe(200)
      expect(reply.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8')
      expect(reply.headers['cache-control']).toBe('no-store')
      for (const headers of [{ authorization: 'Bearer wrong' }, { authorization: '' }]) {
        expectProblem(await scrape(headers), { status: 401, code: 'unauthorized' })
      }
      const posted = await send(service, { method: 'POST', at: '/metrics', headers: AUTHORIZATION })
      expectProblem(posted, { status: 405, code: 'method_not_allowed' })
    })

    it('follows the conventions: every metric is explained, and named for its unit', async () => {
      const lines = (await scrape()).body.toString().trim().split('\n')
      for (const line of lines.filter(Boolean))
        expect(line).toMatch(/^(# (HELP|TYPE) )?cloud_repository_[a-z_]+[ {]/)
      const types = lines.filter((line) => line.startsWith('# TYPE '))
      expect(types.length).toBeGreaterThan(8)
      for (const line of types) {
        const [, , name = '', type = ''] = line.split(' ')
        expect({ name, type }).toEqual({ name, type: typeOf(name) })
        expect(lines.some((help) => help.startsWith(`# HELP ${name} `))).toBe(true)
      }
    })

    it('tells what waits for a sweep, and what the sweep does of it', async () => {
      const user = await service.createUser(1000)
      for (const content of ['1', '22', '333']) await upload(service, { user, content })
      const removed = (await sample('cloud_repository_removed_objects_total')) ?? 0
      expect(await sample('cloud_repository_sweep_backlog{of="garbage"}')).toBe(2)
      expect(await sample('cloud_repository_sweep_backlog{of="expired_uploads"}')).toBe(0)
      expect(
        await sample('cloud_repository_sweep_backlog_age_seconds{of="garbage"}'),
      ).toBeGreaterThan(0)
      const sweptAt = Date.now() / 1000
      await service.sweep()
      expect(await sample('cloud_repository_removed_objects_total')).toBe(removed + 2)
      expect(await sample('cloud_repository_sweep_backlog{of="garbage"}')).toBe(0)
      expect(await sample('cloud_repository_sweep_backlog_age_seconds{of="garbage"}')).toBe(0)
      expect(await sample('cloud_repository_sweeps_total{end="complete"}')).toBeGreaterThan(0)
      const start = (await sample('cloud_repository_last_sweep_start_timestamp_seconds')) ?? 0
      const end = (await sample('cloud_repository_last_sweep_end_timestamp_seconds')) ?? 0
      expect(start).toBeGreaterThanOrEqual(sweptAt - 0.001)
      expect(end).toBeGreaterThanOrEqual(start)
      const duration = (await sample('cloud_repository_last_sweep_duration_seconds')) ?? 0
      expect(duration).toBeCloseTo(end - start, 2)
    })
  })

  describe('admin: metrics of a service in trouble', () => {
    it('leaves out what a database does not tell in time, and tells the rest', async () => {
      for (const measureBacklog of [
        () => new Promise<never>(() => {}),
        () => Promise.reject(outage()),
      ]) {
        const metrics = createMetrics(inTrouble(measureBacklog))
        for (let scrapes = 0; scrapes < 2; scrapes++) {
          const text = await metrics.expose()
          expect(sampleOf(text, 'cloud_repository_sweep_backlog{of="garbage"}')).toBeUndefined()
        }
        expect(await metrics.expose()).toContain('cloud_repository_sweep_backlog_age_seconds gauge')
      }
    })

    it('asks the database once for all who scrape meanwhile', async () => {
      let asked = 0
      const none = { count: 0, oldestMs: 0 }
      const { promise, resolve } = Promise.withResolvers<void>()
      const measureBacklog = async () => {
        asked += 1
        await promise
        return { expiredUploads: none, abortedUploads: none, garbage: none }
      }
      const metrics = createMetrics(inTrouble(measureBacklog))
      const scrapes = [metrics.expose(), metrics.expose(), metrics.expose()]
      resolve()
      for (const text of await Promise.all(scrapes)) {
        expect(sampleOf(text, 'cloud_repository_sweep_backlog{of="garbage"}')).toBe(0)
      }
      expect(asked).toBe(1)
    })

    it('counts a sweep while it runs, and one that fails as failed', async () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      const figures = {
        expiredUploads: 1,
        removedObjects: 2,
        failedRemovals: 3,
        firstFailure: undefined,
        forgottenUploads: 4,
        purgedRows: 5,
      }
      const sweeper: Sweeper = {
        async sweep({ onProgress }) {
          onProgress?.({ ...figures, removedObjects: 1 })
          onProgress?.(figures)
          await promise
          throw outage()
        },
        expire: async () => 7,
      }
      const options = inTrouble(() => Promise.reject(outage()))
      const metrics = createMetrics(options)
      const metered = meterSweeper(sweeper, options.instruments)
      const sweeping = metered.sweep({ signal: new AbortController().signal })
      const running = await metrics.expose()
      for (const [name, value] of [
        ['expired_uploads', 1],
        ['removed_objects', 2],
        ['failed_removals', 3],
        ['forgotten_uploads', 4],
        ['purged_rows', 5],
      ] as const) {
        expect(sampleOf(running, `cloud_repository_${name}_total`)).toBe(value)
      }
      expect(sampleOf(running, 'cloud_repository_sweeps_total{end="failed"}')).toBe(0)
      resolve()
      await expect(sweeping).rejects.toMatchObject({ code: 'unavailable' })
      await metered.expire(new AbortController().signal)
      const after = await metrics.expose()
      expect(sampleOf(after, 'cloud_repository_sweeps_total{end="failed"}')).toBe(1)
      expect(sampleOf(after, 'cloud_repository_expired_uploads_total')).toBe(8)
    })
  })
}

const AUTHORIZATION = { authorization: `Bearer ${ADMIN_TOKEN}` }

function typeOf(name: string): string {
  if (name.endsWith('_total')) return 'counter'
  return HISTOGRAMS.test(name) ? 'histogram' : 'gauge'
}

const HISTOGRAMS = /_(request|call)_seconds$/

/** What metrics read, of which nothing but the backlog matters. */
function inTrouble(measureBacklog: Ledger['measureBacklog']): MetricsOptions {
  return {
    instruments: createInstruments({ hasPool: false, hasPack: false }),
    ledger: {
      measureBacklog,
      measureJournal: () => Promise.reject(outage()),
      measureWebhooks: () => Promise.reject(outage()),
    },
    readiness: { failures: async () => new Map() },
    uploads: { runningAppends: 0 },
    memory: ampleMemory(),
    connections: undefined,
    measurePack: undefined,
    measureReserve: undefined,
    findBackup: undefined,
  }
}

/** The value of a sample, named with its labels. */
function sampleOf(text: string, name: string): number | undefined {
  const line = text.split('\n').find((line) => line.startsWith(`${name} `))
  return line === undefined ? undefined : Number(line.slice(name.length + 1))
}
