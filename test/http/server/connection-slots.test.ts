import { once } from 'node:events'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { Connections } from '../../../src/http/server/connections.ts'
import { createBareListener } from './bare-listener.ts'

it('one connection too many closes, of the client address that has most, the oldest without a request', async () => {
  const app = await createBareListener({ connections: new Connections({ max: 4 }) })
  app.get('/', async () => 'here')
  // Says that the request has arrived, and ends only with its connection.
  app.get('/endless', async (_request, reply) => reply.hijack().raw.write('here'))
  await app.listen({ host: '127.0.0.1', port: 0 })
  onTestFinished(() => {
    app.server.closeAllConnections()
    return app.close()
  })
  const { port } = app.server.address() as AddressInfo

  const open = async (localAddress: string, path = '/'): Promise<Socket> => {
    const client = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => {})
    client.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
    await once(client, 'data')
    return client
  }
  const other = await open('127.0.0.2')
  const busy = () => open('127.0.0.1', '/endless')
  const crowd = [await busy(), await open('127.0.0.1'), await busy()]
  const closed = (): number[] => [other, ...crowd].flatMap(({ closed: is }, at) => (is ? [at] : []))
  crowd.push(await busy())
  await expect.poll(closed).toEqual([2])
  // Without an idle one it is the oldest.
  await open('127.0.0.3')
  await expect.poll(closed).toEqual([1, 2])
})
