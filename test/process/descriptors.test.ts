import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { startProgram } from '../support/service/program.ts'

let opened = new AsyncDisposableStack()
beforeEach(() => {
  opened = new AsyncDisposableStack()
})
afterEach(() => opened.disposeAsync())

it('a process with few descriptors serves others beside a client that takes all it can get', async () => {
  const { output } = await startProgram({
    args: ['serve', '--demo', '--print-token'],
    under: ['sh', '-c', 'ulimit -n 256 && exec "$0" "$@"'],
    opened,
  })
  await eventually(async () => expect(output()).toMatch(/curl .*\n.*curl /))
  expect(output()).toContain('the process may open only 256 files')
  const [, url = ''] = /(http:\/\/[\d.:]+)\/users\/me/.exec(output()) ?? []
  const [, cookie = ''] = /--cookie (\S+)/.exec(output()) ?? []
  const crowd = Array.from({ length: 400 }, (): Socket => {
    const socket = connect({ port: Number(new URL(url).port), localAddress: '127.0.0.2' })
    return socket.on('error', () => {})
  })
  opened.defer(async () => {
    for (const socket of crowd) socket.destroy()
  })
  await Promise.all(crowd.map((socket) => once(socket, 'connect')))
  for (let at = 0; at < 20; at++) {
    const init = { method: 'PUT', body: Buffer.alloc(100_000), headers: { cookie } }
    const reply = await fetch(`${url}/users/me/repo/${at}`, init)
    expect(reply.status).toBe(200)
    const read = await fetch(`${url}/users/me/repo/${at}`, { headers: { cookie } })
    expect((await read.arrayBuffer()).byteLength).toBe(100_000)
  }
}, 60_000)
