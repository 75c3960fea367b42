// What an S3 server has synced when it confirms an object, seen by its system calls: docs/storage.md says it of each.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import {
  CompleteMultipartUploadCommand,
  type CompletedPart,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { describe, expect, it } from 'vitest'
import { createS3Client } from '../../../src/object-store/s3/sdk-client.ts'
import { eventually } from '../../support/eventually.ts'
import {
  missingStrace,
  readTrace,
  straceCommand,
  type SystemCall,
} from '../../support/faults/strace.ts'
import { freshKey } from '../../support/objects.ts'
import { isSkipped } from '../../support/servers/needs.ts'
import { type S3Program, startS3Program } from '../../support/servers/s3-server.ts'
import { freshBucket } from '../../support/service/test-bucket.ts'
import { temporaryFolder } from '../../support/service/program.ts'
import { eachS3Server } from './each-s3-server.ts'

const skipped = isSkipped(await missingStrace())

const PART_SIZE = 5 * 2 ** 20

/** One that some servers keep beside its metadata, one of one request, and one of three parts. */
const OBJECTS = [
  { parts: [100], requests: 1 },
  { parts: [300_000], requests: 1 },
  { parts: [PART_SIZE, PART_SIZE, 1], requests: 5 },
]

const WRITES = ['write', 'writev', 'pwrite64', 'pwritev', 'pwritev2', 'copy_file_range', 'splice']
const SYNCS = ['fsync', 'fdatasync', 'msync']
const OTHERS = ['openat', 'sendto', 'sendmsg']

describe.each(await eachS3Server())('$title', ({ program, isMissing, syncs }) => {
  it.skipIf(skipped || isMissing)(
    `has ${syncs ? 'synced' : 'not synced'} what it wrote for an object when it confirms it`,
    async () => {
      for (const [at, written] of (await traceObjects(await program())).entries()) {
        expect({ at, wrote: written.length > 0 }).toEqual({ at, wrote: true })
        const unsynced = written.filter(({ isSynced }) => !isSynced).map(({ path }) => path)
        expect({ at, unsynced, syncs: unsynced.length === 0 }).toEqual({ at, unsynced, syncs })
      }
    },
  )
})

interface Written {
  readonly path: string
  /** Whether a sync of it came between the last write and the confirmation. */
  readonly isSynced: boolean
}

/** Puts the objects, one after the other, and tells for each which files were written meanwhile. */
async function traceObjects(program: S3Program): Promise<readonly (readonly Written[])[]> {
  await using opened = new AsyncDisposableStack()
  const trace = join(await temporaryFolder(opened), 'trace')
  const [strace = '', ...options] = straceCommand(trace, [...WRITES, ...SYNCS, ...OTHERS])
  const server = await startS3Program({
    ...program,
    program: strace,
    args: (folder) => [...options, program.program, ...program.args(folder)],
  })
  opened.defer(() => server.stop())
  const settings = freshBucket(server.address)
  const client = createS3Client(settings)
  opened.defer(() => client.destroy())
  const { bucket: Bucket } = settings
  // A server can be up before it answers for buckets.
  await eventually(() => client.send(new CreateBucketCommand({ Bucket })))
  // The first objects may make what the others find.
  for (const { parts } of [...OBJECTS, ...OBJECTS]) await put(client, { Bucket, parts })
  await server.stop()
  const calls = await readTrace(trace)
  return splitByObject(calls, new URL(program.endpoint).host).map(writtenIn)
}

/** By requests whose number is known. */
async function put(
  client: S3Client,
  { Bucket, parts }: { readonly Bucket: string; readonly parts: readonly number[] },
): Promise<void> {
  const named = { Bucket, Key: freshKey('confirmed') }
  const [only = 0, ...more] = parts
  if (more.length === 0) {
    await client.send(new PutObjectCommand({ ...named, Body: randomBytes(only) }))
    return
  }
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(named))
  const Parts: CompletedPart[] = []
  for (const [at, size] of parts.entries()) {
    const part = { ...named, UploadId, PartNumber: at + 1, Body: randomBytes(size) }
    const { ETag } = await client.send(new UploadPartCommand(part))
    Parts.push({ ETag, PartNumber: at + 1 })
  }
  const whole = { ...named, UploadId, MultipartUpload: { Parts } }
  await client.send(new CompleteMultipartUploadCommand(whole))
}

/** The calls from the answer before each of the objects to the one that confirms it, which is the last of them. */
function splitByObject(
  calls: readonly SystemCall[],
  host: string,
): readonly (readonly SystemCall[])[] {
  const answers = calls.filter(
    ({ args }) => args.includes(`<TCP:[${host}->`) && args.includes('"HTTP/1.1 200 '),
  )
  const windows = OBJECTS.toReversed().map(({ requests }) => {
    const answer = answers.splice(-requests).at(-1)
    const before = answers.at(-1)
    if (before === undefined || answer === undefined) throw new Error('An answer is missing')
    return calls.filter(({ began }) => began > before.ended && began <= answer.began)
  })
  return windows.toReversed()
}

function writtenIn(calls: readonly SystemCall[]): readonly Written[] {
  const answer = calls.at(-1)?.began ?? 0
  const written = new Map<string, number>()
  const always = new Set<string>()
  for (const { name, args, ended } of calls) {
    if (WRITES.includes(name)) for (const path of pathsIn(args)) written.set(path, ended)
    if (name === 'openat' && /\bO_D?SYNC\b/.test(args))
      always.add(/"([^"]+)"/.exec(args)?.[1] ?? '')
  }
  const isSynced = ([path, at]: readonly [string, number]): boolean =>
    calls.some(
      ({ name, args, began, ended }) =>
        SYNCS.includes(name) && began > at && ended < answer && pathsIn(args).includes(path),
    )
  return [...written].map(([path, at]) => ({
    path,
    isSynced: always.has(path) || isSynced([path, at]),
  }))
}

/** Of the files of the server that the descriptors among these arguments have open. */
function pathsIn(args: string): readonly string[] {
  return [...args.matchAll(/<(\/[^>]*\/cloud-repository-s3-[^>]*)>/g)].map(([, path = '']) => path)
}
