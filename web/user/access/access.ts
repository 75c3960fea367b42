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
  return {
    View,
    async open() {
      const { AccessView } = await import('./access-view.tsx')
      View.value = AccessView
    },
    close() {
      if (View.value === undefined) return
      View.value = undefined
      requestAnimationFrame(() => document.getElementById(ACCESS_BUTTON)?.focus())
    },
  }
}
