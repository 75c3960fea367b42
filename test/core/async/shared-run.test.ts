import { describe, expect, it } from 'vitest'
import { shareRuns } from '../../../src/core/async/shared-run.ts'

/** Runs that end when told to, in their order. */
function pausedRuns() {
  const runs: PromiseWithResolvers<void>[] = []
  const run = (): Promise<void> => {
    const paused = Promise.withResolvers<void>()
    runs.push(paused)
    return paused.promise
  }
  return { runs, confirm: shareRuns(run) }
}

/** Lets all promises that can settle do so. */
const settled = (): Promise<void> => new Promise(setImmediate)

describe('a confirmation', () => {
  it('is one of a run that began after the call', async () => {
    const { runs, confirm } = pausedRuns()
    const ended: string[] = []
    void confirm().then(() => ended.push('first'))
    await settled()
    void confirm().then(() => ended.push('second'))
    await settled()
    expect(runs).toHaveLength(1)
    runs[0]?.resolve()
    await settled()
    expect(ended).toEqual(['first'])
    expect(runs).toHaveLength(2)
    runs[1]?.resolve()
    await settled()
    expect(ended).toEqual(['first', 'second'])
  })

  it('is shared by all calls that wait for the same run', async () => {
    const { runs, confirm } = pausedRuns()
    const first = confirm()
    await settled()
    const others = Array.from({ length: 100 }, () => confirm())
    runs[0]?.resolve()
    await first
    await settled()
    expect(runs).toHaveLength(2)
    runs[1]?.resolve()
    await Promise.all(others)
    expect(runs).toHaveLength(2)
  })

  it('fails with its run, and the next call has a run of its own', async () => {
    const { runs, confirm } = pausedRuns()
    const first = confirm()
    await settled()
    const second = confirm()
    runs[0]?.reject(new Error('lost'))
    await expect(first).rejects.toThrow('lost')
    await settled()
    runs[1]?.resolve()
    await second
    const third = confirm()
    await settled()
    runs[2]?.resolve()
    await third
  })
})
