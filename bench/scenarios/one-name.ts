import { randomBytes } from 'node:crypto'
import type { Scenario } from '../scenario.ts'
import { openStack, STACK_NAMES } from '../setup/stack.ts'
import { directUploads, serviceUploads } from '../sides/uploads.ts'

/** Everyone overwrites the same file. */
export const oneName: Scenario = {
  name: 'overwrite-4k',
  title: '4 KiB raw uploads from 16 connections to one name; against PUTs of one key',
  stacks: STACK_NAMES,
  async open({ stack: name, servers, seconds, profile, opened }) {
    const stack = opened.use(await openStack({ name, servers, profile }))
    const uploads = { stack, content: randomBytes(4 * 2 ** 10), seconds, fileName: 'hot' }
    const subject = serviceUploads({ ...uploads, kind: 'raw' })
    const baseline = directUploads(uploads)
    return { subject, ...(baseline && { baseline }) }
  },
}
