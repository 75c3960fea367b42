import { setTimeout as delay } from 'node:timers/promises'
import { residentBytes } from '../measure/process-usage.ts'
import type { Scenario } from '../scenario.ts'
import { openStack } from '../setup/stack.ts'

const IDLE_MS = 5_000

/** How long a start takes, and what a service takes that nobody uses. */
export const start: Scenario = {
  name: 'start',
  title: `from start to ready; memory ${IDLE_MS / 1000} s later`,
  stacks: ['sqlite-files'],
  async open({ stack: name, servers, profile }) {
    return {
      subject: {
        name: 'service',
        async measure() {
          await using stack = await openStack({ name, servers, profile })
          const { pid, startSeconds } = stack.service
          await delay(IDLE_MS)
          return { start_s: startSeconds, idle_rss_mib: (await residentBytes(pid)) / 2 ** 20 }
        },
      },
    }
  },
}
