import { type ReadonlySignal, signal } from '@preact/signals'
import type { Api } from '../shared/api.ts'
import type { Capacity } from '../shared/model.ts'

export interface CapacityFigures {
  readonly figures: ReadonlySignal<Capacity | undefined>
  /** Reads them now. */
  read(): Promise<Capacity>
  /** Reads them soon; what is asked for at once is read once. */
  refresh(): void
}

const SOON_MS = 300

export function createCapacityFigures(api: Api): CapacityFigures {
  const figures = signal<Capacity>()
  let isDue = false

  async function read(): Promise<Capacity> {
    const answer = await api.read<Capacity>('users/me/capacity')
    figures.value = answer
    return answer
  }

  return {
    figures,
    read,
    refresh() {
      if (isDue) return
      isDue = true
      setTimeout(() => {
        isDue = false
        // Who is signed out sees that elsewhere.
        read().catch(() => undefined)
      }, SOON_MS)
    },
  }
}
