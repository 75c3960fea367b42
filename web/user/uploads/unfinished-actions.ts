import { failureOf } from '../../shared/error-message.ts'
import type { FileEntry, UploadEntry } from '../../shared/model.ts'
import type { Toasts } from '../../shared/toasts.tsx'
import type { CapacityFigures } from '../capacity-figures.ts'
import type { UnfinishedUploads } from './unfinished-uploads.ts'
import { refusalOf } from './upload-failure.ts'

export interface UnfinishedActionsOptions {
  readonly unfinished: UnfinishedUploads
  readonly capacity: CapacityFigures
  readonly toasts: Toasts
  readonly isSignedIn: () => boolean
  /** Called when a file is stored, with `undefined` if it has been replaced or deleted since. */
  readonly onUploaded: (file: FileEntry | undefined) => void
}

/** What the user does with unfinished uploads. Never rejects: failures are shown as messages. */
export interface UnfinishedActions {
  readonly cancelUpload: (id: string) => Promise<void>
  /** Stores the file of a complete upload. */
  readonly finishUpload: (upload: UploadEntry) => Promise<void>
}

export function createUnfinishedActions(options: UnfinishedActionsOptions): UnfinishedActions {
  const { unfinished, capacity, toasts, isSignedIn, onUploaded } = options
  return {
    async cancelUpload(id) {
      try {
        await unfinished.cancel(id)
        capacity.refresh()
      } catch (error) {
        if (isSignedIn()) toasts.show(failureOf(error))
        unfinished.refresh()
      }
    },

    async finishUpload(upload) {
      try {
        const { file } = await unfinished.finish(upload)
        onUploaded(file ?? undefined)
      } catch (error) {
        toasts.show(refusalOf(error))
      }
      unfinished.refresh()
    },
  }
}
