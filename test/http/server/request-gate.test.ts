import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createListener } from '../../../src/http/server/listener.ts'
import { RequestGate } from '../../../src/http/server/request-gate.ts'

it('a request waits before a shut gate, and is served when it opens', async () => {
  const gate = new RequestGate()
  const app = await createListener({
    logger: undefined,
    trustedProxies: [],
    isStopping: () => false,
    gate,
  })
  const begun: string[] = []
  app.get('/:name', async ({ params }) => {
    begun.push((params as { name: string }).name)
    return 'served'
  })
  const ask = async (name: string) => (await app.inject(`/${name}`)).body

  expect(await ask('before')).toBe('served')
  const shut = gate.shut()
  const held = [ask('first'), ask('second')]
  for (let turn = 0; turn < 20; turn++) await setImmediate()
  expect(begun).toEqual(['before'])
  shut[Symbol.dispose]()
  expect(await Promise.all(held)).toEqual(['served', 'served'])
  expect(await ask('after')).toBe('served')
  expect(begun).toEqual(['before', 'first', 'second', 'after'])
  await app.close()
})
