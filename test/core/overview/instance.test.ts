import { expect, it } from 'vitest'
import { createInstance, instanceJson } from '../../../src/core/overview/instance.ts'

it('an instance says how long it has run, in whole seconds, and measures the disks each time', async () => {
  let now = 5_000
  let free = 100
  const instance = createInstance({
    version: '1.2.3',
    settings: [{ name: 'KEY', isSet: true, isSecret: true, value: undefined }],
    measureFreeDisk: async () => ({ database: free, objects: undefined }),
    findLastBackup: async () => ({ at: 0, completedAt: 1000, files: 2, bytes: 3, findings: 0 }),
    clock: () => now,
  })
  expect(await instance.read()).toMatchObject({ uptimeSeconds: 0 })
  ;[now, free] = [65_999, 99]
  expect(instanceJson(await instance.read())).toEqual({
    version: '1.2.3',
    uptime: 60,
    free_disk: { database: 99, objects: null },
    last_backup: {
      at: '1970-01-01T00:00:00.000Z',
      completed_at: '1970-01-01T00:00:01.000Z',
      files: 2,
      bytes: 3,
    },
    settings: [{ name: 'KEY', value: null, set: true, secret: true }],
  })
})
