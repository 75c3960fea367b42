import type { ResumableLedger } from '../../core/resumable/resumable-ledger.ts'
import type { UploadLedger } from '../../core/uploads/upload-ledger.ts'
import type { RunBatch } from '../database.ts'
import type { Session } from './session.ts'

/** The methods that an engine may run in fewer round trips than their steps. */
export type Steps = Pick<UploadLedger, 'begin' | 'commit'> &
  Pick<ResumableLedger, 'createResumable'>

export interface ShortcutOptions {
  readonly session: Session
  /** Handle refusals, and calls that have no shortcut. */
  readonly steps: Steps
  readonly runBatch: RunBatch
}

export type CreateShortcuts = (options: ShortcutOptions) => Steps
