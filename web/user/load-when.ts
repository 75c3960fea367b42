import { type ReadonlySignal, effect, signal, untracked } from '@preact/signals'

export interface LoadWhenOptions<Part> {
  /** Follows the signals that it reads. */
  readonly isWanted: () => boolean
  readonly load: () => Promise<Part>
  /** Called if it cannot be loaded, as after an update of the service. */
  readonly onFailed: (error: unknown) => void
}

/** A part of the page that is loaded when it is first wanted; `undefined` until then. */
export function loadWhen<Part>(options: LoadWhenOptions<Part>): ReadonlySignal<Part | undefined> {
  const { isWanted, load, onFailed } = options
  const part = signal<Part>()

  async function begin(): Promise<void> {
    try {
      part.value = await load()
    } catch (error) {
      onFailed(error)
    }
  }

  effect(() => {
    if (!isWanted()) return
    untracked(() => {
      if (part.value === undefined) void begin()
    })
  })
  return part
}
