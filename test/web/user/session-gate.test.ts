import { expect, it } from 'vitest'
import { createClient } from '../../../packages/js/src/client.ts'
import { createSessionGate } from '../../../web/user/session-gate.ts'

/** A client behind a gate, and what it sends. The first request gets no response, and somebody begins to sign in. */
function open() {
  const gate = createSessionGate()
  const sent: string[] = []
  const ends: (() => void)[] = []
  const send: typeof fetch = (_url, init) => {
    sent.push(init?.method ?? '')
    if (sent.length > 1) return Promise.resolve(new Response(null, { status: 204 }))
    ends.push(gate.hold())
    return Promise.reject(new TypeError('Lost.'))
  }
  const retry = { firstDelay: 0 }
  const { history } = createClient({ url: 'http://service', fetch: gate.behind(send), retry })
  return { gate, ends, sent, history }
}

/** Longer than until a request that is not held back is sent. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 50))

it('a request is not repeated while another user may be signing in', async () => {
  const { gate, ends, sent, history } = open()
  const purged = history.purgeAll()
  await settled()
  // As when one attempt to sign in follows another.
  ends[0]?.()
  const again = gate.hold()
  await settled()
  expect(sent).toHaveLength(1)
  again()
  await purged
  expect(sent).toEqual(['DELETE', 'DELETE'])
})

it('a request that is held back ends with its signal, and is never sent', async () => {
  const { gate, sent, history } = open()
  const end = gate.hold()
  const stop = new AbortController()
  const purged = history.purgeAll({ signal: stop.signal })
  stop.abort(new Error('Stopped.'))
  await expect(purged).rejects.toThrow('Stopped.')
  end()
  await settled()
  expect(sent).toEqual([])
})

it('each of several sign-ins holds back what is sent', () => {
  const gate = createSessionGate()
  const ends = [gate.hold(), gate.hold()]
  ends[0]?.()
  ends[0]?.()
  expect(gate.isClosed()).toBe(true)
  ends[1]?.()
  expect(gate.isClosed()).toBe(false)
})
