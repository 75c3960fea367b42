import { type ReadonlySignal, signal } from '@preact/signals'

export interface OpenFolder {
  /** With a slash at its end; empty for all files. */
  readonly folder: ReadonlySignal<string>
  readonly openFolder: (folder: string) => void
}

/** The open folder is in the fragment of the address, so the buttons of the browser lead back, and no log has it. */
export function createOpenFolder(): OpenFolder {
  const folder = signal(addressed())
  addEventListener('popstate', () => {
    folder.value = addressed()
  })
  return {
    folder,
    openFolder(opened) {
      if (opened === folder.value) return
      const page = location.pathname + location.search
      const fragment = opened === '' ? '' : `#${new URLSearchParams({ folder: opened }).toString()}`
      history.pushState(null, '', page + fragment)
      folder.value = opened
    },
  }
}

function addressed(): string {
  const name = new URLSearchParams(location.hash.slice(1)).get('folder') ?? ''
  return name.slice(0, name.lastIndexOf('/') + 1)
}
