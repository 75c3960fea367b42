import { randomBytes } from 'node:crypto'
import { directDownloads, serviceDownloads } from '../sides/downloads.ts'
import { measure, type Processes } from '../measure/measure.ts'
import type { Scenario, Side } from '../scenario.ts'
import { openStack, type Stack, STACK_NAMES } from '../setup/stack.ts'
import { runWrk } from '../measure/wrk.ts'

const PAGE = 100

/** The first page of an account's files. */
export const list: Scenario = {
  name: 'list',
  title: `pages of ${PAGE} of 200 files; against ListObjectsV2`,
  stacks: STACK_NAMES,
  async open({ stack: name, servers, seconds, profile, opened }) {
    const stack = opened.use(await openStack({ name, servers, profile }))
    // For the files that they put.
    const files = { stack, content: randomBytes(1024), seconds }
    await serviceDownloads(files)
    await directDownloads(files)
    const [cookie = ''] = stack.cookies
    const { direct, service } = stack
    const page = { origin: service.url, target: `/users/me/repo?limit=${PAGE}`, cookie }
    const own = { ...page, entry: '"sha256":', processes: stack.processes }
    const subject = listingSide('service', own, { stack, seconds })
    if (direct === undefined) return { subject }
    const target = direct.listTarget('users/user-0/', PAGE)
    const entry = '<Contents>'
    const place = { origin: direct.origin, target, entry, processes: stack.servers }
    return { subject, baseline: listingSide('MinIO', place, { stack, seconds }) }
  },
}

interface Page {
  readonly origin: string
  readonly target: string
  readonly cookie?: string
  /** What there is once of each file. */
  readonly entry: string
  readonly processes: Processes
}

function listingSide(
  name: string,
  { origin, target, cookie, entry, processes }: Page,
  { stack, seconds }: { readonly stack: Stack; readonly seconds: number },
): Side {
  const targets = [cookie === undefined ? target : `${target}\tCookie: ${cookie}`]
  return {
    name,
    async measure() {
      const reply = await fetch(`${origin}${target}`, { headers: cookie ? { cookie } : {} })
      const text = await reply.text()
      const count = text.split(entry).length - 1
      if (count !== PAGE) throw new Error(`A page has ${count} files instead of ${PAGE}.`)
      const contentBytes = Buffer.byteLength(text)
      const load = { origin, targets, again: true, contentBytes, seconds, folder: stack.folder }
      return await measure(processes, async () => runWrk({ ...load, method: 'GET' }))
    },
  }
}
