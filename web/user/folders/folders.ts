import { type Signal, signal } from '@preact/signals'
import type { Files } from '../../../packages/js/src/client.ts'
import type { FileList } from '../files/file-list.ts'
import type { Permissions } from '../permissions.ts'
import { addressedFolder, addressOf } from '../../shared/folder-address.ts'

/** Opens the folders of a list. The history of the browser leads back. */
export interface Folders {
  readonly open: (folder: string) => void
  /** Shows all files of a device, in whatever folders they are. */
  readonly openDevice: (deviceId: string) => void
  /** The folder below the pointer that would take what is being dragged. */
  readonly target: Signal<string | undefined>
  /** Opens the folder of the address without reading it, and follows the address from then on. */
  restore(): void
  /** Stores the marker of the open folder if nothing else is in it, so that it stays. Never rejects. */
  keepOpen(): Promise<void>
  /** Closes the folder without reading the list, and takes it from the address. */
  leave(): void
}

export interface FoldersOptions {
  readonly list: FileList
  readonly files: Pick<Files, 'upload'>
  readonly permissions: Pick<Permissions, 'may' | 'within'>
}

export function createFolders({ list, files, permissions }: FoldersOptions): Folders {
  function show(folder: string, deviceId = ''): void {
    list.folder.value = folder
    list.device.value = deviceId
    void list.reload()
  }

  function open(folder: string, deviceId?: string): void {
    history.pushState(null, '', addressOf(folder))
    show(folder, deviceId)
  }

  return {
    open: (folder) => open(folder),
    openDevice: (deviceId) => open('', deviceId),
    target: signal(undefined),

    restore() {
      list.folder.value = addressedFolder()
      addEventListener('popstate', () => show(addressedFolder()))
    },

    async keepOpen() {
      // What is shown, not what is being opened.
      const { folder: path, search } = list.view.value
      const isEmpty = list.entries.value.length === 0 && search === ''
      if (!isEmpty || list.hasMore.value || path === list.base.value) return
      if (!permissions.may('create') || permissions.within(path) !== path) return
      // It is shown as empty all the same until the user leaves it.
      await files.upload(path, new Blob(), { ifNoneMatch: '*' }).catch(() => undefined)
    },

    leave() {
      history.replaceState(null, '', addressOf(''))
      list.folder.value = ''
      list.device.value = ''
    },
  }
}
