import { DatabaseSync } from 'node:sqlite'
import { createPrivately } from '../../core/sqlite-file.ts'
import { classify } from './sqlite.ts'

/**
 * Takes an exclusive OS lock on a file, which is created if it is missing. Returns `undefined` if somebody has it. The
 * operating system releases it when the process ends.
 */
export function tryExclusiveLock(file: string): Disposable | undefined {
  createPrivately(file)
  const connection = new DatabaseSync(file, { timeout: 0 })
  try {
    connection.exec('BEGIN EXCLUSIVE')
    return { [Symbol.dispose]: () => connection.close() }
  } catch (error) {
    connection.close()
    if (classify(error) === 'locked') return undefined
    throw error
  }
}
