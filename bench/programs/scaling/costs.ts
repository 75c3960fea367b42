import type { Operation, Step } from './simulate.ts'

export type Kind = 'upload' | 'download'

/** What an operation takes on PostgreSQL and MinIO, in ms. */
export interface Costs {
  readonly service: number
  readonly database: number
  readonly object_store: number
  /** Of the load generator, which shares the machine when costs are measured. */
  readonly generator: number
  /** What else the operation of a client that is alone takes: waits for disks, and work that many clients share. */
  readonly wait: number
}

/**
 * In which order an operation takes what it costs. An upload waits for the commit that begins it, for the store and for
 * the commit that ends it.
 */
export function operationOf(kind: Kind, costs: Costs, weight = 1): Operation {
  const service = (share: number): Step => ({ at: 'service', ms: costs.service * share })
  const database = (share: number): Step => ({ at: 'database', ms: costs.database * share })
  const store: Step = { at: 'object_store', ms: costs.object_store }
  const generator: Step = { at: 'generator', ms: costs.generator }
  const wait: Step = { ms: costs.wait / (kind === 'upload' ? 3 : 1) }
  const steps = {
    upload: [
      service(0.4),
      database(0.5),
      wait,
      service(0.2),
      store,
      wait,
      service(0.2),
      database(0.5),
      wait,
      service(0.2),
    ],
    download: [service(0.4), database(1), service(0.2), store, wait, service(0.4)],
  }
  return { steps: [generator, ...steps[kind]], weight }
}
