import { expect, it, onTestFinished } from 'vitest'
import { createBareListener } from './bare-listener.ts'

it('keeps the first 32 parameters of a query, decoded', async () => {
  const app = await createBareListener()
  onTestFinished(() => app.close())
  app.get('/', ({ query }) => query)
  const many = Array.from({ length: 5_000 }, (_, at) => `p${at}`).join('&')
  const { length } = Object.keys((await app.inject(`/?${many}`)).json())
  expect(length).toBe(32)
  const reply = await app.inject('/?a=1&b=x%20y+z&b=%C3%A4&c&d=%zz&%ff=e')
  expect(reply.json()).toEqual({ a: '1', b: ['x y z', 'ä'], c: '', d: '%zz', '%ff': 'e' })
})
