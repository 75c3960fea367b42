import { type ReadonlySignal, signal } from '@preact/signals'
import { addressedFolder, addressOf } from '../shared/folder-address.ts'

export interface OpenFolder {
  /** With a slash at its end; empty for all files. */
  readonly folder: ReadonlySignal<string>
  readonly openFolder: (folder: string) => void
}

/** The open folder is in the address, so the buttons of the browser lead back. */
export function createOpenFolder(): OpenFolder {
  const folder = signal(addressedFolder())
  addEventListener('popstate', () => {
    folder.value = addressedFolder()
  })
  return {
    folder,
    openFolder(opened) {
      if (opened === folder.value) return
      history.pushState(null, '', addressOf(opened))
      folder.value = opened
    },
  }
}
