import { type FileHandle, open } from 'node:fs/promises'
import type { OpenedObject, OpenObject } from '../core/object-store.ts'
import { type ByteSource, createCountedBody } from './counted-body.ts'

type Opening = Pick<OpenObject, 'signal'> & { readonly range: OpenObject['range'] | undefined }

/** Opens a file, or a range of it, as a body that fails when the file ends early. */
export async function openFileBody(
  path: string,
  { range, signal }: Opening,
): Promise<OpenedObject> {
  const handle = await open(path, 'r')
  try {
    const { size } = await handle.stat()
    const first = range?.first ?? 0
    const end = range === undefined ? size : range.last + 1
    const body = createCountedBody(sourceOf(handle, { first, end }), {
      length: end - first,
      signal,
    })
    return { body, size }
  } catch (error) {
    await handle.close()
    throw error
  }
}

const CHUNK_BYTES = 64 * 1024

function sourceOf(handle: FileHandle, { first, end }: { first: number; end: number }): ByteSource {
  let position = first
  return {
    next: async () => {
      const length = Math.min(CHUNK_BYTES, end - position)
      if (length === 0) return undefined
      // The reader keeps the bytes, so each chunk needs memory of its own.
      const buffer = Buffer.allocUnsafe(length)
      const { bytesRead } = await handle.read(buffer, 0, length, position)
      position += bytesRead
      return bytesRead === 0 ? undefined : buffer.subarray(0, bytesRead)
    },
    close: () => handle.close(),
  }
}
