import type { Readable } from 'node:stream'
import { expect } from 'vitest'
import { digest, never, read } from '../../support/objects.ts'
import { heldBody, RecordedUpload } from '../../support/recorded-upload.ts'
import type { StoreUnderTest } from './object-store-contract.ts'

export interface AppendStoreUnderTest extends StoreUnderTest {
  /** The part size of the uploads: any, but for servers, which take none below 5 MiB. */
  readonly partSize: number
  /** Whether an upload can be completed of the parts that were confirmed, also after others have replaced them. */
  readonly keepsReplacedParts?: boolean
}

export type Current = () => AppendStoreUnderTest

export function open(current: Current, length: number | undefined): RecordedUpload {
  const { store, partSize } = current()
  return new RecordedUpload({ store, partSize, length })
}

export async function expectFinished(
  subject: AppendStoreUnderTest,
  upload: RecordedUpload,
  content: Buffer,
): Promise<void> {
  const { store } = subject
  const size = content.length
  expect(upload.offset).toBe(size)
  await expect(upload.finish()).resolves.toEqual({ size })
  expect(await read(store, upload.key)).toEqual({ size, sha256: digest(content) })
  expect(await subject.residue(upload.key)).toEqual([])
  await removeTails(subject, upload)
}

/** As the sweep does. */
export async function removeTails(
  { store }: StoreUnderTest,
  { tailKeys }: RecordedUpload,
): Promise<void> {
  for (const key of tailKeys) await store.remove({ key, signal: never() })
}

/** Yields all of the content, of which all is received, and then fails. */
export function broken(content: Buffer, failure = new Error('broken off')): Readable {
  const { body, give } = heldBody()
  give(content, failure)
  return body
}
