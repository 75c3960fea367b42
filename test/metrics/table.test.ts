import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { type CallMeters, createCallMeters } from '../../src/metrics/call-meters.ts'
import { createInstruments } from '../../src/metrics/instruments.ts'
import { createMetrics, type Metrics } from '../../src/metrics/metrics.ts'
import { openTestCore } from '../support/service/test-core.ts'
import { parseMetrics } from '../support/http/metrics-text.ts'
import { ampleMemory } from '../support/upload-memory.ts'

describe("the documents' table of metrics", () => {
  it('has every metric with its type and labels, and no other', async () => {
    await using core = await openTestCore()
    const instruments = createInstruments({
      hasPool: true,
      hasPack: true,
      hasWebhooks: true,
      hasReserve: true,
    })
    const calls = createCallMeters(instruments)
    const metrics = createMetrics({
      instruments,
      ledger: core.ledger,
      readiness: { failures: async () => new Map() },
      memory: ampleMemory(),
      connections: () => ({ limit: 10, open: 2, idle: 1, waiting: 0 }),
      measurePack: async () => 4096,
      measureReserve: async () => 8_388_608,
    })
    metrics.watchProcess({ version: '1.2.3' })
    await useAll(metrics, calls)
    const exposed = parseMetrics(await metrics.expose()).filter(({ name }) => !isDefault(name))
    const silent = exposed.filter(({ series }) => series.length === 0).map(({ name }) => name)
    expect(silent).toEqual([])
    const actual = exposed.map(({ name, type, labels }) => ({ name, type, labels }))
    expect(byName(await tableRows())).toEqual(byName(actual))
  })
})

/** Has every metric get a sample. */
async function useAll(metrics: Metrics, calls: CallMeters): Promise<void> {
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

interface Row {
  readonly name: string
  readonly type: string
  readonly labels: readonly string[]
}

async function tableRows(): Promise<readonly Row[]> {
  const page = await readFile('docs/observing.md', 'utf8')
  const rows = page.matchAll(
    /^\| `([a-z0-9_]+)` \| (counter|gauge|histogram|summary) \| (.*?) \| \S.* \|$/gm,
  )
  return [...rows].map(([, name = '', type = '', labels = '']) => ({
    name,
    type,
    labels: [...labels.matchAll(/`([a-z_]+)`/g)].map(([, label = '']) => label).sort(),
  }))
}

function byName(rows: readonly Row[]): readonly Row[] {
  return rows.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}
