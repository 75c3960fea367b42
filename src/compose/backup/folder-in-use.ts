import { existsSync } from 'node:fs'
import { partsOf } from '../../core/backup/backup-folder.ts'
import { sleep } from '../../core/async/sleep.ts'
import { tryExclusiveLock } from '../../database/sqlite/exclusive-lock.ts'

interface Use {
  /** Called once if a backup to the folder is running, before the call waits for its end. */
  readonly onWait: () => void
  readonly signal: AbortSignal
}

/** Keeps backups from changing the folder while `read` reads it. A folder that is read only needs no lock. */
export async function readInTurn<T>(
  directory: string,
  { onWait, signal }: Use,
  read: () => Promise<T>,
): Promise<T> {
  using _ = await lockOf(directory, { onWait, signal })
  return await read()
}

async function lockOf(directory: string, { onWait, signal }: Use): Promise<Disposable> {
  const { lock } = partsOf(directory)
  for (let isFirst = true; ; isFirst = false) {
    const locked = existsSync(lock) ? tryLock(lock) : NONE
    if (locked !== undefined) return locked
    if (isFirst) onWait()
    await sleep(RETRY_MS, signal)
  }
}

/** `undefined` if a backup has the lock. */
function tryLock(file: string): Disposable | undefined {
  try {
    return tryExclusiveLock(file)
  } catch {
    return NONE
  }
}

const NONE: Disposable = { [Symbol.dispose]: () => undefined }

const RETRY_MS = 200
