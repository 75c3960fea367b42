import { randomBytes } from 'node:crypto'
import type { Contest, Scenario, Setting } from '../scenario.ts'
import { expectRoom, makeLargeFile, splitFile } from '../setup/large-file.ts'
import { openStack, type Stack, STACK_NAMES } from '../setup/stack.ts'
import { append, createUpload } from '../setup/tus.ts'
import { largeAppends, type SlicedFile } from '../sides/large-appends.ts'
import { largeServiceUploads } from '../sides/large-files.ts'
import { smallAppends } from '../sides/small-appends.ts'
import { serviceUploads } from '../sides/uploads.ts'

const KIB = 2 ** 10
const MIB = 2 ** 20
const GIB = 2 ** 30

const MANY_APPENDS = 10_000
const UNFINISHED = 100

const TIMEOUT_S = 600

/** Resumable uploads, against uploads of one request. */
export const resumable: readonly Scenario[] = [
  large({ name: 'append-1g', appends: 'one append', bytes: GIB }),
  large({ name: 'append-50m', appends: 'appends of 50 MiB', bytes: 50 * MIB }),
  large({ name: 'append-8m', appends: 'appends of 8 MiB', bytes: 8 * MIB }),
  roundRobin(),
  small(),
  growing(),
  {
    name: 'upload-tus-4k',
    title: '4 KiB uploads, each a creation and an append; against form uploads',
    stacks: STACK_NAMES,
    async open(setting) {
      const stack = await stackOf(setting)
      const uploads = { stack, content: randomBytes(4 * KIB), seconds: setting.seconds }
      return {
        subject: serviceUploads({ ...uploads, name: 'tus', kind: 'tus' }),
        baseline: serviceUploads({ ...uploads, name: 'form', kind: 'form' }),
        comparesCpu: true,
      }
    },
  },
  unfinished(),
  parallel(),
]

function large({
  name,
  appends,
  bytes,
}: {
  readonly name: string
  readonly appends: string
  readonly bytes: number
}): Scenario {
  return {
    name,
    title: `1 GiB in ${appends}; against one raw PUT`,
    stacks: STACK_NAMES,
    async open(setting) {
      const stack = await stackOf(setting)
      const files = await makeFiles(stack, {
        count: 1,
        bytes: Math.round(GIB * setting.scale),
        slice: bytes,
      })
      const uploads = { stack, files, timeoutS: TIMEOUT_S }
      return {
        subject: largeAppends({ ...uploads, name: 'appends', services: stack.services }),
        baseline: largeServiceUploads({ ...uploads, name: 'raw PUT', kind: 'raw' }),
        comparesCpu: true,
      }
    },
  }
}

/** No instance sees all bytes in order, so the object is read once for its SHA-256. */
function roundRobin(): Scenario {
  return {
    name: 'append-2-instances',
    title: '1 GiB in appends of 50 MiB to two instances in turn; against one instance',
    stacks: ['postgres-minio'],
    async open(setting) {
      const stack = await stackOf(setting, { instances: 2 })
      const sizes = { count: 1, bytes: Math.round(GIB * setting.scale), slice: 50 * MIB }
      const uploads = { stack, files: await makeFiles(stack, sizes), timeoutS: TIMEOUT_S }
      return {
        subject: largeAppends({ ...uploads, name: '2 instances', services: stack.services }),
        baseline: largeAppends({ ...uploads, name: '1 instance', services: [stack.service] }),
        comparesCpu: true,
      }
    },
  }
}

function small(): Scenario {
  return {
    name: 'append-1k',
    title: 'appends of 1 KiB to one upload over one connection; against raw PUTs of 1 KiB',
    stacks: STACK_NAMES,
    async open(setting) {
      const stack = await stackOf(setting)
      const uploads = { stack, content: randomBytes(KIB), seconds: setting.seconds }
      return {
        subject: smallAppends({ ...uploads, name: 'appends', earlier: 0 }),
        baseline: serviceUploads({ ...uploads, name: 'raw PUT', kind: 'raw', connections: 1 }),
        comparesCpu: true,
      }
    },
  }
}

function growing(): Scenario {
  return {
    name: 'append-10000',
    title: 'appends of 1 KiB from the 10,000th of an upload on; against from the 10th on',
    stacks: STACK_NAMES,
    async open(setting) {
      const stack = await stackOf(setting)
      const appends = { stack, content: randomBytes(KIB), seconds: setting.seconds }
      const earlier = Math.round(MANY_APPENDS * setting.scale)
      return {
        subject: smallAppends({ ...appends, name: '10,000', earlier, isKept: true }),
        baseline: smallAppends({ ...appends, name: '10', earlier: 10 }),
        comparesCpu: true,
      }
    },
  }
}

function unfinished(): Scenario {
  return {
    name: 'unfinished-100',
    title: `4 KiB form uploads of a user with ${UNFINISHED} unfinished uploads; against one with none`,
    stacks: STACK_NAMES,
    async open(setting): Promise<Contest> {
      const stack = await stackOf(setting, { users: 2 })
      const [cookie = '', other = ''] = stack.cookies
      const origin = stack.service.url
      for (let at = 0; at < UNFINISHED; at += 1) {
        const upload = { origin, cookie, name: `unfinished-${at}`, length: MIB }
        const path = await createUpload(upload)
        const content = new Uint8Array(KIB)
        await append({ origin, cookie, path }, { offset: 0, content })
      }
      const content = randomBytes(4 * KIB)
      const uploads = { stack, content, seconds: setting.seconds, kind: 'form' } as const
      return {
        subject: serviceUploads({ ...uploads, name: '100 unfinished', cookies: [cookie] }),
        baseline: serviceUploads({ ...uploads, name: 'none', cookies: [other] }),
        comparesCpu: true,
      }
    },
  }
}

function parallel(): Scenario {
  return {
    name: 'append-64x64m',
    title: '64 appends of 64 MiB at once',
    stacks: STACK_NAMES,
    maxRounds: 3,
    isCold: true,
    async open(setting) {
      const stack = await stackOf(setting)
      const bytes = Math.round(64 * MIB * setting.scale)
      const files = await makeFiles(stack, { count: 64, bytes, slice: bytes })
      const uploads = { stack, files, services: stack.services, timeoutS: TIMEOUT_S }
      return { subject: largeAppends({ ...uploads, name: 'appends' }) }
    },
  }
}

async function stackOf(
  { stack: name, servers, profile, opened }: Setting,
  more: { readonly users?: number; readonly instances?: number } = {},
): Promise<Stack> {
  return opened.use(await openStack({ name, servers, profile, ...more }))
}

interface Sizes {
  readonly count: number
  readonly bytes: number
  readonly slice: number
}

/** Files on the stack's disk, also in slices, with room for as much again in the object store. */
async function makeFiles(stack: Stack, { count, bytes, slice }: Sizes): Promise<SlicedFile[]> {
  await expectRoom(stack.folder, 3 * count * bytes)
  const files: SlicedFile[] = []
  for (let at = 0; at < count; at += 1) {
    const file = await makeLargeFile(stack.folder, { name: `source-${at}`, bytes })
    const slices = slice === bytes ? [file] : await splitFile(file, slice)
    files.push({ ...file, slices })
  }
  return files
}
