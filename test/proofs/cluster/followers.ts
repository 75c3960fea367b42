import { setTimeout } from 'node:timers/promises'
import { expect } from 'vitest'
import { ask, jsonOf } from '../../http/fixture.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'

interface Followed {
  /** Instances of one service; each follower asks one of them. */
  readonly services: readonly TestService[]
  readonly users: Iterable<TestUser>
}

export interface Followers {
  /** Asserts that each follower, once it has caught up, has seen every change once and in order (I14). */
  stop(): Promise<void>
}

interface ToldChange {
  readonly sequence: number
  readonly type: string
  readonly name: string
  readonly version: string
}

interface ToldPage {
  readonly changes: readonly ToldChange[]
  readonly next_cursor: string
}

/** Names, and the version of each. */
type Files = Readonly<Record<string, string>>

/**
 * Clients that list each user's files at each instance, and then follow the changes from the listing on. They ask again
 * whenever they get a 503.
 */
export function startFollowers({ services, users }: Followed): Followers {
  const over = new AbortController()
  const following = [...users].flatMap((user) =>
    services.map((service) => {
      const seen = follow(service, user, over.signal)
      // If the test fails first, its own error counts.
      seen.catch(() => undefined)
      return { service, user, seen }
    }),
  )
  return {
    async stop() {
      over.abort()
      for (const { service, user, seen } of following) {
        const { files, sequences } = await seen
        expect(sequences).toEqual(sequences.map((_, at) => (sequences[0] ?? 0) + at))
        expect(sequences.length).toBeGreaterThan(5)
        expect(files).toEqual((await list(service, user)).files)
      }
    },
  }
}

/** Until the signal aborts, and then to the end of what there is. */
async function follow(service: TestService, user: TestUser, signal: AbortSignal) {
  const listing = await list(service, user)
  const files = new Map(Object.entries(listing.files))
  const sequences: number[] = []
  let { cursor } = listing
  for (;;) {
    const isLast = signal.aborted
    const query = `cursor=${encodeURIComponent(cursor)}&wait=${isLast ? 0 : 1}&limit=1000`
    const page = (await get(service, user, `/users/me/changes?${query}`)) as unknown as ToldPage
    cursor = page.next_cursor
    for (const { sequence, type, name, version } of page.changes) {
      sequences.push(sequence)
      if (type === 'file.deleted') files.delete(name)
      else if (type.startsWith('file.')) files.set(name, version)
    }
    if (isLast && page.changes.length === 0) return { files: Object.fromEntries(files), sequences }
  }
}

interface Listing {
  readonly files: readonly Pick<ToldChange, 'name' | 'version'>[]
  readonly changes_cursor: string
}

async function list(
  service: TestService,
  user: TestUser,
): Promise<{ readonly files: Files; readonly cursor: string }> {
  const page = (await get(service, user, '/users/me/repo?limit=1000')) as unknown as Listing
  const files = Object.fromEntries(page.files.map(({ name, version }) => [name, version]))
  return { files, cursor: page.changes_cursor }
}

async function get(service: TestService, user: TestUser, path: string) {
  for (;;) {
    const reply = await ask(service, { user, path, timeoutMs: 30_000 })
    if (reply.status === 200) return jsonOf(reply)
    expect({ status: reply.status, body: reply.body.toString() }).toMatchObject({ status: 503 })
    await setTimeout(50)
  }
}
