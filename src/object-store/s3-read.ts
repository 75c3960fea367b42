import { Readable } from 'node:stream'
import {
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import type { NamedObject, ObjectHead, OpenedObject, OpenObject } from '../core/object-store.ts'
import { type ByteSource, createCountedBody } from './counted-body.ts'
import { timeoutError } from './deadline.ts'
import type { S3Bucket } from './s3-bucket.ts'
import { orMissing } from './s3-errors.ts'

/** What the store states of an object, or `undefined` when it holds no such object. */
export async function headObject(
  bucket: S3Bucket,
  { key, signal }: NamedObject,
): Promise<ObjectHead | undefined> {
  const call = async (client: S3Client, abortSignal: AbortSignal) => {
    const command = new HeadObjectCommand({ Bucket: bucket.name, Key: key })
    const { ContentLength, Metadata = {} } = await client.send(command, { abortSignal })
    return { size: stated(ContentLength), metadata: Metadata }
  }
  return orMissing(bucket, { signal, call })
}

/** Opens an object. A slow reader may take its time; a store that falls silent may not. */
export async function openObject(
  bucket: S3Bucket,
  { key, range, signal }: OpenObject,
): Promise<OpenedObject | undefined> {
  const { name, deadlines } = bucket
  const command = new GetObjectCommand({
    Bucket: name,
    Key: key,
    ...(range && { Range: `bytes=${range.first}-${range.last}` }),
  })
  const call = async (client: S3Client, abortSignal: AbortSignal) => {
    const output = await client.send(command, { abortSignal })
    return openedFrom(output, { range, signal, idleMs: deadlines.idleMs })
  }
  return orMissing(bucket, { signal, call })
}

interface Reading {
  readonly range: OpenObject['range'] | undefined
  readonly signal: AbortSignal
  readonly idleMs: number
}

const TOTAL = /\/(\d+)$/

function openedFrom(output: GetObjectCommandOutput, reading: Reading): OpenedObject {
  const { range, signal, idleMs } = reading
  const content: unknown = output.Body
  if (!(content instanceof Readable)) throw new TypeError('The answer has no body')
  // An error that comes before the first read is met again by the read.
  content.on('error', () => undefined)
  try {
    const length = stated(output.ContentLength)
    const size = range ? Number(TOTAL.exec(output.ContentRange ?? '')?.[1]) : length
    if (range && !(size > range.last && length === range.last - range.first + 1)) {
      throw new Error('The answer does not hold the range that was asked for')
    }
    return { body: createCountedBody(sourceOf(content, idleMs), { length, signal }), size }
  } catch (error) {
    content.destroy()
    throw error
  }
}

function sourceOf(content: Readable, idleMs: number): ByteSource {
  const chunks: AsyncIterator<unknown> = content[Symbol.asyncIterator]()
  return {
    next: async () => {
      const timer = setTimeout(() => content.destroy(timeoutError(idleMs)), idleMs)
      try {
        const result = await chunks.next()
        if (result.done === true) return undefined
        if (result.value instanceof Uint8Array) return result.value
        throw new TypeError('The answer is no stream of bytes')
      } finally {
        clearTimeout(timer)
      }
    },
    close: async () => {
      content.destroy()
    },
  }
}

function stated(bytes: number | undefined): number {
  if (bytes === undefined) throw new Error('The answer states no length')
  return bytes
}
