import { randomBytes } from 'node:crypto'
import { directDownloads, serviceDownloads } from '../sides/downloads.ts'
import type { Scenario, Setting } from '../scenario.ts'
import { openStack, STACK_NAMES, type Stack } from '../setup/stack.ts'
import { directUploads, serviceUploads, type UploadKind } from '../sides/uploads.ts'

const SIZES = { '4k': 4 * 2 ** 10, '1m': 2 ** 20 }

const TITLES = { '4k': '4 KiB', '1m': '1 MiB' }

type Size = keyof typeof SIZES

/** Files that are one write to the object store, over 16 connections. */
export const smallFiles: readonly Scenario[] = (['4k', '1m'] as const).flatMap((size) => [
  upload(size, 'form'),
  upload(size, 'raw'),
  download(size),
])

function upload(size: Size, kind: UploadKind): Scenario {
  return {
    name: `upload-${kind}-${size}`,
    title: `${TITLES[size]} ${kind} uploads, each to a name of its own; against PUTs`,
    stacks: STACK_NAMES,
    async open(setting) {
      const stack = await stackOf(setting)
      const uploads = { stack, content: randomBytes(SIZES[size]), seconds: setting.seconds }
      const subject = serviceUploads({ ...uploads, kind })
      const baseline = directUploads(uploads)
      return { subject, ...(baseline && { baseline }) }
    },
  }
}

function download(size: Size): Scenario {
  return {
    name: `download-${size}`,
    title: `${TITLES[size]} downloads; against GETs`,
    stacks: STACK_NAMES,
    async open(setting) {
      const stack = await stackOf(setting)
      const downloads = { stack, content: randomBytes(SIZES[size]), seconds: setting.seconds }
      const subject = await serviceDownloads(downloads)
      const baseline = await directDownloads(downloads)
      return { subject, ...(baseline && { baseline }) }
    },
  }
}

async function stackOf({ stack, servers, profile, opened }: Setting): Promise<Stack> {
  return opened.use(await openStack({ name: stack, servers, profile }))
}
