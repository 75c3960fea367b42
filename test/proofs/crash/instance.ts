// One instance of the service as a process of its own: what `main.ts serve` runs, with the shorter times that are given
// as JSON. It has loaded everything when its parent sends a message, and starts then.
import { once } from 'node:events'
import { flushCompileCache } from 'node:module'
import { pino } from 'pino'
import { readConfig } from '../../../src/config/config.ts'
import { serve } from '../../../src/serve.ts'
import { openService } from '../../../src/compose/compose.ts'
import { type Moment, Moments } from './resumable/moments.ts'

export interface InstanceTimes {
  readonly leaseMs: number
  readonly garbageDelayMs: number
  readonly retentionMs: number
  readonly sweepIntervalMs: number
}

// Nobody is left to end it.
process.once('disconnect', () => process.exit(1))

const { sweepIntervalMs, ...times } = JSON.parse(process.argv[2] ?? '') as InstanceTimes
const config = readConfig(process.env)
// For its successors: it will not come to do that at its end.
flushCompileCache()
await once(process, 'message')
const moments = new Moments((completion) => process.send?.(completion))
process.on('message', (order: 'exhaust' | { readonly dieAt: Moment }) => {
  if (order === 'exhaust') exhaustHeap()
  else moments.await(order.dieAt)
})
const service = await openService(config, {
  ...times,
  aroundPorts: (ports) => moments.around(ports),
})
const server = await serve({
  config,
  service,
  logger: pino({ level: config.logLevel }, pino.destination(2)),
  intervals: { sweepIntervalMs },
})
process.send?.({ url: server.url })
await once(process, 'SIGTERM')
await server.stop()
await service.close()
process.exit()

/** Ends as a process does whose heap is full: V8 aborts it, in the middle of whatever it was at. */
function exhaustHeap(): never {
  const hoard: unknown[] = []
  for (;;) hoard.push(Array.from({ length: 100_000 }, (_, at) => ({ at })))
}
