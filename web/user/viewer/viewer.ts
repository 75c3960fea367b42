import { type ReadonlySignal, signal } from '@preact/signals'
import type { FileEntry } from '../../shared/model.ts'

/** Shows files one by one. Its code is loaded when the first is opened. */
export interface Viewer<View> {
  /** `undefined` until it is loaded. */
  readonly View: ReadonlySignal<View | undefined>
  /** The file that was opened; `undefined` while the viewer is closed. */
  readonly file: ReadonlySignal<FileEntry | undefined>
  /** Rejects if the viewer cannot be loaded, as after an update of the service. */
  open(file: FileEntry): Promise<void>
  close(): void
}

/** `load` is called each time a file is opened. */
export function createViewer<View>(load: () => Promise<View>): Viewer<View> {
  const View = signal<View | undefined>(undefined)
  const file = signal<FileEntry | undefined>(undefined)
  let opening = 0
  return {
    View,
    file,
    async open(opened) {
      const mine = (opening += 1)
      View.value = await load()
      // Only the last of several that were opened while it was loaded, and none that was closed.
      if (mine === opening) file.value = opened
    },
    close() {
      opening += 1
      file.value = undefined
    },
  }
}
