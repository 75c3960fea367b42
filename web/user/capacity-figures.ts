import { type ReadonlySignal, signal } from '@preact/signals'
import type { Client } from '../../packages/js/src/client.ts'
import type { Capacity } from '../shared/model.ts'
import { throttle } from '../shared/throttle.ts'
import type { Permissions } from './permissions.ts'

export interface CapacityFigures {
  /** `undefined` for a token that may not read. */
  readonly figures: ReadonlySignal<Capacity | undefined>
  /** Reads the figures now. `figures` are those of the read that began last. */
  read(): Promise<Capacity | undefined>
  /** Reads the figures soon. Calls until the answer share one further read. */
  refresh(): void
}

export function createCapacityFigures(
  client: Pick<Client, 'capacity'>,
  { may }: Pick<Permissions, 'may'>,
): CapacityFigures {
  const figures = signal<Capacity>()
  let reading = 0
  let isRefreshing = false
  let isDue = false

  async function read(): Promise<Capacity | undefined> {
    const mine = (reading += 1)
    const answer = may('read') ? await client.capacity() : undefined
    if (mine === reading) figures.value = answer
    return answer
  }

  const refresh = throttle(() => void refreshNow())

  async function refreshNow(): Promise<void> {
    isDue = isRefreshing
    // During an outage, each read is repeated until its end.
    if (isRefreshing) return
    isRefreshing = true
    // A refused token is handled by the session.
    await read().catch(() => undefined)
    isRefreshing = false
    if (isDue) refresh()
  }

  return {
    figures,
    read,
    refresh,
  }
}
