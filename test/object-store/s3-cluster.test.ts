import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ObjectStore } from '../../src/core/object-store.ts'
import { createS3Store } from '../../src/object-store/s3.ts'
import { bytesOf, freshKey, never } from '../support/objects.ts'
import { startTcpSwitch } from '../support/tcp-switch.ts'

const CONTENT = 'hello'

/** Has every object. */
const sound: RequestListener = (request, response) => {
  response.setHeader('content-length', CONTENT.length)
  response.end(request.method === 'HEAD' ? undefined : CONTENT)
}

/** Has come back and not found the others yet, as MinIO then answers: it denies every object, and confirms its removal. */
const blind: RequestListener = ({ method, url }, response) => {
  if (url?.includes('uploads') === true) return void response.end('<ListMultipartUploadsResult/>')
  response.writeHead(method === 'DELETE' ? 204 : 404)
  response.end(method === 'GET' ? '<Error><Code>NoSuchKey</Code></Error>' : undefined)
}

/** Each keeps its connection to the node that it has come to first. */
describe('the S3 store before a balancer that gives every other connection to a node that denies all', () => {
  let opened: AsyncDisposableStack
  let store: ObjectStore

  beforeEach(async () => {
    opened = new AsyncDisposableStack()
    const balancer = await startTcpSwitch([await start(blind), await start(sound)])
    opened.defer(() => balancer.close())
    store = createS3Store({
      bucket: 'bucket',
      region: 'us-east-1',
      endpoint: `http://127.0.0.1:${balancer.port}`,
      forcePathStyle: true,
      credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
    })
    opened.defer(() => store.close())
  })
  afterEach(() => opened.disposeAsync())

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

  it('opens what another node has', async () => {
    const object = await store.open({ key: freshKey(), signal: never() })
    expect(String(await bytesOf(object?.body))).toBe(CONTENT)
  })

  it('states the size of what another node has', async () => {
    expect(await store.head({ key: freshKey(), signal: never() })).toMatchObject({
      size: CONTENT.length,
    })
  })

  it('has not removed what another node still has', async () => {
    const removing = store.remove({ key: freshKey(), signal: never() })
    await expect(removing).rejects.toMatchObject({ code: 'unavailable' })
  })
})
