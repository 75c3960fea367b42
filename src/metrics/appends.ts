import { isAppError } from '../core/errors.ts'
import type { ErrorCode } from '../core/error-codes.ts'
import type { TailBytes } from '../core/resumable/resumable-options.ts'
import type { Appended, ResumableUploads } from '../core/resumable/resumable-uploads.ts'
import type { APPEND_ENDS, Instruments } from './instruments.ts'

/** Options of `createResumableUploads`. */
export function createUploadHooks(instruments: Instruments) {
  const { storedBytes, tailBytes, rereads, rereadBytes, lostUploads } = instruments
  return {
    onStored: (bytes: number) => storedBytes.inc(bytes),
    onReread: (bytes: number) => {
      rereads.inc()
      rereadBytes.inc(bytes)
    },
    onLost: () => lostUploads.inc(),
    onAppended: ({ stored, readBack }: TailBytes) => {
      tailBytes.inc({ way: 'stored' }, stored)
      tailBytes.inc({ way: 'read_back' }, readBack)
    },
  }
}

export function meterAppends(uploads: ResumableUploads, { appends }: Instruments) {
  return {
    ...uploads,
    get runningAppends() {
      return uploads.runningAppends
    },
    async append(append) {
      try {
        const appended = await uploads.append(append)
        appends.inc({ end: endOf(appended) })
        return appended
      } catch (error) {
        appends.inc({ end: isRefusal(error) ? 'refused' : 'failed' })
        throw error
      }
    },
  } satisfies ResumableUploads
}

/** An append that a shutdown stops is `stored`: its bytes are kept, and the response has the offset. */
function endOf({ committed, cut }: Appended): (typeof APPEND_ENDS)[number] {
  if (committed !== undefined) return 'finished'
  return cut === undefined || cut === 'shutdown' ? 'stored' : cut
}

function isRefusal(error: unknown): boolean {
  return isAppError(error) && !FAILURES.has(error.code)
}

const FAILURES: ReadonlySet<ErrorCode> = new Set([
  'unavailable',
  'insufficient_storage',
  'internal_error',
])
