import { describe, expect, it } from 'vitest'
import { createOverview, type OverviewOptions } from '../../../src/core/overview/overview.ts'
import { type MeasuredUsers, NOTHING } from '../../../src/core/overview/overview-ledger.ts'
import { parseUserId, type UserId } from '../../../src/core/users/user-id.ts'
import { never } from '../../support/objects.ts'

const DAY = 20_000 * 86_400_000
const IDS = ['a', 'b', 'c', 'd', 'e'].map(parseUserId)

describe('the overview', () => {
  it('is read anew at each call while the users fit into a page', async () => {
    const { overview, calls } = open({ usersPerPage: 10 })
    expect(await overview.read()).toMatchObject({ totals: { active: 5 }, webhooks: undefined })
    await overview.read()
    expect(calls.pages).toBe(2)
  })

  it('the overview of more users is kept for a minute from when its reading began', async () => {
    const { overview, calls, clock } = open({ usersPerPage: 2, pageMs: 1_000 })
    const first = await overview.read()
    expect(first).toMatchObject({ takenAt: DAY, totals: { active: 5 } })
    expect(calls.pages).toBe(3)
    clock.now = 59_999
    expect(await overview.read()).toBe(first)
    clock.now = 60_000
    expect(await overview.read()).not.toBe(first)
    expect(calls.pages).toBe(6)
  })

  it('is read once for those who ask for it together, and again after a failure', async () => {
    const { overview, calls, failures } = open({ usersPerPage: 10 })
    failures.push(new Error('an outage'))
    const both = [overview.read(), overview.read()]
    for (const read of both) await expect(read).rejects.toThrow('an outage')
    expect(calls.pages).toBe(1)
    expect(await overview.read()).toMatchObject({ totals: { active: 5 } })
  })

  it('has the events of webhooks if there are any to be sent', async () => {
    const { overview } = open({ usersPerPage: 2, hasWebhooks: true })
    expect(await overview.read()).toMatchObject({ webhooks: { parked: 7, waiting: 10 } })
  })

  it('lets one instance record a day, and once', async () => {
    const { overview, other, recorded, calls } = open({ usersPerPage: 2 })
    await Promise.all([overview.recordDay(never()), other.recordDay(never())])
    await overview.recordDay(never())
    await other.recordDay(never())
    expect(recorded).toEqual([{ day: DAY, users: 5, files: 15, used: 500 }])
    expect(calls).toEqual({ pages: 3, released: 1 })
  })

  it('is not recorded by an instance that stops, nor while another one records it', async () => {
    const { overview, other, recorded, calls, lease } = open({ usersPerPage: 2 })
    lease.holder = 'another'
    await overview.recordDay(never())
    expect(calls.pages).toBe(0)
    lease.holder = undefined
    await expect(overview.recordDay(AbortSignal.abort(new Error('stopped')))).rejects.toThrow(
      'stopped',
    )
    expect(recorded).toEqual([])
    await other.recordDay(never())
    expect(recorded).toHaveLength(1)
  })
})

/** Two instances on one ledger of five users with three files each. Reading a page takes `pageMs`. */
function open({
  usersPerPage,
  pageMs = 0,
  hasWebhooks = false,
}: {
  readonly usersPerPage: number
  readonly pageMs?: number
  readonly hasWebhooks?: boolean
}) {
  const clock = { now: 0 }
  const calls = { pages: 0, released: 0 }
  const failures: Error[] = []
  const recorded: unknown[] = []
  const lease: { holder: string | undefined } = { holder: undefined }
  const ledger: OverviewOptions['ledger'] = {
    async measureUsers({ after, limit }) {
      calls.pages += 1
      clock.now += pageMs
      const failure = failures.shift()
      if (failure !== undefined) throw failure
      return pageOf(
        IDS.filter((id) => after === undefined || id > after),
        limit,
      )
    },
    listDailyUsage: async () => ({ today: DAY, rows: recorded as never }),
    recordDailyUsage: async ({ usage }) => void recorded.push(usage),
    measureWebhooks: async () => ({ parked: 7, oldestMs: 0 }),
    async acquireLeaderLease({ holder }) {
      lease.holder ??= holder
      return lease.holder === holder
    },
    async releaseLeaderLease() {
      lease.holder = undefined
      calls.released += 1
    },
  }
  const options = { ledger, hasWebhooks, leaseMs: 60_000, usersPerPage, clock: () => clock.now }
  const [overview, other] = [createOverview(options), createOverview(options)]
  return { overview, other, calls, clock, failures, recorded, lease }
}

function pageOf(ids: readonly UserId[], limit: number): MeasuredUsers {
  const page = ids.slice(0, limit)
  const { length } = page
  const figures = { active: length, files: 3 * length, used: 100 * length, undelivered: 2 * length }
  const last = length < limit ? undefined : page.at(-1)
  return { totals: { ...NOTHING, ...figures }, largest: [], fullest: [], at: DAY, last }
}
