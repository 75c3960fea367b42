import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface HeldLock {
  /** Gives the lock back, and resolves when the process has ended. */
  release(): Promise<void>
}

/** Has another process hold the write lock of a SQLite database, as a shell with an open transaction does. */
export async function holdWriteLock(file: string): Promise<HeldLock> {
  const holder = spawn(process.execPath, [PROGRAM, file], { stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = once(holder, 'exit')
  await Promise.race([once(holder.stdout, 'data'), exited.then(() => Promise.reject(NOT_HELD))])
  return {
    async release() {
      holder.stdin.end()
      await exited
    },
  }
}

const NOT_HELD = new Error('The lock could not be had.')

const PROGRAM = fileURLToPath(new URL('../lock-holder.mjs', import.meta.url))
