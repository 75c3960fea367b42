import type { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { type CallMeters, createCallMeters } from '../../src/metrics/call-meters.ts'
import { createInstruments } from '../../src/metrics/instruments.ts'
import { createMetrics } from '../../src/metrics/metrics.ts'
import { openTestCore } from '../support/service/test-core.ts'
import { parseMetrics } from '../support/http/metrics-text.ts'
import { ampleMemory } from '../support/upload-memory.ts'

describe('the metrics', () => {
  it('have the names, types and labels that docs/compatibility.md promises', async () => {
    await using core = await openTestCore()
    const instruments = createInstruments({
      hasPool: true,
      hasPack: true,
      hasWebhooks: true,
      hasReserve: true,
      backupEveryMs: 3_600_000,
    })
    const calls = createCallMeters(instruments)
    const metrics = createMetrics({
      instruments,
      ledger: core.ledger,
      readiness: { failures: async () => new Map() },
      uploads: { runningAppends: 0 },
      memory: ampleMemory(),
      connections: () => ({ limit: 10, open: 2, idle: 1, waiting: 0 }),
      measurePack: async () => 4096,
      measureReserve: async () => 8_388_608,
      findBackup: async () => ({ at: 0, completedAt: 1000, files: 0, bytes: 0, findings: 0 }),
    })
    metrics.watchProcess({ version: '1.2.3' })
    await useAll(metrics, calls)
    const exposed = parseMetrics(await metrics.expose()).filter(({ name }) => !isDefault(name))
    const silent = exposed.filter(({ series }) => series.length === 0).map(({ name }) => name)
    expect(silent).toEqual([])
    const actual = exposed.map(({ name, type, labels }) => [name, type, ...labels].join(' '))
    expect(actual.toSorted()).toEqual(PROMISED.map((line) => `cloud_repository_${line}`))
  })
})

/** Without their prefix, in order. A line that changes breaks the dashboards and alerts of operators. */
const PROMISED = [
  'appends_running gauge',
  'appends_total counter end',
  'backup_completion_timestamp_seconds gauge',
  'backup_failure_timestamp_seconds gauge',
  'backup_findings gauge',
  'backup_interval_seconds gauge',
  'build_info gauge version',
  'clock_jumps_total counter direction',
  'clock_lead_seconds gauge',
  'database_call_seconds histogram operation',
  'database_connections_limit gauge',
  'database_connections_open gauge',
  'database_connections_used gauge',
  'database_connections_waiting gauge',
  'database_errors_total counter operation',
  'digest_reread_bytes_total counter',
  'digest_rereads_total counter',
  'disk_reserve_bytes gauge',
  'expired_uploads_total counter',
  'failed_removals_total counter',
  'forgotten_uploads_total counter',
  'garbage_objects gauge',
  'last_sweep_duration_seconds gauge',
  'last_sweep_end_timestamp_seconds gauge',
  'last_sweep_start_timestamp_seconds gauge',
  'lost_contents_total counter',
  'lost_uploads_total counter',
  'object_store_call_seconds histogram operation',
  'object_store_errors_total counter operation',
  'pack_bytes gauge',
  'part_up gauge part',
  'purged_rows_total counter',
  'received_bytes_total counter listener method route',
  'refusals_total counter code',
  'removed_objects_total counter',
  'request_seconds histogram listener method route',
  'requests_running gauge listener method route',
  'requests_total counter listener method route status',
  'reservations gauge',
  'reserved_bytes gauge',
  'sent_bytes_total counter listener method route',
  'sweep_backlog gauge of',
  'sweep_backlog_age_seconds gauge of',
  'sweeps_total counter end',
  'tail_bytes_total counter way',
  'unfinished_bytes gauge',
  'unfinished_uploads gauge',
  'upload_memory_limit_bytes gauge',
  'upload_memory_taken_bytes gauge',
  'upload_memory_waiting gauge',
  'uploaded_bytes_total counter',
  'uploads_running gauge',
  'webhook_attempts_total counter end',
  'webhook_dropped_events_total counter',
  'webhook_oldest_event_age_seconds gauge',
  'webhook_parked_events gauge',
]

/** Has every metric get a sample. */
async function useAll(metrics: ReturnType<typeof createMetrics>, calls: CallMeters): Promise<void> {
  for (const meter of [calls.database, calls.objectStore]) {
    const failing = meter('check', () => Promise.reject(new Error('down')))
    await expect(failing()).rejects.toThrow('down')
  }
  const socket = { bytesRead: 1, bytesWritten: 1 } as Socket
  const meter = metrics.meterRequests('public')
  meter.begin({ method: 'GET', route: '/a', socket })({ status: 200, code: null, seconds: 1 })
  meter.begin({ method: 'GET', route: '/a', socket })
}

/** Whether the Prometheus client has it by itself. */
function isDefault(name: string): boolean {
  return /^(?:nodejs|process)_/.test(name)
}
