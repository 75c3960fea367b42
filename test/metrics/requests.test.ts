import { expect, it } from 'vitest'
import { createInstruments } from '../../src/metrics/instruments.ts'
import { createRequestMetrics } from '../../src/metrics/requests.ts'

it('takes back nothing when a connection is destroyed with bytes that it had not sent', async () => {
  const instruments = createInstruments({ hasPool: false, hasPack: false })
  const metrics = createRequestMetrics(instruments)
  const socket = { bytesRead: 100, bytesWritten: 5000 }
  const begun = { method: 'GET', route: '/livez', socket: socket as never }
  const end = metrics.meter('public').begin(begun)
  metrics.settle()
  // As Node counts: what lay in the socket's own buffer is gone.
  socket.bytesWritten = 4000
  end({ status: 499, code: null, seconds: 1 })
  metrics.settle()
  const sent = await instruments.registry
    .getSingleMetric('cloud_repository_sent_bytes_total')
    ?.get()
  expect(sent?.values.map(({ value }) => value)).toEqual([5000])
})
