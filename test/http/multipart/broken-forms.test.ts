import { afterEach, describe, expect, test } from 'vitest'
import {
  fileBody,
  filePart,
  httpChunk,
  multipartBody,
  uploadHead,
} from '../../support/http/multipart-body.ts'
import { rawRequest, type Piece } from '../../support/http/raw-http.ts'
import { codeOf, receivedOf, startFormApp } from './file-form-app.ts'

// What a whole service shows of forms is in test/http/refusals/broken-uploads-suite.ts: this is about the form alone.
let service: Awaited<ReturnType<typeof startFormApp>> | undefined

afterEach(async () => {
  await service?.close()
  service = undefined
})

async function send(...pieces: readonly Piece[]) {
  service = await startFormApp()
  return rawRequest({ port: service.port, send: pieces })
}

/** Sends a form with its Content-Length, in one piece. */
function post(body: Buffer) {
  return send(uploadHead({ path: '/upload', length: body.length }), body)
}

test('A16: 900 fields of 1 MiB are refused at the first, in little memory', async () => {
  const field = { name: 'x', content: Buffer.alloc(2 ** 20, 'y') }
  const part = multipartBody([field]).subarray(0, -15)
  const before = process.memoryUsage.rss()
  const head = uploadHead({ path: '/upload', length: 900 * part.length })
  expect(codeOf(await send(head, ...Array<Buffer>(900).fill(part)))).toBe('400 format_error')
  expect(process.memoryUsage.rss() - before).toBeLessThan(32 * 2 ** 20)
})

describe('the size that a form announces', () => {
  test.each([0, 1, 3000, 200_000])('D01: of %d bytes is exact', async (size) => {
    const form = fileBody(Buffer.alloc(size, 'x'))
    const min = Math.max(0, form.length - 64 * 1024)
    expect(receivedOf(await post(form))).toMatchObject({ size, announced: size, min })
  })

  test('D01: is exact with fields before the file, too', async () => {
    const body = multipartBody([{ name: 'x', content: 'y'.repeat(500) }, filePart('abc')])
    expect(receivedOf(await post(body))).toMatchObject({ size: 3, announced: 3 })
  })

  test('D01: is two bytes too few if the form leaves out its last line break', async () => {
    const reply = await post(fileBody('abc', { epilogue: '' }))
    expect(receivedOf(reply)).toMatchObject({ size: 3, announced: 1 })
  })

  test('D05: is none in chunks', async () => {
    const chunks = [httpChunk(fileBody('abc')), httpChunk('')]
    const reply = await send(uploadHead({ path: '/upload' }), ...chunks)
    expect(receivedOf(reply)).toMatchObject({ min: 0, announced: null })
  })
})
