import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { LogOutput, type LostLines } from '../../src/log/log.ts'
import { temporaryFolder } from '../support/service/program.ts'

const LINE = `${'x'.repeat(999)}\n`
const REPORT = 'lines are lost\n'
const LOST = 50

/** A pipe takes and gives back room by pages. */
const PAGE_BYTES = 4096

let opened = new AsyncDisposableStack()
beforeEach(() => {
  opened = new AsyncDisposableStack()
})
afterEach(() => opened.disposeAsync())

it('waits for a reader that is slow, and loses nothing', async () => {
  const { output, fd, recovered } = await openPipe()
  const reader = await startReader(fd)
  // A pipe holds 64 KiB.
  for (let line = 0; line < 300; line++) output.write(LINE)
  const [read] = (await once(reader, 'exit')) as [number]
  expect(read).toBe(0)
  expect(recovered).toEqual([])
})

it('waits once for a reader that has stopped, and says how many lines were lost when it reads again', async () => {
  const { output, fd, recovered } = await openPipe()
  for (let line = 0; line < 70; line++) output.write(LINE)
  const begun = performance.now()
  for (let line = 0; line < 1000; line++) output.write(LINE)
  expect(performance.now() - begun).toBeLessThan(900)
  expect(recovered).toEqual([])
  const before = readAll(fd)
  output.write('the next line\n')
  const text = before + readAll(fd)
  expect(text.split('\n').filter((line) => line.length !== 999)).toEqual(['the next line', ''])
  const written = text.split('\n').length - 2
  expect(recovered).toMatchObject([{ lost: 1070 - written, err: { code: 'EAGAIN' } }])
})

it('still counts the lines that were lost when the report of them is lost, too', async () => {
  const { output, fd, recovered } = await openPipe({ report: REPORT })
  loseLines(fd, output)
  // The page has room for this line, but not for the report as well.
  output.write(`${'y'.repeat(PAGE_BYTES - REPORT.length)}\n`)
  expect(recovered).toMatchObject([{ lost: LOST }])
  expect(readAll(fd)).not.toContain(REPORT)
  output.write('the next line\n')
  expect(readAll(fd)).toBe(`the next line\n${REPORT}`)
  expect(recovered).toMatchObject([{ lost: LOST }, { lost: LOST + 1 }])
})

it('reports no recovery while a line is written only in part', async () => {
  const { output, fd, recovered } = await openPipe({ report: REPORT })
  loseLines(fd, output)
  const long = `${'y'.repeat(2 * PAGE_BYTES)}\n`
  output.write(long)
  expect(recovered).toEqual([])
  const before = readAll(fd)
  output.write('the next line\n')
  expect((before + readAll(fd)).endsWith(`${long}the next line\n${REPORT}`)).toBe(true)
  expect(recovered).toMatchObject([{ lost: LOST, err: { code: 'EAGAIN' } }])
})

/** Fills the pipe, loses 50 lines more, and reads as much as makes room for one page. */
function loseLines(fd: number, output: LogOutput): void {
  try {
    for (;;) writeSync(fd, LINE)
  } catch {
    for (let line = 0; line < LOST; line += 1) output.write(LINE)
  }
  readSync(fd, Buffer.alloc(PAGE_BYTES))
}

/**
 * A pipe that is not blocking, as the standard output is where it is one, and an output that writes `report` on
 * recovery.
 */
async function openPipe({ report }: { readonly report?: string } = {}): Promise<{
  readonly output: LogOutput
  readonly fd: number
  readonly recovered: readonly LostLines[]
}> {
  const path = join(await temporaryFolder(opened), 'pipe')
  execFileSync('sh', ['-c', 'mkfifo "$0"', path])
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  opened.defer(() => closeSync(fd))
  const recovered: LostLines[] = []
  const output = new LogOutput({
    fd,
    onRecovered: (lines) => {
      recovered.push(lines)
      if (report !== undefined) output.write(report)
    },
  })
  return { output, fd, recovered }
}

/** A thread that reads 300 lines, a few every 20 ms. Exits with 1 when they are not whole. */
async function startReader(fd: number): Promise<Worker> {
  const program = `
    const { readSync } = require('node:fs')
    const { parentPort, workerData } = require('node:worker_threads')
    const pause = new Int32Array(new SharedArrayBuffer(4))
    parentPort.postMessage('ready')
    let text = ''
    const endsAt = performance.now() + 20_000
    while (text.length < 300_000 && performance.now() < endsAt) {
      Atomics.wait(pause, 0, 0, 20)
      const piece = Buffer.alloc(10_000)
      try { text += piece.toString('latin1', 0, readSync(workerData, piece)) } catch {}
    }
    process.exitCode = text === ('x'.repeat(999) + '\\n').repeat(300) ? 0 : 1`
  const reader = new Worker(program, { eval: true, workerData: fd })
  await once(reader, 'message')
  return reader
}

function readAll(fd: number): string {
  const pieces: Buffer[] = []
  for (;;) {
    const piece = Buffer.alloc(65_536)
    try {
      pieces.push(piece.subarray(0, readSync(fd, piece)))
    } catch {
      return Buffer.concat(pieces).toString('latin1')
    }
  }
}
