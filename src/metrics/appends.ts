import { Counter, Gauge, type Registry } from '@prometheus-io/client'
import { isAppError } from '../core/errors.ts'
import type { ErrorCode } from '../core/error-codes.ts'
import type { Appended, ResumableUploads } from '../core/uploads/resumable/resumable-uploads.ts'
import type { ResumableOptions } from '../core/uploads/resumable/resumable-options.ts'

/** Hooks that the use cases call. */
export type UploadHooks = Required<
  Pick<ResumableOptions, 'onStored' | 'onReread' | 'onLost' | 'onTail'>
>

export interface AppendMetrics {
  readonly hooks: UploadHooks
  meter(uploads: ResumableUploads): ResumableUploads
}

export function createAppendMetrics(registry: Registry, storedBytes: Counter): AppendMetrics {
  const registers = [registry]
  const ends = new Counter({
    name: 'cloud_repository_appends_total',
    help: 'Appends to resumable uploads, by how they ended.',
    labelNames: ['end'],
    registers,
  })
  for (const end of ENDS) ends.inc({ end }, 0)
  return {
    hooks: { ...createHooks(registers), onStored: (bytes) => storedBytes.inc(bytes) },
    meter(uploads) {
      exposeRunning(uploads, registers)
      return {
        ...uploads,
        get runningAppends() {
          return uploads.runningAppends
        },
        async append(append) {
          try {
            const appended = await uploads.append(append)
            ends.inc({ end: endOf(appended) })
            return appended
          } catch (error) {
            ends.inc({ end: isRefusal(error) ? 'refused' : 'failed' })
            throw error
          }
        },
      }
    },
  }
}

/** An append that a shutdown stops is `stored`: its bytes are kept, and the response has the offset. */
const ENDS = ['finished', 'stored', 'broken', 'superseded', 'fenced', 'refused', 'failed'] as const

function endOf({ committed, cut }: Appended): (typeof ENDS)[number] {
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

function exposeRunning(uploads: ResumableUploads, registers: Registry[]): Gauge {
  return new Gauge({
    name: 'cloud_repository_appends_running',
    help: 'Appends that are receiving bytes on this instance.',
    registers,
    collect() {
      this.set(uploads.runningAppends)
    },
  })
}

function createHooks(registers: Registry[]): Omit<UploadHooks, 'onStored'> {
  const counter = (name: string, help: string, ...labelNames: string[]): Counter<string> =>
    new Counter({ name: `cloud_repository_${name}_total`, help, labelNames, registers })
  const tail = counter('tail_bytes', 'Bytes of tail objects, stored and read back.', 'way')
  for (const way of ['stored', 'read_back']) tail.inc({ way }, 0)
  const rereads = counter('digest_rereads', 'Objects read again to compute their SHA-256.')
  const rereadBytes = counter('digest_reread_bytes', 'Bytes read to compute these digests.')
  const lost = counter('lost_uploads', 'Uploads that ended because the store lost their bytes.')
  return {
    onTail({ stored, readBack }) {
      tail.inc({ way: 'stored' }, stored)
      tail.inc({ way: 'read_back' }, readBack)
    },
    onReread(bytes) {
      rereads.inc()
      rereadBytes.inc(bytes)
    },
    onLost: () => lost.inc(),
  }
}
