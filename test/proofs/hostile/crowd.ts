import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { exitOf } from '../../support/service/program.ts'
import type { CrowdOrder, CrowdReport } from './crowd-process.ts'

export interface Crowd {
  /** Ends all its connections; resolves to how it fared. */
  leave(): Promise<CrowdReport>
}

/** Lets a crowd loose. Resolves when each of its connections has been made once. */
export async function gather(order: CrowdOrder): Promise<Crowd> {
  const child = fork(PROCESS, { execArgv: [] })
  try {
    child.send(order)
    const ready = once(child, 'message').then(() => true)
    const ended = exitOf(child).then(() => false)
    if (!(await Promise.race([ready, ended]))) throw new Error('The crowd has ended')
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  }
  return {
    async leave() {
      const told = once(child, 'message')
      child.send('leave')
      const [report] = (await told) as [CrowdReport]
      await exitOf(child)
      return report
    },
  }
}

const PROCESS = fileURLToPath(new URL('crowd-process.ts', import.meta.url))
