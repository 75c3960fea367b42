import { type IncomingHttpHeaders, request as httpRequest } from 'node:http'
import type { TestUser } from '../../support/service/test-service.ts'
import { pathOf } from '../fixture.ts'
import { DRAFT, PARTIAL_TYPE } from './draft-requests.ts'

export interface Sent {
  /** The methods of all requests, in order. */
  readonly requests: readonly string[]
}

interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
}

/**
 * A client as the draft describes it: one PUT, whose content waits for the 104 ("Optimistic Upload Creation"), and
 * after a lost connection the rest to the URL that the 104 named.
 */
export async function sendResumably(file: {
  readonly url: string
  readonly user: TestUser
  readonly name: string
  readonly content: Uint8Array
}): Promise<Sent> {
  const { url, user, name, content } = file
  const requests: string[] = []
  let location: string | undefined

  function send(method: string, headers: object, body: Uint8Array): Promise<Reply | undefined> {
    requests.push(method)
    const target = new URL(location ?? pathOf(name), url)
    return new Promise((resolve) => {
      const length = method === 'HEAD' ? {} : { 'Content-Length': body.length }
      const all = { Cookie: user.cookie, ...DRAFT, ...length, ...headers }
      const request = httpRequest(target, { method, headers: all, agent: false })
      request.on('information', ({ statusCode, headers }) => {
        if (statusCode !== 104 || headers['location'] === undefined) return
        location = headers['location']
        request.end(body)
      })
      request.once('error', () => resolve(undefined))
      request.once('response', (response) => {
        const { statusCode: status = 0, headers } = response
        response
          .resume()
          .once('close', () => resolve(response.complete ? { status, headers } : undefined))
      })
      if (method === 'PUT') request.flushHeaders()
      else request.end(body)
    })
  }

  const isDone = (reply: Reply | undefined) => reply?.headers['upload-complete'] === '?1'
  let reply: Reply | undefined
  for (let attempt = 0; attempt < 200; attempt += 1) {
    if (location === undefined) reply = await send('PUT', { 'Upload-Complete': '?1' }, content)
    else {
      const told = await send('HEAD', {}, new Uint8Array())
      if (told === undefined || told.status !== 204) continue
      const offset = Number(told.headers['upload-offset'])
      const where = { 'Upload-Offset': offset, 'Upload-Complete': '?1', ...PARTIAL_TYPE }
      reply = await send('PATCH', where, content.subarray(offset))
    }
    if (isDone(reply) && reply?.status === 200) return { requests }
  }
  throw new Error(`${name}: not uploaded after ${requests.join(' ')}: ${reply?.status}`)
}
