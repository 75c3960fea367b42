import { randomBytes } from 'node:crypto'
import { directDownloads, serviceDownloads } from '../sides/downloads.ts'
import type { Scenario, Setting } from '../scenario.ts'
import { openStack, STACK_NAMES, type Stack } from '../setup/stack.ts'
import { directUploads, serviceUploads, type UploadKind } from '../sides/uploads.ts'

/** A photo has 1 to 8 MiB. */
const SIZES = {
  '4k': { title: '4 KiB', bytes: 4 * 2 ** 10, connections: 16 },
  '1m': { title: '1 MiB', bytes: 2 ** 20, connections: 8 },
  '8m': { title: '8 MiB', bytes: 8 * 2 ** 20, connections: 8 },
}

type Size = keyof typeof SIZES

/** Files that many clients upload or download at the same time. */
export const smallFiles: readonly Scenario[] = (['4k', '1m', '8m'] as const).flatMap((size) => [
  upload(size, 'form'),
  upload(size, 'raw'),
  download(size),
])

function upload(size: Size, kind: UploadKind): Scenario {
  const { title, bytes, connections } = SIZES[size]
  return {
    name: `upload-${kind}-${size}`,
    title: `${title} ${kind} uploads from ${connections} connections, each to a name of its own; against PUTs`,
    stacks: STACK_NAMES,
    async open(setting) {
      const stack = await stackOf(setting)
      const { seconds } = setting
      const uploads = { stack, content: randomBytes(bytes), seconds, connections }
      const subject = serviceUploads({ ...uploads, kind })
      const baseline = directUploads(uploads)
      return { subject, ...(baseline && { baseline }) }
    },
  }
}

function download(size: Size): Scenario {
  const { title, bytes, connections } = SIZES[size]
  return {
    name: `download-${size}`,
    title: `${title} downloads over ${connections} connections; against GETs`,
    stacks: STACK_NAMES,
    async open(setting) {
      const stack = await stackOf(setting)
      const { seconds } = setting
      const downloads = { stack, content: randomBytes(bytes), seconds, connections }
      const subject = await serviceDownloads(downloads)
      const baseline = await directDownloads(downloads)
      return { subject, ...(baseline && { baseline }) }
    },
  }
}

async function stackOf({ stack, servers, profile, opened }: Setting): Promise<Stack> {
  return opened.use(await openStack({ name: stack, servers, profile }))
}
