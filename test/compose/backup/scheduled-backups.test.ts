import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createScheduledBackups } from '../../../src/compose/backup/scheduled-backups.ts'
import { readConfig } from '../../../src/config/config.ts'
import { tryExclusiveLock } from '../../../src/database/sqlite/exclusive-lock.ts'
import { type Bed, openBed } from './bed.ts'

let bed: Bed
let directory: string
beforeEach(async () => {
  bed = await openBed()
  directory = bed.place('backups')
})
afterEach(() => bed[Symbol.asyncDispose]())

const start = () => bed.start({ BACKUP_DIR: directory })

const copies = (): Promise<readonly string[]> => readdir(join(directory, 'copies')).catch(() => [])

it('a service with BACKUP_DIR makes a backup at once, and none after a restart until it is due', async () => {
  const first = await start()
  await first.put('a', 2000)
  await expect.poll(copies).toHaveLength(1)
  const { lastBackup } = await first.service.instance.read()
  expect(lastBackup?.completedAt).toBeGreaterThan(Date.now() - 60_000)
  await expect
    .poll(() => first.service.metrics.expose())
    .toMatch(/\ncloud_repository_backup_completion_timestamp_seconds 1\d{9}/)
  await first.stop()
  const made = await copies()
  const again = await start()
  await new Promise((resolve) => setTimeout(resolve, 1000))
  expect(await copies()).toEqual(made)
  await again.stop()
})

it('counts what a backup lacks, and says how often backups are made', async () => {
  const live = await bed.start()
  await live.put('big', 100_000)
  await live.stop()
  await rm(join(bed.place('live'), 'objects', 'users', 'ada'), { recursive: true })
  const { service, stop } = await bed.start({ BACKUP_DIR: directory, BACKUP_EVERY: '1h' })
  await expect
    .poll(() => service.metrics.expose())
    .toMatch(/\ncloud_repository_backup_findings 1\n/)
  expect(await service.metrics.expose()).toMatch(
    /\ncloud_repository_backup_interval_seconds 3600\n/,
  )
  await stop()
})

it('a backup that fails is counted as one, and one of another process is not', async () => {
  await writeFile(directory, 'no folder')
  const failing = await start()
  const failed = /\ncloud_repository_backup_failure_timestamp_seconds 1\d{9}/
  await expect.poll(() => failing.service.metrics.expose()).toMatch(failed)
  expect((await failing.service.instance.read()).lastBackup).toBeUndefined()
  await failing.stop()
  await rm(directory)

  await bed.run(`backup ${directory}`)
  await rm(join(directory, 'copies'), { recursive: true })
  using _ = tryExclusiveLock(join(directory, 'backup.lock'))
  const waiting = await start()
  await new Promise((resolve) => setTimeout(resolve, 1500))
  expect(await waiting.service.metrics.expose()).not.toMatch(failed)
  expect(await copies()).toEqual([])
  await waiting.stop()
})

it('a service makes backups again and again, and keeps as many as BACKUP_KEEP says', async () => {
  const { stop } = await bed.start()
  const config = readConfig({ DATA_DIR: bed.place('live'), BACKUP_DIR: directory })
  const backups = { ...config.backups, everyMs: 1, keep: 2 }
  const scheduled = createScheduledBackups({ ...config, backups }, '1.2.3')
  const made: string[] = []
  const failures: unknown[] = []
  const stopping = new AbortController()
  const hooks = {
    onMade: ({ copy }: { readonly copy: string }) => made.push(copy),
    onFailed: (error: unknown) => failures.push(error),
  }
  const running = scheduled?.run(hooks, stopping.signal)
  await expect.poll(() => made.length, { timeout: 60_000 }).toBeGreaterThan(3)
  stopping.abort()
  await running
  expect(failures).toEqual([])
  expect((await copies()).length).toBeLessThanOrEqual(3)
  await stop()
})

it('a stop ends a backup that is running', async () => {
  const { stop } = await start()
  await stop()
  expect(await copies()).toEqual([])
})
