import fastifyMultipart from '@fastify/multipart'
import fastify from 'fastify'
import { afterAll, describe, expect, it } from 'vitest'
import { FormParser } from '../../../src/http/multipart/form-parser.ts'
import { BOUNDARY, fileBody } from '../../support/http/multipart-body.ts'

/** The reason for a parser of our own, in src/http/README.md. If this fails, look at that reason again. */
describe('a form whose content contains a boundary line', async () => {
  const app = fastify()
  await app.register(fastifyMultipart)
  app.post('/', async (request) => {
    const contents: string[] = []
    for await (const part of request.parts()) {
      if (part.type === 'file') contents.push((await part.toBuffer()).toString())
    }
    return contents
  })
  afterAll(() => app.close())

  it.each([
    ['with text', `--${BOUNDARY}text`],
    ['without a head', `--${BOUNDARY}`],
    ['with spaces', `--${BOUNDARY}  `],
    ['that closes the form', `--${BOUNDARY}--`],
  ])('%s is refused; @fastify/multipart takes it as a shorter file', async (_, line) => {
    const payload = fileBody(Buffer.from(`before\r\n${line}\r\nafter`))
    const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
    const reply = await app.inject({ method: 'POST', url: '/', headers, payload })
    expect({ status: reply.statusCode, contents: reply.json<unknown>() }).toEqual({
      status: 200,
      contents: ['before'],
    })
    const parser = new FormParser(BOUNDARY, () => {})
    const parse = (): void => {
      parser.write(payload, { push: () => {}, end: () => {} })
      parser.end()
    }
    expect(parse).toThrow(expect.objectContaining({ code: 'format_error' }))
  })
})
