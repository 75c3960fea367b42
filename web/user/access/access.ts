import { type ReadonlySignal, signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import type { Page } from '../user-page.ts'

export const ACCESS_BUTTON = 'access'

type View = ComponentType<{ readonly page: Page }>

/** The view of the user's tokens, which is loaded when it is first opened. */
export interface Access {
  /** `undefined` while it is closed. */
  readonly View: ReadonlySignal<View | undefined>
  /** Rejects if the view cannot be loaded, as after an update of the service. */
  open(): Promise<void>
  close(): void
}

export function createAccess(): Access {
  const View = signal<View | undefined>(undefined)
  let closed = 0
  return {
    View,
    async open() {
      const before = closed
      const { AccessView } = await import('./access-view.tsx')
      // The user may have signed out while it was loaded.
      if (before === closed) View.value = AccessView
    },
    close() {
      closed += 1
      if (View.value === undefined) return
      View.value = undefined
      requestAnimationFrame(() => document.getElementById(ACCESS_BUTTON)?.focus())
    },
  }
}
