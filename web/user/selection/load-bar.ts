import { type ReadonlySignal, effect, signal, untracked } from '@preact/signals'
import type { ComponentType } from 'preact'
import type { FileViewProps } from '../files/file-window.ts'
import type { Selection } from './selection.ts'

export type Bar = ComponentType<FileViewProps>

/**
 * What can be done with the selected files, which is loaded when the first one is selected; `undefined` until then. If it
 * cannot be loaded, as after an update of the service, the selection ends.
 */
export function loadBar(
  selection: Selection,
  onFailed: (error: unknown) => void,
): ReadonlySignal<Bar | undefined> {
  const Bar = signal<Bar>()

  async function load(): Promise<void> {
    try {
      const { SelectionBar } = await import('./selection-bar.tsx')
      Bar.value = SelectionBar
    } catch (error) {
      selection.clear()
      onFailed(error)
    }
  }

  effect(() => {
    if (selection.files.value.length === 0) return
    untracked(() => {
      if (Bar.value === undefined) void load()
    })
  })
  return Bar
}
