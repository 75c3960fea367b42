import { timeoutSignal } from '../../async/deadline.ts'
import type { ObjectKey } from '../../objects/object-key.ts'
import type { ResumableUpload } from '../resumable-ledger.ts'
import type { ResumableOptions } from '../resumable-options.ts'
import type { AppendRecorder } from './append-recorder.ts'

export interface FencedAppend {
  readonly upload: ResumableUpload
  readonly tailKey: ObjectKey | undefined
  readonly recorder: Pick<AppendRecorder, 'latest'>
}

const REMOVE_MS = 3_000

/**
 * Removes what an append has stored although it was fenced, unless an earlier record of it counts. The upload may be
 * finished by now, and its tail key forgotten: an append that was suspended for long has missed every other removal.
 * Never rejects.
 */
export async function removeFenced(
  { ledger, objects }: Pick<ResumableOptions, 'ledger' | 'objects'>,
  { upload, tailKey, recorder }: FencedAppend,
): Promise<void> {
  const { userId, version, objectKey: key } = upload
  const { storeState, pieces } = recorder.latest
  const signal = timeoutSignal(REMOVE_MS)
  try {
    // Whatever this append has recorded was recorded before the fence.
    const found = await ledger.findResumable({ userId, version })
    await objects.removeFenced({ key, storeState, recorded: found?.storeState, signal })
    const tail = pieces.find(({ objectKey }) => objectKey !== undefined && objectKey === tailKey)
    if (tail?.objectKey === undefined) return
    const recorded = await ledger.listPieces(version)
    if (recorded.some(({ objectKey }) => objectKey === tailKey)) return
    await objects.remove({ key: tail.objectKey, signal })
  } catch {
    // If the store or the ledger fails now, the bytes remain until the file is removed.
  }
}
