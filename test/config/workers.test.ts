import { availableParallelism } from 'node:os'
import { describe, expect, it } from 'vitest'
import { type Config, readConfig } from '../../src/config/config.ts'
import { countWorkers, shareOfWorker } from '../../src/config/workers.ts'

const SERVERS = { DATABASE_URL: 'postgres://u:p@db/x', OBJECT_STORE: 's3://bucket' }

describe('WORKERS', () => {
  it('is one process by default, with the settings as they are', () => {
    const config = readConfig(SERVERS)
    expect(config.workers).toBe(1)
    expect(shareOfWorker(config)).toEqual({
      ...config,
      database: { ...config.database, poolSize: 10 },
    })
  })

  it.each([
    ['SQLite', { OBJECT_STORE: 's3://bucket' }],
    ['local files', { DATABASE_URL: SERVERS.DATABASE_URL }],
    ['both', {}],
  ])('can be 1 and auto, but no larger number, with %s', (_what, environment) => {
    expect(readConfig({ ...environment, WORKERS: '1' }).workers).toBe(1)
    expect(readConfig({ ...environment, WORKERS: 'auto' }).workers).toBe(1)
    expect(() => readConfig({ ...environment, WORKERS: '4' })).toThrow(
      /^Invalid settings:\n {2}WORKERS: must be 1 or auto with SQLite or local files.*$/,
    )
  })

  it.each(['0', '-1', '1.5', 'all', '2 '])('refuses %j', (WORKERS) => {
    expect(() => readConfig({ ...SERVERS, WORKERS })).toThrow(
      'WORKERS: must be auto or a whole number of at least 1',
    )
  })

  it.each(['PORT', 'ADMIN_PORT', 'METRICS_PORT'])('needs a %s that all can share', (name) => {
    const environment = { ...SERVERS, ADMIN_TOKEN: 'a'.repeat(32), [name]: '0' }
    expect(readConfig({ ...environment, WORKERS: '1' }).workers).toBe(1)
    expect(() => readConfig({ ...environment, WORKERS: '2' })).toThrow('must not be 0 with several')
  })

  it('needs enough memory for each worker', () => {
    expect(readConfig({ ...SERVERS, WORKERS: '7' }).workers).toBe(7)
    expect(() => readConfig({ ...SERVERS, WORKERS: '8' })).toThrow(
      'UPLOAD_MEMORY: must be at least 288MiB for 8 WORKERS with this MAX_FILE_SIZE',
    )
    const memory = { UPLOAD_MEMORY: '288MiB' }
    expect(readConfig({ ...SERVERS, ...memory, WORKERS: '8' }).workers).toBe(8)
  })

  it('takes as many as there are CPUs with auto, but no more than the memory allows', () => {
    const auto = (uploadMemory: number) =>
      countWorkers('auto', { ...readConfig(SERVERS), uploadMemory, minMemory: 10 })
    expect(auto(10 * availableParallelism())).toBe(availableParallelism())
    expect(auto(10_000)).toBe(availableParallelism())
    expect(auto(10 * availableParallelism() - 1)).toBe(Math.max(1, availableParallelism() - 1))
    expect(auto(1)).toBe(1)
  })
})

describe('the share of a worker', () => {
  const shares = (workers: number, config: Partial<Config> = {}) =>
    shareOfWorker({ ...readConfig(SERVERS), ...config, workers })

  it('is an equal part of the memory and of the downloads, at least one', () => {
    expect(shares(4)).toMatchObject({
      uploadMemory: 64 * 2 ** 20,
      maxDownloads: 250,
      maxDownloadsPerUser: 25,
    })
    expect(shares(4, { maxDownloads: 5, maxDownloadsPerUser: 1 })).toMatchObject({
      maxDownloads: 2,
      maxDownloadsPerUser: 1,
    })
  })

  it.each([
    [2, 10],
    [4, 10],
    [5, 8],
    [10, 4],
    [24, 4],
  ])('of %i workers is a pool of %i connections', (workers, poolSize) => {
    expect(shares(workers).database).toMatchObject({ poolSize })
  })
})
