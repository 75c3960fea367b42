import { type ReadonlySignal, signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import type { FileEntry } from '../../shared/model.ts'
import type { ActionKind } from '../actions/file-action.ts'
import type { Page } from '../user-page.ts'

export interface ViewerProps {
  readonly page: Page
  /** The file that was opened. */
  readonly file: FileEntry
  readonly onAct: (kind: ActionKind, file: FileEntry) => void
  readonly onClose: () => void
}

type View = ComponentType<ViewerProps>

/** Shows files one by one. Its code is loaded when the first is opened. */
export interface Viewer {
  /** `undefined` until it is loaded. */
  readonly View: ReadonlySignal<View | undefined>
  /** The file that was opened; `undefined` while the viewer is closed. */
  readonly file: ReadonlySignal<FileEntry | undefined>
  /** Rejects if the viewer cannot be loaded, as after an update of the service. */
  open(file: FileEntry): Promise<void>
  close(): void
}

export function createViewer(): Viewer {
  const View = signal<View | undefined>(undefined)
  const file = signal<FileEntry | undefined>(undefined)
  let opening = 0
  return {
    View,
    file,
    async open(opened) {
      const mine = (opening += 1)
      const { FileViewer } = await import('./file-viewer.tsx')
      View.value = FileViewer
      // Only the last of several that were opened while it was loaded, and none that was closed.
      if (mine === opening) file.value = opened
    },
    close() {
      opening += 1
      file.value = undefined
    },
  }
}
