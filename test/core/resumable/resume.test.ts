import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { expect, it } from 'vitest'
import { AppError } from '../../../src/core/errors.ts'
import { faultyStore } from '../../support/faults/faults.ts'
import { incomingFile } from '../../support/http/incoming-file.ts'
import { never } from '../../support/objects.ts'
import { appendIn, createIn, openS3Uploads } from './s3-uploads.ts'

it('a HEAD that is fenced while it seals an upload does not report the length (I12)', async () => {
  await using opened = await openS3Uploads()
  const { caller, core, objects } = opened
  const { ledger } = core
  const { version } = await createIn(opened.open(), caller, undefined)
  const named = { subject: caller, version, signal: never(), shutdown: never() }
  await appendIn(opened.open(), caller, { version, content: 'hello' })
  // An append has declared the length and then died.
  await ledger.prepareAppend({ ...caller, version, bytes: 5, length: 5 })

  const append: typeof objects.append = async (request) => {
    const { epoch = 0 } = (await ledger.findResumable({ ...caller, version })) ?? {}
    await ledger.fence({ userId: caller.userId, version, epoch })
    return await objects.append(request)
  }
  const fenced = opened.open(faultyStore(objects, { append }))
  await expect(fenced.resume(named)).rejects.toMatchObject({ code: 'upload_busy' })
  expect(await ledger.findVersion({ userId: caller.userId, version })).toBeUndefined()

  expect(await opened.open().resume(named)).toMatchObject({ state: 'finished', offset: 5 })
  expect(await ledger.findVersion({ userId: caller.userId, version })).toMatchObject({ size: 5 })
})

it.each([
  ['in one append', ['hello']],
  ['in several', ['hel', 'l', 'o']],
  ['in a last one without bytes', ['hello', '']],
])(
  'a file has the CRC-32 of its content, sent %s, here or to several instances',
  async (_how, sent) => {
    await using opened = await openS3Uploads()
    const { caller, core } = opened
    const here = opened.open()
    for (const next of [() => here, () => opened.open()]) {
      const { version } = await createIn(here, caller, sent.includes('') ? undefined : 5)
      let offset = 0
      for (const content of sent) {
        const length = sent.includes('') && content === '' ? 5 : undefined
        await appendIn(next(), caller, { version, offset, content, length })
        offset += content.length
      }
      const file = await core.ledger.findVersion({ ...caller, version })
      expect(file).toMatchObject({ size: 5, crc32: crc32('hello') })
    }
  },
)

it('a repeated last append gets the digest, until the file is replaced', async () => {
  await using opened = await openS3Uploads()
  const { caller } = opened
  const { version } = await createIn(opened.open(), caller, 5)
  await appendIn(opened.open(), caller, { version, content: 'hel' })
  // This instance has not hashed the first bytes.
  const last = await appendIn(opened.open(), caller, { version, offset: 3, content: 'lo' })
  const repeat = () => appendIn(opened.open(), caller, { version, offset: 5, content: '' })
  const sha256 = createHash('sha256').update('hello').digest('hex')
  for (const { committed } of [last, await repeat()]) expect(committed).toMatchObject({ sha256 })
  const other = await createIn(opened.open(), caller, 5)
  await appendIn(opened.open(), caller, { version: other.version, content: 'other' })
  await expect(repeat()).rejects.toMatchObject({ code: 'upload_gone' })
})

it('a body that stalls before its first byte, after the last append, is a temporary failure', async () => {
  await using opened = await openS3Uploads()
  const { caller } = opened
  const uploads = opened.open()
  const { version } = await createIn(uploads, caller, 5)
  await appendIn(uploads, caller, { version, content: 'hello' })
  // tus clients end an upload for good on the 408 of `request_timeout`.
  const stalled = new AppError('request_timeout', 'The body stopped arriving.')
  const appending = uploads.append({
    subject: caller,
    version,
    offset: 5,
    bodySize: undefined,
    open: () => ({
      ...incomingFile(''),
      end: () => Promise.reject(stalled),
      [Symbol.dispose]: () => undefined,
    }),
    signal: never(),
    shutdown: never(),
  })
  await expect(appending).rejects.toMatchObject({ code: 'unavailable', cause: stalled })
})
