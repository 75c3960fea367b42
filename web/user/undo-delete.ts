import { type Files, isProblem } from '../../client/src/client.ts'
import { messageOf } from '../shared/error-message.ts'
import type { FileEntry } from '../shared/model.ts'
import type { Toasts } from '../shared/toasts.tsx'
import { messages } from '../messages.ts'
import type { CapacityFigures } from './capacity-figures.ts'
import type { FileList } from './files/file-list.ts'
import type { History } from './history/history.ts'
import type { Permissions } from './permissions.ts'
import { restoreRefusal } from '../shared/restore-refusal.ts'

const words = messages.removal

export interface RemovalOptions {
  readonly files: Pick<Files, 'delete'>
  readonly list: FileList
  readonly history: History
  readonly capacity: CapacityFigures
  readonly toasts: Toasts
  readonly permissions: Permissions
}

/** Deletes the version that the user saw, not a later one. Offers to undo that if the service has kept it. */
export type Remove = (file: FileEntry) => Promise<void>

export function createRemove(options: RemovalOptions): Remove {
  const { files, list, history, capacity, toasts, permissions } = options

  async function undo({ name, etag: version }: FileEntry): Promise<void> {
    try {
      await history.restore({ version, overwrite: false })
    } catch (error) {
      toasts.show(restoreRefusal(error, name))
    }
  }

  /** As the service: restoring is uploading, and sharing if others could read the file. */
  function mayUndo({ visibility }: FileEntry): boolean {
    const { may } = permissions
    return may('history') && may('create') && (visibility === 'private' || may('share'))
  }

  async function offerUndo(file: FileEntry): Promise<void> {
    if (!mayUndo(file)) toasts.show(words.done(file.name))
    else if (await history.canRestore(file.etag)) {
      const action = { label: messages.undo, run: () => void undo(file) }
      toasts.show(words.done(file.name), action)
    } else toasts.show(words.forGood(file.name))
  }

  async function send({ name, etag }: FileEntry): Promise<boolean> {
    try {
      await files.delete(name, { ifMatch: etag })
      return true
    } catch (error) {
      if (isProblem(error, 'not_found')) return true
      const hasChanged = isProblem(error, 'precondition_failed')
      toasts.show(hasChanged ? words.changed(name) : messages.failed(messageOf(error)))
      return false
    }
  }

  return async (file) => {
    const { name } = file
    list.hide(name, true)
    const isGone = await send(file)
    if (isGone) list.drop(name)
    list.hide(name, false)
    if (!isGone) return
    capacity.refresh()
    await offerUndo(file)
  }
}
