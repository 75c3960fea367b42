import { Registry } from '@prometheus-io/client'
import { ERROR_CODES } from '../core/error-codes.ts'
import { createMakers } from './instrument-makers.ts'

export type Instruments = ReturnType<typeof createInstruments>

/** Counts are exact up to this number; above it, the exact value does not matter. */
export const MAX_COUNTED = 10_000

export const APPEND_ENDS = [
  'finished',
  'stored',
  'broken',
  'superseded',
  'fenced',
  'refused',
  'failed',
] as const

const CALL_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

const BY_ROUTE = ['listener', 'method', 'route'] as const

/**
 * All metrics of the service, in the order in which they are exposed. Labels are bounded: listed methods, route
 * templates, operations of ports, and closed lists.
 */
export function createInstruments({
  hasPool,
  hasPack,
  hasWebhooks = false,
  hasReserve = false,
  backupEveryMs,
}: {
  readonly hasPool: boolean
  readonly hasPack: boolean
  readonly hasWebhooks?: boolean
  readonly hasReserve?: boolean
  /** How often the service makes backups, in milliseconds; `undefined` if it makes none. */
  readonly backupEveryMs?: number | undefined
}) {
  const registry = new Registry()
  const { counter, countedBy, gauge, histogram } = createMakers(registry)
  const callsOf = (of: string, name: string) => ({
    seconds: histogram(`${of}_call_seconds`, `Duration of calls to the ${name} by operation.`, {
      labels: ['operation'],
      buckets: CALL_SECONDS,
    }),
    errors: counter(
      `${of}_errors`,
      `Calls to the ${name} that failed or timed out. Refusals are not errors.`,
      ['operation'],
    ),
  })
  return {
    registry,
    database: callsOf('database', 'database'),
    objectStore: callsOf('object_store', 'object store'),
    backlog: {
      count: gauge(
        'sweep_backlog',
        `Items that are due for a sweep by any instance, counted up to ${MAX_COUNTED}.`,
        ['of'],
      ),
      age: gauge(
        'sweep_backlog_age_seconds',
        'How long the oldest item that is due for a sweep has been due.',
        ['of'],
      ),
    },
    journal: {
      reservations: gauge(
        'reservations',
        `Uploads with a single request in progress on all instances, counted up to ${MAX_COUNTED}.`,
      ),
      reservedBytes: gauge(
        'reserved_bytes',
        `Bytes reserved by uploads in progress, up to ${MAX_COUNTED} uploads.`,
      ),
      unfinishedUploads: gauge(
        'unfinished_uploads',
        `Unfinished resumable uploads, counted up to ${MAX_COUNTED}.`,
      ),
      unfinishedBytes: gauge(
        'unfinished_bytes',
        `Bytes announced by unfinished resumable uploads, up to ${MAX_COUNTED} uploads.`,
      ),
      garbage: gauge(
        'garbage_objects',
        `Objects that no file refers to, counted up to ${MAX_COUNTED}.`,
      ),
    },
    dependencyUp: gauge(
      'part_up',
      '1 if the part responds, 0 if it fails, as checked by /readyz.',
      ['part'],
    ),
    memory: {
      budget: gauge('upload_memory_limit_bytes', 'Memory that uploads of this instance may use.'),
      taken: gauge('upload_memory_taken_bytes', 'Memory that uploads of this instance use.'),
      waiting: gauge('upload_memory_waiting', 'Uploads that wait for memory.'),
    },
    pool: hasPool
      ? {
          limit: gauge(
            'database_connections_limit',
            'Maximum number of database connections of this instance.',
          ),
          waiting: gauge(
            'database_connections_waiting',
            'Calls that wait for a database connection.',
          ),
          open: gauge('database_connections_open', 'Open database connections.'),
          used: gauge('database_connections_used', 'Database connections in use.'),
        }
      : undefined,
    packBytes: hasPack
      ? gauge('pack_bytes', 'Bytes on the disk of the file that holds small objects.')
      : undefined,
    reserveBytes: hasReserve
      ? gauge('disk_reserve_bytes', 'Bytes held by the reserve on the disk of the database.')
      : undefined,
    backups: backupEveryMs === undefined ? undefined : backupGauges(gauge, backupEveryMs),
    refusals: countedBy('refusals', 'Refused requests by the code of their problem document.', {
      label: 'code',
      values: ERROR_CODES,
    }),
    requests: counter(
      'requests',
      'Finished requests; status 499: the client left before its response was complete.',
      [...BY_ROUTE, 'status'],
    ),
    requestSeconds: histogram(
      'request_seconds',
      'Duration from the head of a request to the end of its response.',
      { labels: BY_ROUTE, buckets: REQUEST_SECONDS },
    ),
    receivedBytes: counter(
      'received_bytes',
      'Bytes received on connections, including headers and requests in progress.',
      BY_ROUTE,
    ),
    sentBytes: counter(
      'sent_bytes',
      'Bytes sent on connections, including headers and requests in progress.',
      BY_ROUTE,
    ),
    runningRequests: gauge('requests_running', 'Requests in progress on this instance.', BY_ROUTE),
    storedBytes: counter('uploaded_bytes', 'Bytes of the files that uploads have stored.'),
    appends: countedBy('appends', 'Appends to resumable uploads, by how they ended.', {
      label: 'end',
      values: APPEND_ENDS,
    }),
    tailBytes: countedBy('tail_bytes', 'Bytes of tail objects, stored and read back.', {
      label: 'way',
      values: ['stored', 'read_back'],
    }),
    rereads: counter('digest_rereads', 'Objects read again to compute their SHA-256.'),
    rereadBytes: counter('digest_reread_bytes', 'Bytes read to compute these digests.'),
    lostUploads: counter('lost_uploads', 'Uploads that ended because the store lost their bytes.'),
    runningAppends: gauge('appends_running', 'Appends that are receiving bytes on this instance.'),
    runningUploads: gauge(
      'uploads_running',
      'Uploads in progress on this instance, including those that wait for memory.',
    ),
    lostContents: counter(
      'lost_contents',
      'Downloads whose object remains missing or has the wrong size: data is lost, or the store is incomplete.',
    ),
    swept: {
      expiredUploads: counter(
        'expired_uploads',
        'Uploads that were aborted because their lease had expired.',
      ),
      removedObjects: counter('removed_objects', 'Object keys that the sweeper has cleared.'),
      failedRemovals: counter('failed_removals', 'Failed attempts to remove an object.'),
      forgottenUploads: counter(
        'forgotten_uploads',
        'Settled uploads that were removed from the journal.',
      ),
      purgedRows: counter(
        'purged_rows',
        'Rows of deleted users that were removed from the database.',
      ),
    },
    sweeps: countedBy(
      'sweeps',
      'Sweeps of this instance by outcome; elsewhere: another instance was sweeping.',
      { label: 'end', values: ['complete', 'gave_up', 'elsewhere', 'failed'] },
    ),
    clock: {
      lead: gauge(
        'clock_lead_seconds',
        'By how much the clock is ahead of the safe time, which decides what is destroyed.',
      ),
      jumps: countedBy('clock_jumps', 'Jumps of the clock that this instance has noticed.', {
        label: 'direction',
        values: ['ahead', 'back'],
      }),
    },
    lastSweep: {
      start: gauge(
        'last_sweep_start_timestamp_seconds',
        'When the last sweep of this instance started, excluding the outcome elsewhere.',
      ),
      end: gauge(
        'last_sweep_end_timestamp_seconds',
        'When the last sweep of this instance ended, excluding the outcome elsewhere.',
      ),
      duration: gauge(
        'last_sweep_duration_seconds',
        'How long the last sweep of this instance took, excluding the outcome elsewhere.',
      ),
    },
    webhooks: hasWebhooks
      ? {
          attempts: countedBy('webhook_attempts', 'Attempts to deliver an event by a webhook.', {
            label: 'end',
            values: ['delivered', 'failed'],
          }),
          expired: counter(
            'webhook_dropped_events',
            'Events that were deleted, being too old or too many, before they were delivered.',
          ),
          parked: gauge(
            'webhook_parked_events',
            `Events that could not be delivered for 24 hours, counted up to ${MAX_COUNTED}.`,
          ),
          age: gauge(
            'webhook_oldest_event_age_seconds',
            'How long the oldest event that is neither delivered nor parked has waited.',
          ),
        }
      : undefined,
    /** Queries join other metrics by the label `version`. Registered on call, after the metrics of the process. */
    buildInfo: () =>
      gauge('build_info', 'Always 1; the label is the version of this instance.', ['version']),
  }
}

type Gauges = ReturnType<typeof createMakers>['gauge']

function backupGauges(gauge: Gauges, everyMs: number) {
  const interval = gauge(
    'backup_interval_seconds',
    'How often the service makes a backup (`BACKUP_EVERY`).',
  )
  interval.set(everyMs / 1000)
  return {
    completion: gauge(
      'backup_completion_timestamp_seconds',
      'When the newest backup in BACKUP_DIR was complete.',
    ),
    failure: gauge(
      'backup_failure_timestamp_seconds',
      'When the last backup of this instance failed; 0 if none has.',
    ),
    findings: gauge('backup_findings', 'Objects that the newest backup in BACKUP_DIR lacks.'),
  }
}
