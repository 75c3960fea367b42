import { randomBytes } from 'node:crypto'
import { cp, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { createCopies } from '../../src/compose/copies.ts'
import { createS3Client } from '../../src/object-store/s3/sdk-client.ts'
import { createS3Store } from '../../src/object-store/s3/store.ts'
import { openClone } from '../documents/clone.ts'
import { blocksOf, readPages } from '../documents/pages.ts'
import { temporaryFolder } from '../support/service/program.ts'
import { type Ran, runCommand } from '../support/service/running-service.ts'
import { s3Settings } from '../support/service/s3-settings.ts'
import { freshBucket, removeBucket } from '../support/service/test-bucket.ts'

const minio = inject('minio')

// Every command is a process, and a busy machine takes seconds to start one.
describe.skipIf(minio === undefined)('copies of the database in S3', { timeout: 120_000 }, () => {
  let opened: AsyncDisposableStack
  let bucket: ReturnType<typeof freshBucket>
  let client: ReturnType<typeof createS3Client>
  let folder: string

  beforeEach(async () => {
    opened = new AsyncDisposableStack()
    bucket = freshBucket(minio)
    const store = createS3Store(bucket)
    opened.defer(() => store.close())
    await store.prepare(AbortSignal.timeout(10_000))
    client = createS3Client(bucket)
    opened.defer(() => client.destroy())
    opened.defer(() => removeBucket(bucket))
    opened.defer(async () => {
      for (const Key of await keys()) {
        await client.send(new DeleteObjectCommand({ Bucket: bucket.bucket, Key }))
      }
    })
    folder = await temporaryFolder(opened)
  })
  afterEach(() => opened.disposeAsync())

  /** Files lie in the folder; the settings of S3 are there for the copies alone. */
  function environmentOf(name: string): Readonly<Record<string, string>> {
    return { ...s3Settings(bucket), OBJECT_STORE: '', DATA_DIR: join(folder, name) }
  }

  function run(args: string, name: string): Promise<Ran> {
    return runCommand(args, { environment: environmentOf(name), opened })
  }

  function address(key: string): string {
    return `s3://${bucket.bucket}/${key}`
  }

  async function keys(): Promise<readonly string[]> {
    const listed = await client.send(new ListObjectsV2Command({ Bucket: bucket.bucket }))
    return (listed.Contents ?? []).map(({ Key = '' }) => Key)
  }

  async function uploadsOf(key: string): Promise<number> {
    const command = new ListMultipartUploadsCommand({ Bucket: bucket.bucket, Prefix: key })
    return ((await client.send(command)).Uploads ?? []).length
  }

  /** Sends a file of 40 MiB as if it were the copy of a database. */
  function sendLarge(signal: AbortSignal, onProgress: () => void) {
    return createCopies(environmentOf('live')).send({
      target: address('large.sqlite'),
      copyTo: (file) => writeFile(file, randomBytes(40 * 2 ** 20)),
      onProgress,
      signal,
    })
  }

  it('go there and back, and leave nothing beside', async () => {
    await run('users create ada', 'live')
    const before = await readdir(join(folder, 'live'))
    const sent = await run(`backup ${address('copies/a b.sqlite').replace(' ', '-')}`, 'live')
    expect(sent).toMatchObject({ code: 0 })
    expect(sent.output).toMatch(/^bytes +[\d.]+ [KM]iB$/m)
    expect(await readdir(join(folder, 'live'))).toEqual(before)
    expect(await keys()).toEqual(['copies/a-b.sqlite'])
    const back = await run(`restore ${address('copies/a-b.sqlite')} --json`, 'back')
    const [result, next] = back.output.trim().split('\n').sort().toReversed()
    expect(JSON.parse(result ?? '')).toMatchObject({
      database: join(folder, 'back', 'database.sqlite'),
    })
    expect(next).toBe('Run "cloud-repo uploads release --finished" before you start the service.')
    expect(await readdir(join(folder, 'back'))).toEqual(['database.sqlite'])
    const objects = (name: string): string => join(folder, name, 'objects')
    await cp(objects('live'), objects('back'), { recursive: true })
    expect((await run('users show ada', 'back')).code).toBe(0)
  })

  it('go as the documents say', async () => {
    const found = (await readPages()).flatMap(blocksOf)
    const block = found.find(({ name }) => name.startsWith('cloud-repo backup s3:'))
    const clone = await openClone(opened)
    const environment = { ...environmentOf('live'), DATA_DIR: './data' }
    await clone.run('npm run -s cli -- users create ada', environment)
    const lines = (block?.text ?? '').replaceAll('s3://backups/', address('copies/'))
    await clone.run(`cloud-repo() { npm run -s cli -- "$@"; }\n${lines}`, environment)
    await clone.run('cp -a data/objects restored/', environment)
    const restored = { ...environment, DATA_DIR: './restored' }
    expect(await clone.run('npm run -s cli -- users show ada', restored)).toContain('ada')
    expect(await keys()).toEqual(['copies/monday.sqlite'])
  })

  it('a copy of many parts arrives whole', async () => {
    const seen: number[] = []
    const { signal } = new AbortController()
    expect(await sendLarge(signal, () => seen.push(1))).toEqual({ bytes: 40 * 2 ** 20 })
    expect(seen.length).toBeGreaterThan(1)
    const got = await client.send(
      new GetObjectCommand({ Bucket: bucket.bucket, Key: 'large.sqlite' }),
    )
    expect((await buffer(got.Body as AsyncIterable<Uint8Array>)).byteLength).toBe(40 * 2 ** 20)
  })

  it('never replace an object', async () => {
    await client.send(
      new PutObjectCommand({ Bucket: bucket.bucket, Key: 'kept', Body: 'precious' }),
    )
    const { code, output } = await run(`backup ${address('kept')}`, 'live')
    expect({ code, output }).toEqual({
      code: 1,
      output: `file_exists: ${address('kept')} already exists.\n`,
    })
    const kept = await client.send(new GetObjectCommand({ Bucket: bucket.bucket, Key: 'kept' }))
    expect(await kept.Body?.transformToString()).toBe('precious')
  })

  it.each([1, 40])(
    'copies of %i MiB to one key at once end with one of them, whole',
    async (mebibytes) => {
      const contents = [randomBytes(mebibytes * 2 ** 20), randomBytes(mebibytes * 2 ** 20)]
      const { signal } = new AbortController()
      const ends = await Promise.allSettled(
        contents.map((content) =>
          createCopies(environmentOf('live')).send({
            target: address('one.sqlite'),
            copyTo: (file) => writeFile(file, content),
            onProgress: () => undefined,
            signal,
          }),
        ),
      )
      const winners = ends.flatMap(({ status }, at) => (status === 'fulfilled' ? [at] : []))
      expect(winners).toHaveLength(1)
      const refused = ends.find(({ status }) => status === 'rejected')
      expect(refused).toMatchObject({ reason: { code: 'file_exists' } })
      const got = await client.send(
        new GetObjectCommand({ Bucket: bucket.bucket, Key: 'one.sqlite' }),
      )
      const stored = await buffer(got.Body as AsyncIterable<Uint8Array>)
      expect(stored.equals(contents[winners[0] ?? -1] ?? Buffer.alloc(0))).toBe(true)
      expect(await uploadsOf('one.sqlite')).toBe(0)
    },
  )

  it('an interrupted copy leaves nothing, neither there nor here', async () => {
    const caller = new AbortController()
    const reason = new Error('Interrupted.')
    const sending = sendLarge(caller.signal, () => caller.abort(reason))
    await expect(sending).rejects.toBe(reason)
    expect(await keys()).toEqual([])
    expect(await uploadsOf('large.sqlite')).toBe(0)
    expect(await readdir(join(folder, 'live'))).toEqual([])
  })

  it('never replace a database', async () => {
    await run('users create ada', 'live')
    expect((await run(`backup ${address('copy')}`, 'live')).code).toBe(0)
    const file = join(folder, 'live', 'database.sqlite')
    const before = await readFile(file)
    const { code, output } = await run(`restore ${address('copy')}`, 'live')
    expect(code).toBe(1)
    expect(output).toBe(
      `${file} already exists. A restore never replaces a database. Move the file away first.\n`,
    )
    expect((await readFile(file)).equals(before)).toBe(true)
  })

  it('are refused when they are truncated, and leave nothing', async () => {
    const copies = createCopies(environmentOf('back'))
    const { signal } = new AbortController()
    const moving = { onProgress: () => undefined, signal }
    await run('users create ada', 'live')
    const copyTo = async (file: string): Promise<void> => {
      await cp(join(folder, 'live', 'database.sqlite'), file)
      await truncate(file, (await stat(file)).size - 4096)
    }
    await copies.send({ target: address('cut'), copyTo, ...moving })
    const restoring = copies.restore({ source: address('cut'), ...moving })
    await expect(restoring).rejects.toThrow('The copy is damaged')
    expect(await readdir(join(folder, 'back'))).toEqual([])
  })

  it('are refused when a value has changed on the way', async () => {
    const copies = createCopies(environmentOf('back'))
    const moving = { onProgress: () => undefined, signal: new AbortController().signal }
    await run('users create ada', 'live')
    await run('tokens issue ada --label kitchen', 'live')
    await run(`backup ${address('copy')}`, 'live')
    const object = { Bucket: bucket.bucket, Key: 'copy' }
    const { Body, Metadata } = await client.send(new GetObjectCommand(object))
    const content = await buffer(Body as AsyncIterable<Uint8Array>)
    content.write('chicken', content.indexOf('kitchen'))
    await client.send(new PutObjectCommand({ ...object, Body: content, Metadata }))
    const restoring = copies.restore({ source: address('copy'), ...moving })
    await expect(restoring).rejects.toThrow('The copy is damaged')
    expect(await readdir(join(folder, 'back'))).toEqual([])
  })

  it('say what is wrong with an address, a bucket or a key', async () => {
    const wrong: readonly [string, RegExp][] = [
      ['restore database.sqlite', /database\.sqlite has no complete copy\.$/m],
      [`restore s3://${bucket.bucket}`, /^invalid_parameter: /],
      [`backup s3://${bucket.bucket}/`, /^invalid_parameter: /],
      [`restore ${address('nothing')}`, /^not_found: s3:\S+ does not exist\.$/m],
      [
        'backup s3://no-such-bucket-here/copy',
        /^not_found: The bucket no-such-bucket-here does not exist\./,
      ],
    ]
    for (const [index, [args, message]] of wrong.entries()) {
      const { code, output } = await run(args, `back-${index}`)
      expect({ args, code }).toEqual({ args, code: 1 })
      expect(output).toMatch(message)
    }
    expect(await uploadsOf('copy')).toBe(0)
  })
})
