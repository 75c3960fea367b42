import type { UserSubject } from '../../../src/core/auth/subject.ts'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isAppError } from '../../../src/core/errors.ts'
import { parseFileName, parseFileNamePrefix } from '../../../src/core/files/file-name.ts'
import type { Ledger } from '../../../src/database/ledger.ts'
import { createRepository, type Repository } from '../../../src/core/repository.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import { bytesOf } from '../../support/objects.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { MIB, type OpenService, pathOf } from '../fixture.ts'
import { type HiddenFile, hiddenFiles } from '../reads/hidden-files.ts'
import { ampleMemory } from '../../support/upload-memory.ts'
import { authorized } from '../../support/caller.ts'

/**
 * The slowest kind of answer to the fastest. A further read of the database is half as much work again or more; a row
 * that is read and not shown makes a few microseconds.
 */
const MAX_RATIO_OF_FILE = 1.4
const MAX_RATIO_OF_LISTING = 1.25

/** Around the repository there is the work of HTTP; a pause of a millisecond is about as long again. */
const MAX_RATIO_OF_HTTP = 1.4

const ROUNDS = 150
const ATTEMPTS = 8

/** Row C06 of the list of bad input: it takes no longer to refuse what is there than what is not. */
export function secrecyTimingSuite(open: OpenService): void {
  describe('how long it takes to refuse', () => {
    const limits = {
      maxFileSize: MIB,
      memory: ampleMemory(),
    }
    let service: TestService
    let repository: Repository
    let hidden: readonly HiddenFile[]
    let other: TestUser
    beforeAll(async () => {
      service = await open({ tokenCacheMs: 60_000 })
      repository = createRepository({ ...service, ...limits })
      hidden = await hiddenFiles(service)
      other = await service.createUser(MIB)
    })
    afterAll(() => service.stop())

    const viewers = [
      ['nobody in particular', () => undefined],
      ['another user', () => other],
    ] as const

    it.each(viewers)('C06 a file to %s does not depend on why', async (_who, viewer) => {
      await expectEven(MAX_RATIO_OF_FILE, hidden, ({ owner, name }) =>
        statOf(repository, { owner, name, viewer: subjectOf(viewer()) }),
      )
    })

    it.each(viewers)(
      'C06 as many reads are made for %s, whatever the reason',
      async (_who, viewer) => {
        const reads: string[][] = []
        const counting = createRepository({
          ...service,
          ...limits,
          ledger: noting(service.ledger, (method) => reads.at(-1)?.push(method)),
        })
        for (const { owner, name } of hidden) {
          reads.push([])
          await statOf(counting, { owner, name, viewer: subjectOf(viewer()) })
          await listOf(counting, { owner, viewer: subjectOf(viewer()) })
        }
        expect(reads).toEqual(hidden.map(() => ['findFile', 'listFiles']))
      },
    )

    it.each(viewers)('C06 a listing to %s does not depend on why', async (_who, viewer) => {
      await expectEven(MAX_RATIO_OF_LISTING, hidden, async ({ owner }) => {
        await listOf(repository, { owner, viewer: subjectOf(viewer()) })
      })
    })

    it.each(viewers)('C06 a request of %s does not depend on why', async (_who, viewer) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      try {
        const ask = async ({ owner, name }: HiddenFile): Promise<void> => {
          const user = viewer()
          const status = await statusOf(service, { agent, path: pathOf(name, owner), user })
          expect(status).toBe(404)
        }
        await expectEven(MAX_RATIO_OF_HTTP, hidden, ask)
      } finally {
        agent.destroy()
      }
    })
  })
}

/**
 * Asserts that the medians of all kinds are alike. They take turns, so that what else the machine does meets all; and
 * chance that puts them apart does not do so every time, as a difference in the work does.
 */
async function expectEven<K>(
  maxRatio: number,
  kinds: readonly K[],
  work: (kind: K) => Promise<void>,
): Promise<void> {
  const ratios: number[] = []
  while (ratios.length < ATTEMPTS && !ratios.some((ratio) => ratio < maxRatio)) {
    ratios.push(await measureRatio(kinds, work))
  }
  expect(Math.min(...ratios)).toBeLessThan(maxRatio)
}

async function measureRatio<K>(
  kinds: readonly K[],
  work: (kind: K) => Promise<void>,
): Promise<number> {
  const times = kinds.map((): number[] => [])
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, kind] of kinds.entries()) {
      const start = performance.now()
      await work(kind)
      times[index]?.push(performance.now() - start)
    }
  }
  const medians = times.map(median)
  return Math.max(...medians) / Math.min(...medians)
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[values.length >> 1] ?? Number.NaN
}

/** Not an owner, so when they were created is not looked at. */
function subjectOf(user: TestUser | undefined): UserSubject | undefined {
  return user && authorized({ userId: user.userId, userCreatedAt: 0 })
}

async function statOf(
  repository: Repository,
  file: { readonly owner: string; readonly name: string; readonly viewer: UserSubject | undefined },
): Promise<void> {
  const { owner, name, viewer } = file
  try {
    await repository.stat({ userId: parseUserId(owner), name: parseFileName(name), viewer })
  } catch (error) {
    if (isAppError(error, 'not_found')) return
    throw error
  }
  throw new Error('It was not refused.')
}

async function listOf(
  repository: Repository,
  list: { readonly owner: string; readonly viewer: UserSubject | undefined },
): Promise<void> {
  await repository.list({
    userId: parseUserId(list.owner),
    viewer: list.viewer,
    prefix: parseFileNamePrefix(''),
    order: 'name',
    after: undefined,
    limit: 100,
  })
}

/** The same ledger, which says of each call which one it is. */
function noting(ledger: Ledger, note: (method: string) => void): Ledger {
  return new Proxy(ledger, {
    get(target, method, receiver) {
      note(String(method))
      return Reflect.get(target, method, receiver) as unknown
    },
  })
}

async function statusOf(
  service: TestService,
  what: { readonly agent: Agent; readonly path: string; readonly user: TestUser | undefined },
): Promise<number> {
  const { agent, path, user } = what
  const headers = user === undefined ? {} : { cookie: user.cookie }
  const request = httpRequest({ host: '127.0.0.1', port: service.port, path, headers, agent })
  request.end()
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  await bytesOf(response)
  return response.statusCode ?? 0
}
