import { type ReadonlySignal, signal } from '@preact/signals'
import type { Client } from '../../client/src/client.ts'
import type { Capacity } from '../shared/model.ts'
import { throttle } from '../shared/throttle.ts'
import type { Permissions } from './permissions.ts'

export interface CapacityFigures {
  /** `undefined` for a token that may not read. */
  readonly figures: ReadonlySignal<Capacity | undefined>
  /** Reads the figures now. `figures` are those of the read that began last. */
  read(): Promise<Capacity | undefined>
  /** Reads the figures soon; concurrent calls share one read. */
  refresh(): void
}

export function createCapacityFigures(
  client: Pick<Client, 'capacity'>,
  { may }: Pick<Permissions, 'may'>,
): CapacityFigures {
  const figures = signal<Capacity>()
  let reading = 0

  async function read(): Promise<Capacity | undefined> {
    const mine = (reading += 1)
    const answer = may('read') ? await client.capacity() : undefined
    if (mine === reading) figures.value = answer
    return answer
  }

  return {
    figures,
    read,
    refresh: throttle(() => {
      // A refused token is handled by the session.
      read().catch(() => undefined)
    }),
  }
}
