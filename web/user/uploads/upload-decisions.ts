import type { Permissions } from '../permissions.ts'
import { adopt, isSameFile, nextName, type UploadItem, type UploadState } from './upload-item.ts'

/** The user's decisions about uploads that wait for one. */
export interface UploadDecisions {
  retry(items: readonly UploadItem[]): void
  replace(items: readonly UploadItem[]): void
  keepBoth(item: UploadItem): void
  /** Continues the interrupted upload that the user was asked about. */
  continueHere(item: UploadItem): void
  /** Cancels the interrupted upload that the user was asked about, and sends the file from its first byte. */
  startOver(item: UploadItem): Promise<void>
}

export interface UploadDecisionsOptions {
  readonly set: (item: UploadItem, state: UploadState) => void
  /** Makes items wait for their turn again. */
  readonly wake: (items: readonly UploadItem[]) => void
  /** Cancels a resumable upload on the service. Never rejects. */
  readonly cancel: (uploadId: string) => Promise<void>
  readonly permissions: Permissions
}

export function createUploadDecisions({
  set,
  wake,
  cancel,
  permissions,
}: UploadDecisionsOptions): UploadDecisions {
  return {
    retry: wake,

    replace(replaced) {
      for (const item of replaced) item.mayReplace = true
      wake(replaced)
    },

    keepBoth(item) {
      item.findsName = true
      item.name = permissions.within(nextName(item.name))
      wake([item])
    },

    continueHere(item) {
      const { state } = item
      if (state.kind === 'elsewhere' && !isSameFile(item, state.upload)) {
        set(item, { kind: 'differs', upload: state.upload })
      } else if (state.kind === 'elsewhere' || state.kind === 'differs') {
        adopt(item, state.upload)
        wake([item])
      }
    },

    async startOver(item) {
      if (item.state.kind !== 'differs') return
      await cancel(item.state.upload.upload_id)
      wake([item])
    },
  }
}
