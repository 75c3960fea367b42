import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, onTestFinished, test } from 'vitest'
import { cpuSeconds, parseStat, peakBytes, resetPeak } from '../../bench/measure/process-usage.ts'

const MB = 10 ** 6

test('the ticks of a process are its own and those of children that have ended', () => {
  const stat = '4242 (a) b (c)) S 17 4242 4242 0 -1 4194560 1 2 3 4 100 20 7 3 20 0 11 0 5 6 7'
  expect(parseStat(stat)).toEqual({ pid: 4242, parent: 17, ticks: 130, endedTicks: 10 })
})

describe.skipIf(process.platform !== 'linux')('a process that runs', () => {
  test('is charged for what one below it uses', async () => {
    const work = 'while (process.cpuUsage().user < 300_000); console.log(1)'
    const child = await start('sh', [
      '-c',
      `"${process.execPath}" -e '${work}; setInterval(() => {}, 1e4)'; :`,
    ])
    expect(await cpuSeconds(child.pid ?? 0)).toBeGreaterThanOrEqual(0.29)
  })

  test('has a new peak of its memory once the old one is forgotten', async () => {
    const work = [
      '(() => Buffer.alloc(200e6).fill(1))()',
      'setTimeout(() => { gc(); setTimeout(() => console.log(1), 200) }, 50)',
      'setInterval(() => {}, 1e4)',
    ].join(';')
    const { pid = 0 } = await start(process.execPath, ['--expose-gc', '-e', work])
    expect(await peakBytes(pid)).toBeGreaterThan(200 * MB)
    await resetPeak(pid)
    expect(await peakBytes(pid)).toBeLessThan(150 * MB)
  })
})

/** Resolves when the process has printed something; it and those below it end with the test. */
async function start(program: string, args: readonly string[]): Promise<ChildProcess> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'], detached: true })
  onTestFinished(() => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  })
  await once(child.stdout, 'data')
  return child
}
