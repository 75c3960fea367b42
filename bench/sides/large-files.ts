import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { runCurl, type Transfer } from '../measure/curl.ts'
import type { LargeFile } from '../setup/large-file.ts'
import { measure, type Processes } from '../measure/measure.ts'
import { runProgram } from '../setup/run-program.ts'
import type { Side } from '../scenario.ts'
import type { Stack } from '../setup/stack.ts'
import type { UploadKind } from './uploads.ts'

export interface LargeUploads {
  readonly stack: Stack
  /** All at once. */
  readonly files: readonly LargeFile[]
  /** For all of them, beyond which the run has failed. */
  readonly timeoutS: number
}

/** Uploads to the service, whose answers have to say the digests of what was sent. */
export function largeServiceUploads(
  uploads: LargeUploads & { readonly kind: UploadKind; readonly name?: string },
): Side {
  const { stack, files, timeoutS, kind, name = 'service' } = uploads
  const [cookie] = stack.cookies
  return {
    name,
    async measure(round) {
      const transfers = files.map(({ path, bytes }, at) => {
        const url = `${stack.service.url}/users/me/repo/large-${at}`
        return { url, cookie, bytes, upload: { kind, path }, output: replyOf(stack, at) }
      })
      const figures = await measure(stack.processes, () => runCurl(transfers, timeoutS))
      for (const [at, { sha256 }] of files.entries()) {
        const reply = await readFile(replyOf(stack, at), 'utf8')
        if (!reply.includes(sha256)) throw new Error('An answer has another digest.')
      }
      const [transfer] = transfers
      const [file] = files
      if (round <= 1 && transfer && file) await expectDigest(transfer, file.sha256)
      await clear(stack)
      return figures
    },
  }
}

/** The same files put into the object store by itself, each by one request. */
export function largeDirectUploads({ stack, files, timeoutS }: LargeUploads): Side | undefined {
  const { direct } = stack
  if (direct === undefined) return undefined
  return {
    name: 'MinIO',
    async measure() {
      const transfers = files.map(({ path, bytes }, at): Transfer => {
        const url = `${direct.origin}${direct.target('PUT', `users/user-0/large-${at}`)}`
        return { url, bytes, upload: { kind: 'raw', path } }
      })
      const figures = await measure(stack.servers, () => runCurl(transfers, timeoutS))
      await clear(stack)
      return figures
    },
  }
}

export interface LargeDownloads {
  readonly stack: Stack
  readonly file: LargeFile
  readonly timeoutS: number
}

export async function largeServiceDownloads(downloads: LargeDownloads): Promise<Side> {
  const { stack, file } = downloads
  const [cookie] = stack.cookies
  const url = `${stack.service.url}/users/me/repo/large`
  const { bytes } = file
  await send({ url, cookie, bytes, upload: { kind: 'raw', path: file.path } }, downloads)
  const transfer = { url, cookie, bytes }
  return receivingSide({ ...downloads, name: 'service', transfer, processes: stack.processes })
}

export async function largeDirectDownloads(downloads: LargeDownloads): Promise<Side | undefined> {
  const { stack, file } = downloads
  const { direct } = stack
  if (direct === undefined) return undefined
  const { bytes } = file
  const targetOf = (method: 'GET' | 'PUT'): string =>
    `${direct.origin}${direct.target(method, 'users/user-0/large')}`
  const upload = { kind: 'raw', path: file.path } as const
  await send({ url: targetOf('PUT'), bytes, upload }, downloads)
  const transfer = { url: targetOf('GET'), bytes }
  return receivingSide({ ...downloads, name: 'MinIO', transfer, processes: stack.servers })
}

async function send(transfer: Transfer, { timeoutS }: LargeDownloads): Promise<void> {
  await runCurl([transfer], timeoutS)
}

interface Receiving extends LargeDownloads {
  readonly name: string
  readonly transfer: Transfer
  readonly processes: Processes
}

function receivingSide({ name, transfer, processes, file, timeoutS }: Receiving): Side {
  return {
    name,
    async measure(round) {
      const figures = await measure(processes, () => runCurl([transfer], timeoutS))
      if (round <= 1) await expectDigest(transfer, file.sha256)
      return figures
    },
  }
}

/** Throws unless the content that is read back has the digest. */
export async function expectDigest(
  { url, cookie }: Pick<Transfer, 'url' | 'cookie'>,
  sha256: string,
): Promise<void> {
  const { status, body } = await fetch(url, { headers: cookie === undefined ? {} : { cookie } })
  const hash = createHash('sha256')
  if (body !== null) await pipeline(Readable.fromWeb(body), hash)
  if (status !== 200 || hash.digest('hex') !== sha256) {
    throw new Error(`A large file is not as it was sent (${status}).`)
  }
}

function replyOf({ folder }: Stack, at: number): string {
  return join(folder, `reply-${at}`)
}

const SYNC_TIMEOUT_MS = 120_000

/** Removes what was sent and lets the disk come to rest, so that the next run does not pay for this one. */
export async function clear(stack: Stack): Promise<void> {
  await stack.empty()
  await runProgram('sync', [], SYNC_TIMEOUT_MS)
}
