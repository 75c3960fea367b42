import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runCurls, type Transfer } from '../measure/curl.ts'
import { measure } from '../measure/measure.ts'
import type { Side } from '../scenario.ts'
import type { LargeFile } from '../setup/large-file.ts'
import type { ServiceProcess } from '../setup/service-process.ts'
import type { Stack } from '../setup/stack.ts'
import { createUpload, reprDigest } from '../setup/tus.ts'
import { clear, expectDigest } from './large-files.ts'

/** A file, and the files that it was split into. */
export interface SlicedFile extends LargeFile {
  readonly slices: readonly Omit<LargeFile, 'sha256'>[]
}

export interface LargeAppends {
  readonly stack: Stack
  readonly name: string
  /** Each an upload of its own, all at once. */
  readonly files: readonly SlicedFile[]
  /** The instances that receive the appends of an upload in turn. */
  readonly services: readonly ServiceProcess[]
  readonly timeoutS: number
}

/** Creates uploads, and sends each of them slice by slice. */
export function largeAppends({ stack, name, files, services, timeoutS }: LargeAppends): Side {
  const processes = { ...stack.servers, service: services.map(({ pid }) => pid) }
  const origins = services.map(({ url }) => url)
  const [cookie = ''] = stack.cookies
  return {
    name,
    async measure(round) {
      const figures = await measure(processes, async () => {
        const sequences = files.map((file, at) => sequenceOf(stack, { file, at, origins }))
        return await runCurls(await Promise.all(sequences), timeoutS)
      })
      for (const [at, { sha256 }] of files.entries()) {
        const head = await readFile(headOf(stack, at), 'utf8')
        if (!head.includes(reprDigest(sha256))) throw new Error('An answer has another digest.')
      }
      const url = `${stack.service.url}/users/me/repo/large-0`
      if (round <= 1) await expectDigest({ url, cookie }, files[0]?.sha256 ?? '')
      await clear(stack)
      return figures
    },
  }
}

interface Sequence {
  readonly origins: readonly string[]
  readonly file: SlicedFile
  readonly at: number
}

async function sequenceOf(
  stack: Stack,
  { file, at, origins }: Sequence,
): Promise<readonly Transfer[]> {
  const [cookie = ''] = stack.cookies
  const origin = stack.service.url
  const upload = { origin, cookie, name: `large-${at}`, length: file.bytes }
  const path = await createUpload(upload)
  let offset = 0
  return file.slices.map((slice, number) => {
    const url = `${origins[number % origins.length] ?? origin}${path}`
    const upload = { kind: 'append', path: slice.path, offset } as const
    offset += slice.bytes
    return { url, cookie, bytes: slice.bytes, upload, output: headOf(stack, at) }
  })
}

function headOf({ folder }: Stack, at: number): string {
  return join(folder, `head-${at}`)
}
