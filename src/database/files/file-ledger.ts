import type { FileLedger } from '../../core/files/file-ledger.ts'
import type { Session } from '../ledger/session.ts'
import { createFindFile } from './find-file.ts'
import { listFiles } from './list.ts'
import { changeFiles, deleteFile, updateFile } from './change-files.ts'
import { selectFiles } from './select-files.ts'

export function createFileLedger({ database, change, readInOrder }: Session): FileLedger {
  return {
    findFile: createFindFile(database),
    listFiles: (page) => readInOrder((tx) => listFiles(tx, page)),
    selectFiles: (wanted) => readInOrder((tx) => selectFiles(tx, wanted)),
    deleteFile: (file) => change(file.userId, (tx) => deleteFile(tx, file)),
    updateFile: (file) => change(file.userId, (tx) => updateFile(tx, file)),
    changeFiles: (batch) => change(batch.userId, (tx) => changeFiles(tx, batch)),
  }
}
