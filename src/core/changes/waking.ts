import type { FileLedger } from '../files/file-ledger.ts'
import type { HistoryLedger } from '../history/history-ledger.ts'
import type { UploadLedger } from '../uploads/upload-ledger.ts'
import type { UserId } from '../users/user-id.ts'

type FileChanges = Pick<UploadLedger, 'commit'> &
  Pick<FileLedger, 'deleteFile' | 'updateFile' | 'changeFiles'> &
  Pick<HistoryLedger, 'restoreVersion'>

/** Calls `wake` after each method of the ledger that has changed a file. */
export function waking<L extends FileChanges>(ledger: L, wake: (userId: UserId) => void): L {
  function after<T extends { readonly userId: UserId }, R>(run: (request: T) => Promise<R>) {
    return async (request: T): Promise<R> => {
      const result = await run(request)
      wake(request.userId)
      return result
    }
  }
  return {
    ...ledger,
    commit: after(ledger.commit),
    deleteFile: after(ledger.deleteFile),
    updateFile: after(ledger.updateFile),
    changeFiles: after(ledger.changeFiles),
    restoreVersion: after(ledger.restoreVersion),
  }
}
