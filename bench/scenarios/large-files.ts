import { expectRoom, type LargeFile, makeLargeFile } from '../setup/large-file.ts'
import {
  largeDirectDownloads,
  largeDirectUploads,
  largeServiceDownloads,
  largeServiceUploads,
} from '../sides/large-files.ts'
import type { Scenario, Setting } from '../scenario.ts'
import { openStack, STACK_NAMES, type Stack } from '../setup/stack.ts'
import type { UploadKind } from '../sides/uploads.ts'

const MIB = 2 ** 20
const GIB = 2 ** 30

/** Files that are sent in parts, by curl. */
export const largeFiles: readonly Scenario[] = [
  upload({ kind: 'form', timeoutS: 300 }),
  upload({ kind: 'raw', timeoutS: 300 }),
  download(),
  parallel(),
  huge(),
]

function upload({ kind, timeoutS }: { kind: UploadKind; timeoutS: number }): Scenario {
  return {
    name: `upload-${kind}-1g`,
    title: `one 1 GiB ${kind} upload; against one PUT`,
    stacks: STACK_NAMES,
    async open(setting) {
      const { stack, files } = await prepare(setting, {
        count: 1,
        bytes: Math.round(GIB * setting.scale),
      })
      const subject = largeServiceUploads({ stack, files, timeoutS, kind })
      const baseline = largeDirectUploads({ stack, files, timeoutS })
      return { subject, ...(baseline && { baseline }) }
    },
  }
}

function download(): Scenario {
  return {
    name: 'download-1g',
    title: 'one 1 GiB download; against one GET',
    stacks: STACK_NAMES,
    async open(setting) {
      const { stack, files } = await prepare(setting, {
        count: 1,
        bytes: Math.round(GIB * setting.scale),
      })
      const [file] = files
      if (file === undefined) throw new Error('There is no file.')
      const downloads = { stack, file, timeoutS: 300 }
      const subject = await largeServiceDownloads(downloads)
      const baseline = await largeDirectDownloads(downloads)
      return { subject, ...(baseline && { baseline }) }
    },
  }
}

function parallel(): Scenario {
  return {
    name: 'upload-64x64m',
    title: '64 form uploads of 64 MiB at once; against as many PUTs',
    stacks: STACK_NAMES,
    maxRounds: 3,
    isCold: true,
    async open(setting) {
      const { stack, files } = await prepare(setting, {
        count: 64,
        bytes: Math.round(64 * MIB * setting.scale),
      })
      const subject = largeServiceUploads({ stack, files, timeoutS: 600, kind: 'form' })
      const baseline = largeDirectUploads({ stack, files, timeoutS: 600 })
      return { subject, ...(baseline && { baseline }) }
    },
  }
}

/** Alone, since one PUT takes no more than 5 GiB. */
function huge(): Scenario {
  return {
    name: 'upload-10g',
    title: 'one 10 GiB form upload',
    stacks: STACK_NAMES,
    maxRounds: 1,
    isCold: true,
    async open(setting) {
      const { stack, files } = await prepare(setting, {
        count: 1,
        bytes: Math.round(10 * GIB * setting.scale),
      })
      return { subject: largeServiceUploads({ stack, files, timeoutS: 1_800, kind: 'form' }) }
    },
  }
}

/** A stack, and files on its disk with room for as much again on either side. */
async function prepare(
  { stack: name, servers, profile, opened }: Setting,
  { count, bytes }: { readonly count: number; readonly bytes: number },
): Promise<{ readonly stack: Stack; readonly files: readonly LargeFile[] }> {
  const stack = opened.use(await openStack({ name, servers, profile }))
  await expectRoom(stack.folder, 3 * count * bytes)
  const files: LargeFile[] = []
  for (let at = 0; at < count; at += 1) {
    files.push(await makeLargeFile(stack.folder, { name: `source-${at}`, bytes }))
  }
  return { stack, files }
}
