import { type ReadonlySignal, signal } from '@preact/signals'

export const ACCESS_BUTTON = 'access'

/** The view of the user's tokens, which is loaded when it is first opened. */
export interface Access<View> {
  /** `undefined` while it is closed. */
  readonly View: ReadonlySignal<View | undefined>
  /** Rejects if the view cannot be loaded, as after an update of the service. */
  open(): Promise<void>
  close(): void
}

/** `load` is called each time the view is opened. */
export function createAccess<View>(load: () => Promise<View>): Access<View> {
  const View = signal<View | undefined>(undefined)
  let closed = 0
  return {
    View,
    async open() {
      const before = closed
      const loaded = await load()
      // The user may have signed out while it was loaded.
      if (before === closed) View.value = loaded
    },
    close() {
      closed += 1
      if (View.value === undefined) return
      View.value = undefined
      requestAnimationFrame(() => document.getElementById(ACCESS_BUTTON)?.focus())
    },
  }
}
