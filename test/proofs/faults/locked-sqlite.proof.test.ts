import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { forTest } from '../../support/for-test.ts'
import { startDemo } from '../../support/service/demo.ts'
import { type HeldLock, holdWriteLock } from '../../support/faults/lock-holder.ts'
import { temporaryFolder } from '../../support/service/program.ts'

const ADMIN_TOKEN = 'the-token-of-this-test'

describe('F01 a process that holds the lock of SQLite', () => {
  it.each([
    { when: 'before the first upload', earlier: [] },
    { when: 'after uploads', earlier: ['first'] },
  ])('a lock for 3 s, $when, delays all that writes, and nothing else', async ({ earlier }) => {
    const service = await startService()
    for (const name of earlier) expect(await service.put(name)).toBe(200)
    const lock = await service.hold()
    const startedAt = performance.now()
    const writes = Promise.all([
      ...['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => service.put(name)),
      service.create('late'),
      service.removeFile('none'),
    ])
    const slowest = await service.slowestAnswer({ forMs: 3_000 })
    const isEarly = await Promise.race([writes.then(() => true), setTimeout(1, false)])
    expect(isEarly).toBe(false)
    await lock.release()
    expect(await writes).toEqual([...Array.from({ length: 8 }, () => 200), 201, 404])
    expect(performance.now() - startedAt).toBeGreaterThan(3_000)
    expect(slowest).toBeLessThan(1_000)
  })

  it('a lock for good has writes refused after 10 s, with the cause in the log, until it is gone', async () => {
    const service = await startService()
    const lock = await service.hold()
    const startedAt = performance.now()
    const [uploaded, created] = await Promise.all([service.put('a'), service.create('late')])
    expect([uploaded, created]).toEqual([503, 503])
    expect(performance.now() - startedAt).toBeGreaterThan(9_000)
    expect(performance.now() - startedAt).toBeLessThan(20_000)
    expect(service.output()).toMatch(/database is locked.*"request failed"/)
    await lock.release()
    expect(await service.put('a')).toBe(200)
  })

  it('a lock for 2 s delays a start', async () => {
    const folder = await temporaryFolder(forTest())
    const first = await startService(folder)
    await first.end()
    const lock = await first.hold()
    const starting = startService(folder)
    await setTimeout(2_000)
    await lock.release()
    expect(await (await starting).put('a')).toBe(200)
  })
})

async function startService(folder?: string) {
  const DATA_DIR = folder ?? (await temporaryFolder(forTest()))
  const environment = { DATA_DIR, ADMIN_TOKEN, ADMIN_PORT: '0' }
  const { process, output, url, cookie } = await startDemo({ environment, opened: forTest() })
  const [, admin = ''] = /admin API listens at (http:\/\/127\.0\.0\.1:\d+)/.exec(output()) ?? []
  const headers = { cookie }
  const authorization = { authorization: `Bearer ${ADMIN_TOKEN}` }
  const file = (name: string): string => `${url}/users/me/repo/${name}`
  const ask = async (...asked: Parameters<typeof fetch>): Promise<number> => {
    const answer = await fetch(...asked)
    await answer.arrayBuffer()
    return answer.status
  }
  return {
    output,
    put: (name: string) => ask(file(name), { method: 'PUT', headers, body: name }),
    removeFile: (name: string) => ask(file(name), { method: 'DELETE', headers }),
    create: (id: string) =>
      ask(`${admin}/admin/users/${id}`, { method: 'PUT', headers: authorization }),
    async hold(): Promise<HeldLock> {
      const lock = await holdWriteLock(join(DATA_DIR, 'database.sqlite'))
      forTest().defer(() => lock.release())
      return lock
    },
    async end(): Promise<void> {
      process.kill('SIGTERM')
      await expect.poll(() => process.exitCode).toBe(0)
    },
    /** The longest time in milliseconds that a probe or a listing has taken, asked one after the other. */
    async slowestAnswer({ forMs }: { readonly forMs: number }): Promise<number> {
      const endsAt = performance.now() + forMs
      let slowest = 0
      while (performance.now() < endsAt) {
        const askedAt = performance.now()
        expect(await ask(`${url}/livez`)).toBe(200)
        expect(await ask(`${url}/users/me/repo`, { headers })).toBe(200)
        slowest = Math.max(slowest, performance.now() - askedAt)
      }
      return slowest
    },
  }
}
