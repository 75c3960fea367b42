import { expect, it, onTestFinished, vi } from 'vitest'
import { showTransfer } from '../../../src/cli/commands/backup.ts'

it('draws a bar on a terminal, and clears it at the end', () => {
  const drawn: string[] = []
  const call = { printError: () => undefined, drawLine: (text: string) => void drawn.push(text) }
  {
    using transfer = showTransfer(call)
    transfer.onProgress({ moved: 1, total: 2 })
    transfer.onProgress({ moved: 0, total: 0 })
  }
  expect(drawn).toEqual([
    `[${'#'.repeat(15)}${'.'.repeat(15)}] 50 %  1 B of 2 B`,
    `[${'.'.repeat(30)}] 0 %  0 B of 0 B`,
    '',
  ])
})

it('says a line every 10 s where there is no terminal', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const lines: string[] = []
  const call = { printError: (line: string) => void lines.push(line), drawLine: undefined }
  using transfer = showTransfer(call)
  for (let moved = 0; moved < 25; moved += 1) {
    transfer.onProgress({ moved, total: 25 })
    vi.advanceTimersByTime(1000)
  }
  expect(lines).toEqual(['Progress: 10 B of 25 B', 'Progress: 20 B of 25 B'])
})
