import { type Files, isProblem } from '../../packages/js/src/client.ts'
import { failureOf } from '../shared/error-message.ts'
import type { FileEntry } from '../shared/model.ts'
import type { Toasts } from '../shared/toasts.tsx'
import { messages } from '../messages.ts'
import type { CapacityFigures } from './capacity-figures.ts'
import type { FileList } from './files/file-list.ts'
import { countOf } from './folders/files-of.ts'
import { labelOf } from '../shared/folder.ts'
import type { History } from './history/history.ts'
import type { Permissions } from './permissions.ts'

const words = messages.removal

export interface RemovalOptions {
  readonly files: Pick<Files, 'delete'>
  readonly list: FileList
  readonly history: History
  readonly capacity: CapacityFigures
  readonly toasts: Toasts
  readonly permissions: Permissions
  /** Called after a file was deleted. */
  readonly onRemoved: () => void
  /** Restores several files, and says itself which ones it could not restore. */
  readonly restore: (files: readonly FileEntry[]) => Promise<void>
}

export interface Removal {
  /** Deletes the version that the user saw, not a later one, and reports that. */
  remove(file: FileEntry): Promise<void>
  /**
   * Says that files were deleted, and offers to undo that if the service has kept them. Deletions that are reported while
   * this is shown add up to one message, whose one undo restores all.
   */
  report(files: readonly FileEntry[]): Promise<void>
}

const KIND = 'removal'

/** What the message is about. */
interface Shown {
  readonly count: number
  /** The files that the token permits to restore. */
  readonly permitted: readonly FileEntry[]
  /** Whether the service has kept some of them. */
  readonly isRestorable: boolean
  /** Whether it has kept none of all. */
  readonly isForGood: boolean
}

const NONE: Shown = { count: 0, permitted: [], isRestorable: false, isForGood: true }

export function createRemoval(options: RemovalOptions): Removal {
  const { files, list, history, capacity, toasts, permissions, onRemoved, restore } = options
  let shown = NONE

  async function undo(files: readonly FileEntry[]): Promise<void> {
    const [file] = files
    try {
      if (files.length > 1 || file === undefined) await restore(files)
      else await history.restore({ version: file.etag, overwrite: false })
    } catch (error) {
      await toasts.attempt(async () => {
        const { restoreRefusal } = await import('../shared/versions/restore-refusal.ts')
        toasts.show(restoreRefusal(error, file?.name ?? ''))
      })
    }
  }

  /** As the service: restoring is uploading, and sharing if others could read the file. */
  function mayUndo({ visibility }: FileEntry): boolean {
    const { may } = permissions
    return may('history') && may('create') && (visibility === 'private' || may('share'))
  }

  /** Whether the service keeps what was deleted. */
  async function isKept([file]: readonly FileEntry[]): Promise<boolean> {
    return file !== undefined && (await history.canRestore(file.etag))
  }

  async function report(files: readonly FileEntry[]): Promise<void> {
    const mine = files.filter(mayUndo)
    const isRestorable = await isKept(mine)
    const before = toasts.has(KIND) ? shown : NONE
    shown = {
      count: before.count + countOf(files),
      permitted: [...before.permitted, ...mine],
      isRestorable: before.isRestorable || isRestorable,
      isForGood: before.isForGood && mine.length > 0 && !isRestorable,
    }
    const { count, permitted } = shown
    const name = labelOf(files[0]?.name ?? '')
    const action = { label: messages.undo, run: () => void undo(permitted) }
    toasts.replace({
      kind: KIND,
      text: shown.isForGood ? words.forGood(count, name) : words.done(count, name),
      action: shown.isRestorable ? action : undefined,
    })
  }

  async function send({ name, etag }: FileEntry): Promise<boolean> {
    try {
      await files.delete(name, { ifMatch: etag })
      return true
    } catch (error) {
      if (isProblem(error, 'not_found')) return true
      const hasChanged = isProblem(error, 'precondition_failed')
      toasts.show(hasChanged ? words.changed(name) : failureOf(error))
      return false
    }
  }

  return {
    report,

    async remove(file) {
      const { name } = file
      list.hide([name], true)
      const isGone = await send(file)
      if (isGone) list.drop(name)
      list.hide([name], false)
      if (!isGone) return
      onRemoved()
      capacity.refresh()
      await report([file])
    },
  }
}
