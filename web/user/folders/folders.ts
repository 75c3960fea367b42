import { remember, remembered } from '../../shared/remembered.ts'
import type { FileList } from '../files/file-list.ts'
import { folderOf } from './folder.ts'

/** The way through the folders of a list, which the buttons of the browser follow back and forth. */
export interface Folders {
  readonly open: (folder: string) => void
  /** Shows names as folders, or whole; the browser remembers it. */
  readonly show: (isShown: boolean) => void
  /** Chooses, without reading it, what the address says and the browser remembers. Then follows the address. */
  restore(): void
  /** Closes the folder without reading the list, and takes it from the address. */
  leave(): void
}

const KEY = 'cloud-repository-folders'

export function createFolders(list: Pick<FileList, 'folder' | 'hasFolders' | 'reload'>): Folders {
  function show(folder: string): void {
    list.folder.value = folder
    void list.reload()
  }

  function open(folder: string): void {
    history.pushState(null, '', addressOf(folder))
    show(folder)
  }

  return {
    open,

    show(isShown) {
      remember(KEY, isShown ? 'shown' : 'whole')
      list.hasFolders.value = isShown
      open('')
    },

    restore() {
      list.hasFolders.value = remembered(KEY) !== 'whole'
      list.folder.value = addressedFolder()
      addEventListener('popstate', () => show(addressedFolder()))
    },

    leave() {
      history.replaceState(null, '', addressOf(''))
      list.folder.value = ''
    },
  }
}

/** The fragment, which browsers do not send. */
function addressOf(folder: string): string {
  const page = location.pathname + location.search
  return folder === '' ? page : `${page}#${new URLSearchParams({ folder }).toString()}`
}

function addressedFolder(): string {
  return folderOf(new URLSearchParams(location.hash.slice(1)).get('folder') ?? '')
}
