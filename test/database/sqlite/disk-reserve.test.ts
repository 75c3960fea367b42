import { stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createDiskReserve } from '../../../src/database/sqlite/disk-reserve.ts'
import { createFolder } from '../../support/servers/local-server.ts'

const SIZE = 8 * 2 ** 20

describe('F08 the reserve of the embedded database', () => {
  let folder: Awaited<ReturnType<typeof createFolder>>
  let database: string
  beforeEach(async () => {
    folder = await createFolder('reserve')
    database = join(folder.path, 'database.sqlite')
  })
  afterEach(() => folder.remove())

  it('takes its space from the disk, for its owner only, and gives it back once', async () => {
    let releases = 0
    const reserve = createDiskReserve(database, () => (releases += 1))
    expect(await reserve.measure()).toBe(0)
    expect(await reserve.release()).toBe(false)
    expect(await Promise.all([reserve.restore(), reserve.restore()])).toEqual([true, true])
    const { size, mode, blocks } = await stat(`${database}-reserve`)
    expect({ size, mode: mode & 0o777 }).toEqual({ size: SIZE, mode: 0o600 })
    expect(blocks * 512).toBeGreaterThanOrEqual(SIZE)
    expect(await reserve.measure()).toBe(SIZE)
    expect(await reserve.release()).toBe(true)
    expect(await reserve.release()).toBe(false)
    expect((await stat(`${database}-reserve`)).size).toBe(0)
    expect(releases).toBe(1)
  })

  it('takes what it lacks after it was interrupted', async () => {
    const reserve = createDiskReserve(database)
    await reserve.restore()
    await truncate(`${database}-reserve`, 1_000)
    expect(await reserve.measure()).toBe(1_000)
    expect(await reserve.restore()).toBe(true)
    expect((await stat(`${database}-reserve`)).size).toBe(SIZE)
  })

  it('refuses nothing where there can be none', async () => {
    await writeFile(join(folder.path, 'file'), '')
    const reserve = createDiskReserve(join(folder.path, 'file', 'database.sqlite'))
    expect(await reserve.restore()).toBe(true)
    expect(await reserve.measure()).toBe(0)
    expect(await reserve.release()).toBe(false)
  })
})
