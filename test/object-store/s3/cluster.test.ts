import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ObjectStore } from '../../../src/core/objects/object-store.ts'
import { createS3Store } from '../../../src/object-store/s3/store.ts'
import { bytesOf, freshKey, never } from '../../support/objects.ts'
import { startTcpProxy } from '../../support/faults/tcp-proxy.ts'

const CONTENT = 'hello'

/** Has every object. */
const sound: RequestListener = (request, response) => {
  response.setHeader('content-length', CONTENT.length)
  response.end(request.method === 'HEAD' ? undefined : CONTENT)
}

/**
 * Has come back and not found the others yet, as MinIO then answers: it denies every object, and confirms its removal.
 */
const blind: RequestListener = ({ method, url = '' }, response) => {
  if (url.includes('uploads')) return void response.end('<ListMultipartUploadsResult/>')
  response.writeHead(method === 'DELETE' ? 204 : 404)
  response.end(method === 'GET' ? '<Error><Code>NoSuchKey</Code></Error>' : undefined)
}

/** Of the two, one sees too few others to write; both have what the other one took. */
function readOnlyAndWritable(): RequestListener[] {
  let isWritten = false
  const node =
    (isWritable: boolean): RequestListener =>
    (request, response) => {
      if (request.method !== 'PUT') return (isWritten ? sound : blind)(request, response)
      request.resume()
      isWritten ||= isWritable
      response.setHeader('etag', '"tag"')
      response.writeHead(isWritable ? 200 : 503)
      response.end(isWritable ? undefined : '<Error><Code>SlowDownWrite</Code></Error>')
    }
  return [node(false), node(true)]
}

describe('the S3 store on a cluster with a node that has not found the others', () => {
  let opened: AsyncDisposableStack

  beforeEach(() => void (opened = new AsyncDisposableStack()))
  afterEach(() => opened.disposeAsync())

  /** Behind a balancer that gives each new connection to the next; a kept one stays where it has come to first. */
  async function openStore(...nodes: readonly RequestListener[]): Promise<ObjectStore> {
    const balancer = await startTcpProxy({ ports: await Promise.all(nodes.map(start)) })
    opened.defer(() => balancer.stop())
    const store = createS3Store({
      bucket: 'bucket',
      region: 'us-east-1',
      endpoint: balancer.url,
      forcePathStyle: true,
      credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
    })
    opened.defer(() => store.close())
    return store
  }

  async function start(listener: RequestListener): Promise<number> {
    const server = createServer(listener).listen(0, '127.0.0.1')
    await once(server, 'listening')
    opened.defer(async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    })
    return (server.address() as AddressInfo).port
  }

  it('writes through another node when the first finds too few others', async () => {
    const store = await openStore(...readOnlyAndWritable())
    const body = Readable.from([Buffer.from(CONTENT)])
    const put = store.put({ key: freshKey(), body, signal: never() })
    expect(await put).toEqual({ size: CONTENT.length })
  })

  it.each([
    ['another node has', [blind, sound]],
    ['a node denies until it has found the others', [blind, blind, sound]],
  ])('opens and describes what %s', async (_what, nodes) => {
    const [opening, describing] = [await openStore(...nodes), await openStore(...nodes)]
    const object = await opening.open({ key: freshKey(), signal: never() })
    expect(String(await bytesOf(object?.body))).toBe(CONTENT)
    const head = await describing.head({ key: freshKey(), signal: never() })
    expect(head).toMatchObject({ size: CONTENT.length })
  })

  it('has not removed what another node still has', async () => {
    const store = await openStore(blind, sound)
    const removing = store.remove({ key: freshKey(), signal: never() })
    await expect(removing).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('has not removed what another node still has, though a second one denies it too', async () => {
    const store = await openStore(blind, blind, sound)
    const removing = store.remove({ key: freshKey(), signal: never() })
    await expect(removing).rejects.toMatchObject({ code: 'unavailable' })
  })
})
