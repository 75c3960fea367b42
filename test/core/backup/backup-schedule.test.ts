import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type BackupSchedule,
  runBackupSchedule,
  type ScheduledBackup,
} from '../../../src/core/backup/backup-schedule.ts'

const HOUR = 3_600_000

const MADE: ScheduledBackup = {
  copy: '',
  files: 0,
  versions: 0,
  bytes: 0,
  objects: 0,
  objectBytes: 0,
  copies: 1,
  removedCopies: 0,
  removedObjects: 0,
  findings: 0,
}

describe('the schedule of backups', () => {
  let now: number
  let newest: number | undefined
  let calls: string[]
  let stopping: AbortController
  let running: Promise<void>

  beforeEach(() => {
    now = 100 * HOUR
    newest = undefined
    calls = []
    stopping = new AbortController()
  })
  afterEach(async () => {
    stopping.abort()
    await running
  })

  function start(schedule: Partial<BackupSchedule> = {}): void {
    running = runBackupSchedule(
      {
        everyMs: 24 * HOUR,
        findLast: async () =>
          newest === undefined
            ? undefined
            : { at: newest, completedAt: newest, files: 0, bytes: 0, findings: 0 },
        make: async () => {
          newest = now
          return MADE
        },
        onMade: () => calls.push('made'),
        onFailed: (error) => calls.push(String(error)),
        clock: () => now,
        pollMs: 1,
        retryMs: 1,
        ...schedule,
      },
      stopping.signal,
    )
  }

  const later = (): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, 30))

  it('makes one at once if there is none, and the next one when it is due', async () => {
    start()
    await expect.poll(() => calls).toEqual(['made'])
    now += 24 * HOUR - 1
    await later()
    expect(calls).toEqual(['made'])
    now += 1
    await expect.poll(() => calls).toEqual(['made', 'made'])
  })

  it('goes on where the one before a restart was', async () => {
    newest = now - 23 * HOUR
    start()
    await later()
    expect(calls).toEqual([])
    now += HOUR
    await expect.poll(() => calls).toEqual(['made'])
  })

  it('says that one has failed, and repeats it later', async () => {
    const failures = [new Error('no room'), new Error('no room')]
    start({
      make: async () => {
        const failure = failures.pop()
        if (failure !== undefined) throw failure
        newest = now
        return MADE
      },
    })
    const failed = 'Error: no room'
    await expect.poll(() => calls).toEqual([failed, failed, 'made'])
  })

  it('leaves one to the process that is making it', async () => {
    let asked = 0
    start({
      make: async () => {
        asked += 1
        if (asked === 3) newest = now
        return undefined
      },
    })
    await expect.poll(() => asked).toBe(3)
    await later()
    expect({ asked, calls }).toEqual({ asked: 3, calls: [] })
  })

  it('waits for one interval after a backup of the future, from before the clock was set back', async () => {
    newest = now + 1000 * HOUR
    start({
      make: async () => {
        newest = (newest ?? 0) + 1
        return MADE
      },
    })
    await later()
    now += 24 * HOUR - 1
    await later()
    expect(calls).toEqual([])
    now += 1
    await expect.poll(() => calls).toEqual(['made'])
    await later()
    expect(calls).toEqual(['made'])
  })

  it('ends at once when the service stops, without a failure', async () => {
    start({
      make: (signal) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason))
        }),
    })
    await later()
    stopping.abort()
    await running
    expect(calls).toEqual([])
  })
})
