import { describe, expect, it } from 'vitest'
import { readSample, type Sample } from '../../../../web/operator/charts/metrics-text.ts'
import { growth, growths, levels, rates } from '../../../../web/operator/charts/series.ts'

const TEXT = `# HELP cloud_repository_received_bytes_total Bytes that came.
# TYPE cloud_repository_received_bytes_total counter
cloud_repository_received_bytes_total{listener="public",method="PUT",route="/a b"} 1000
cloud_repository_received_bytes_total{listener="public",method="GET",route="/c"} 24
cloud_repository_received_bytes_total{listener="public",method="GET",route="/d"} NaN
cloud_repository_received_bytes_total{listener="admin",method="GET",route="/metrics"} 5000
cloud_repository_sent_bytes_total{listener="public",method="GET",route="/c"} 7
cloud_repository_uploads_running 3
cloud_repository_requests_total{listener="public",method="PUT",route="/b/users/me/repo/*",status="200"} 8
cloud_repository_requests_total{listener="public",method="POST",route="/b/users/me/repo/*",status="200"} 1
cloud_repository_requests_total{listener="public",method="PUT",route="/b/users/me/repo/*",status="403"} 5
cloud_repository_requests_total{listener="public",method="GET",route="/b/users/me/repo/*",status="200"} 9
cloud_repository_uploads_running_ever 99
cloud_repository_reservations 3
cloud_repository_reserved_bytes 1000
cloud_repository_unfinished_uploads 4
cloud_repository_unfinished_bytes 5e3
cloud_repository_garbage_objects 12
cloud_repository_clock_lead_seconds 90
cloud_repository_uploaded_bytes_total 2e3
cloud_repository_refusals_total{code="not_found"} 4
cloud_repository_refusals_total{code="capacity_exceeded"} 2
process_cpu_seconds_total 5
`

describe("what is read out of the service's metrics", () => {
  it('is what came and went on the public listener, uploads and refusals', () => {
    expect(readSample(TEXT, 5)).toEqual({
      at: 5,
      receivedBytes: 1024,
      clockLeadSeconds: 90,
      sentBytes: 7,
      uploads: 9,
      uploadsRunning: 3,
      uploadedBytes: 2000,
      refusals: 6,
      refusalsByCode: new Map([
        ['not_found', 4],
        ['capacity_exceeded', 2],
      ]),
      everywhere: { uploads: 7, bytes: 6000, garbage: 12 },
    })
  })

  it('is nothing, where nothing is told', () => {
    expect(readSample('', 0)).toMatchObject({
      receivedBytes: 0,
      uploadsRunning: 0,
      refusals: 0,
      everywhere: undefined,
    })
  })
})

describe('a series', () => {
  const seen = (counts: readonly (readonly [number, number])[]) =>
    counts.map(([at, refusals]): Sample => ({ ...readSample('', at), refusals }))
  const samples = seen([
    [0, 100],
    [2000, 300],
    [4000, 300],
    [5000, 50],
    [6000, 60],
  ])
  const read = ({ refusals }: Sample): number => refusals
  const valuesOf = (points: readonly { value: number }[]) => points.map(({ value }) => value)

  it('has how fast a count has grown, also of a service that was started anew', () => {
    expect(valuesOf(rates(samples, { read, per: 1000 }))).toEqual([100, 0, 0, 10])
  })

  it('has how much a count has grown within a while', () => {
    expect(valuesOf(growths(samples, { read, within: 3000 }))).toEqual([200, 100, 0, 10])
    expect(valuesOf(growths(samples, { read, within: 60_000 }))).toEqual([200, 200, 200, 210])
  })

  it('has a level of the moments that have one', () => {
    const levelsOf = levels(samples, ({ at, refusals: level }) => (at === 2000 ? undefined : level))
    expect(levelsOf.map(({ at }) => at)).toEqual([0, 4000, 5000, 6000])
    expect(valuesOf(levelsOf)).toEqual([100, 300, 50, 60])
  })

  it('has of what has grown while nobody looked the share of that while', () => {
    const hidden = seen([
      [0, 0],
      [3_600_000, 5000],
    ])
    expect(valuesOf(growths(hidden, { read, within: 60_000 }))).toEqual([83])
  })
  it('has how much a count has grown in all, also of a service that was started anew', () => {
    expect(growth(samples, read)).toBe(210)
    expect(growth(samples.slice(0, 1), read)).toBe(0)
    expect(growth([], read)).toBe(0)
  })
})
