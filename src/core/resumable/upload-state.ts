import type { ResumableUpload } from './resumable-ledger.ts'

/** The states of an unfinished upload, as shown to clients and operators (docs/api.md, "Resumable uploads"). */
export const UNFINISHED_STATES = ['open', 'receiving', 'complete'] as const

export function unfinishedState({
  state,
  isHeld,
}: Pick<ResumableUpload, 'state' | 'isHeld'>): (typeof UNFINISHED_STATES)[number] {
  if (state === 'sealed') return 'complete'
  return isHeld ? 'receiving' : 'open'
}
