import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it } from 'vitest'
import { syncsPerRequest } from '../../bench/measure/syncs.ts'
import { missingStrace } from '../support/faults/strace.ts'
import { isSkipped } from '../support/servers/needs.ts'
import { temporaryFolder } from '../support/service/program.ts'

const skipped = isSkipped(await missingStrace())

/** Answers each line that it reads, after two writes of which it syncs one with each call. */
const PROGRAM = `
  const { fdatasync, fsyncSync, openSync, writeSync } = require('node:fs')
  const file = openSync(process.argv[1], 'w')
  process.stdin.on('data', () => {
    writeSync(file, 'a')
    fsyncSync(file)
    writeSync(file, 'b')
    fdatasync(file, () => console.log('done'))
  })
`

describe.skipIf(skipped)('the syncs of a process', () => {
  it('are counted in all of its threads, per request', async () => {
    await using opened = new AsyncDisposableStack()
    const folder = await temporaryFolder(opened)
    const child = spawn(process.execPath, ['-e', PROGRAM, join(folder, 'written')])
    opened.defer(() => end(child))
    const lines = createInterface(child.stdout)
    const ask = async (): Promise<void> => {
      const answered = once(lines, 'line')
      child.stdin.write('next\n')
      await answered
    }
    await ask()
    expect(await syncsPerRequest(child.pid ?? 0, ask)).toBe(2)
  })

  it('are unknown of a process that does not exist', async () => {
    expect(await syncsPerRequest(2 ** 22 + 1, async () => undefined)).toBeUndefined()
  })
})

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}
