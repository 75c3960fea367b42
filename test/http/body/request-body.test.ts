import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import {
  type BodyCheck,
  RequestBody,
  type RequestBodyOptions,
} from '../../../src/http/body/request-body.ts'

const OPTIONS = { signal: new AbortController().signal, idleTimeoutMs: 5_000 }

function requestOf(...chunks: readonly (Buffer | null)[]): RequestBodyOptions['request'] {
  const raw = new IncomingMessage(new Socket())
  for (const chunk of chunks) raw.push(chunk)
  return { raw, reads: undefined }
}

/** Hands on what `look` does not throw at. */
function checkThat(look: (chunk: Buffer) => void): BodyCheck {
  return {
    write: (chunk, content) => {
      look(chunk)
      content.push(chunk)
    },
    end: () => {},
  }
}

const large = Buffer.alloc(64 * 1024, 'x')

test('what a reader that has all it needs leaves unread does not hold up the request', async () => {
  const all = Buffer.alloc(32 * 1024, 'a')
  let isOver = false
  const check: BodyCheck = {
    write: (chunk, content) => {
      if (!isOver) content.push(chunk)
      content.end()
      isOver = true
    },
    end: () => {},
  }
  const body = new RequestBody({
    ...OPTIONS,
    check,
    // More than the stream holds, so that it has had the request paused.
    request: requestOf(all, large, large, null),
  })
  await body.ended
  expect(body.stream.read()).toEqual(all)
  expect(body.stream.read()).toBeNull()
})

test('a reader that reads nothing holds up the request', async () => {
  let seen = 0
  const check = checkThat(({ length }) => (seen += length))
  const request = requestOf(large, large, large, large, null)
  const body = new RequestBody({ ...OPTIONS, check, request })
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(seen).toBe(large.length)
  body.stream.resume()
  await body.ended
  expect(seen).toBe(4 * large.length)
})

test('no byte is seen before it was checked, nor any that was refused', async () => {
  const refused = new Error('refused')
  const check = checkThat((chunk) => {
    if (chunk.equals(large)) throw refused
  })
  const body = new RequestBody({
    ...OPTIONS,
    check,
    request: requestOf(Buffer.from('good'), large, null),
  })
  const seen: unknown[] = []
  body.stream.on('data', (chunk) => seen.push(String(chunk)))
  await expect(body.ended).rejects.toMatchObject({ code: 'format_error', cause: refused })
  expect(seen.join('')).toMatch(/^(?:good)?$/)
  expect(body.stream.destroyed).toBe(true)
})
