import { readZip } from '../../support/read-zip.ts'
import { createHash, randomBytes } from 'node:crypto'
import { open } from 'node:fs/promises'
import { type Archive, type Client, createClient } from '../../../packages/js/src/client.ts'
import { type HttpProxy, startHttpProxy } from '../../support/faults/http-proxy.ts'
import { MIB, secretOf } from '../../http/fixture.ts'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import type {
  TestService,
  TestServiceOptions,
  TestUser,
} from '../../support/service/test-service.ts'

/** A service, a network in which requests meet with mishaps, and the client of one user behind it. */
export interface PackageFixture {
  readonly service: TestService
  readonly network: HttpProxy
  readonly user: TestUser
  readonly client: Client
}

/** Waits hardly at all before retries. */
export const IMPATIENT = { firstDelay: 5 }

export async function openPackage(
  opened: AsyncDisposableStack,
  options?: TestServiceOptions,
): Promise<PackageFixture> {
  const service = await openEmbedded(options)
  opened.defer(() => service.stop())
  const network = await startHttpProxy(service)
  opened.defer(() => network.stop())
  const user = await service.createUser(256 * MIB)
  return { service, network, user, client: clientOf(user, network.url) }
}

export function clientOf(user: TestUser, url: string): Client {
  return createClient({ url, token: secretOf(user), retry: IMPATIENT })
}

export function digestOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

/** Random content with its digest. */
export function createContent(size: number) {
  const bytes = new Uint8Array(randomBytes(size))
  return { bytes, sha256: digestOf(bytes) }
}

/** A stream of chunks of odd sizes. */
export function streamOf(bytes: Uint8Array, chunkBytes = 77_777): ReadableStream<Uint8Array> {
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close()
      controller.enqueue(bytes.subarray(at, at + chunkBytes))
      at += chunkBytes
    },
  })
}

export async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  return new Uint8Array(await new Response(stream).arrayBuffer())
}

/** The error that a promise rejects with. */
export async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  )
}

/** The names in an archive. */
export async function entriesOf({ stream, size }: Archive): Promise<readonly string[]> {
  const content = await bytesOf(stream)
  if (content.length !== size) throw new Error(`${content.length} bytes instead of ${size}`)
  return (await readZip(content)).map(({ name }) => name)
}

/** Writes a sparse file in which no two stretches of a MiB are alike, and tells its SHA-256. */
export async function writeFilm(path: string, size: number): Promise<string> {
  const hash = createHash('sha256')
  const chunk = new Uint8Array(MIB)
  const file = await open(path, 'w')
  try {
    for (let at = 0; at < size; at += MIB) {
      new DataView(chunk.buffer).setFloat64(0, at + 1)
      await file.write(chunk, 0, 8, at)
      hash.update(chunk)
    }
    await file.truncate(size)
  } finally {
    await file.close()
  }
  return hash.digest('hex')
}
