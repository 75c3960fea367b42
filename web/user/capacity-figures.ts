import { type ReadonlySignal, signal } from '@preact/signals'
import type { Api } from '../shared/api.ts'
import type { Capacity } from '../shared/model.ts'
import { throttle } from '../shared/throttle.ts'

export interface CapacityFigures {
  readonly figures: ReadonlySignal<Capacity | undefined>
  /** Reads the figures now. */
  read(): Promise<Capacity>
  /** Reads the figures soon; concurrent calls share one read. */
  refresh(): void
}

export function createCapacityFigures(api: Api): CapacityFigures {
  const figures = signal<Capacity>()

  async function read(): Promise<Capacity> {
    const answer = await api.read<Capacity>('users/me/capacity')
    figures.value = answer
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
