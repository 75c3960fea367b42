import { once } from 'node:events'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { Connections } from '../../../src/http/server/connections.ts'
import { createBareListener } from './bare-listener.ts'

it('one connection too many closes the oldest of the client address that has most', async () => {
  const app = await createBareListener({ connections: new Connections({ max: 4 }) })
  app.get('/', async () => 'here')
  await app.listen({ host: '127.0.0.1', port: 0 })
  onTestFinished(() => {
    app.server.closeAllConnections()
    return app.close()
  })
  const { port } = app.server.address() as AddressInfo

  const open = async (localAddress: string): Promise<Socket> => {
    const client = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => {})
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await once(client, 'data')
    return client
  }
  const other = await open('127.0.0.2')
  const crowd = [await open('127.0.0.1'), await open('127.0.0.1'), await open('127.0.0.1')]
  const closed = (): number[] => [other, ...crowd].flatMap(({ closed: is }, at) => (is ? [at] : []))
  crowd.push(await open('127.0.0.1'))
  await expect.poll(closed).toEqual([1])
  await open('127.0.0.3')
  await expect.poll(closed).toEqual([1, 2])
})
