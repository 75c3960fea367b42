import { AsyncLocalStorage } from 'node:async_hooks'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Kysely, sql, type Transaction } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { AppError } from '../../../src/core/errors.ts'
import type { Transact } from '../../../src/database/database.ts'
import { createGroupCommit } from '../../../src/database/sqlite/group-commit.ts'
import type { Tables } from '../../../src/database/schema.ts'
import { sqliteDialect, SqliteDriver } from '../../../src/database/sqlite/dialect.ts'
import { createFolder } from './harness.ts'

describe('group commit', () => {
  let folder: Awaited<ReturnType<typeof createFolder>>
  let connection: DatabaseSync
  let transact: Transact
  let kysely: Kysely<Tables>
  /** Statements that have run, and what the tests note between them. */
  let events: string[]

  beforeAll(async () => {
    folder = await createFolder()
  })
  afterAll(() => folder.remove())
  beforeEach(() => {
    events = []
    connection = new DatabaseSync(join(folder.path, `${crypto.randomUUID()}.db`))
    connection.exec(`
      CREATE TABLE parents (id text PRIMARY KEY);
      CREATE TABLE written (key text PRIMARY KEY, parent text REFERENCES parents (id))
    `)
    const driver = new SqliteDriver(connection)
    kysely = new Kysely<Tables>({
      dialect: sqliteDialect(driver),
      log: ({ query }) => void events.push(query.sql),
    })
    transact = createGroupCommit({
      kysely,
      execute: (statement) => driver.executeQuery(statement),
      isInTransaction: () => connection.isTransaction,
      writes: () => driver.writes,
    })
    return async () => {
      await kysely.destroy()
      connection.close()
    }
  })

  const written = (): unknown[] =>
    connection
      .prepare('SELECT key FROM written ORDER BY rowid')
      .all()
      .map(({ key }) => key)
  const put = async (tx: Transaction<Tables>, key: string): Promise<string> => {
    await sql`INSERT INTO written (key) VALUES (${key})`.execute(tx)
    return key
  }
  const commits = (): number => events.filter((event) => event === 'COMMIT').length

  it('has all transactions of one iteration of the event loop share a COMMIT, in their order', async () => {
    const keys = ['a', 'b', 'c', 'd']
    const answers = await Promise.all(keys.map((key) => transact((tx) => put(tx, key))))
    expect(answers).toEqual(keys)
    expect(written()).toEqual(keys)
    expect(commits()).toBe(1)
  })

  it('undoes only one that throws, also if it has joined one that was alone', async () => {
    const refusal = new AppError('not_found', 'It is not there.')
    const joining: Promise<unknown>[] = []
    const alone = transact(async (tx) => {
      // It runs once more without the one that is undone.
      if (joining.length === 0) {
        const joined = transact(async (its) => {
          await put(its, 'refused')
          throw refusal
        })
        joining.push(joined.catch((error: unknown) => error))
      }
      return await put(tx, 'alone')
    })
    expect(await alone).toBe('alone')
    expect(await Promise.all(joining)).toEqual([refusal])
    expect(written()).toEqual(['alone'])
    expect(commits()).toBe(1)
  })

  it('undoes one that throws, and only that one', async () => {
    const refusal = new AppError('not_found', 'It is not there.')
    const settled = await Promise.allSettled([
      transact((tx) => put(tx, 'before')),
      transact(async (tx) => {
        await put(tx, 'refused')
        throw refusal
      }),
      transact(async (tx) => {
        await put(tx, 'broken')
        await put(tx, 'before')
      }),
      transact((tx) => put(tx, 'after')),
    ])
    expect(settled).toMatchObject([
      { status: 'fulfilled' },
      { status: 'rejected', reason: refusal },
      { status: 'rejected', reason: { errcode: 1555 } },
      { status: 'fulfilled' },
    ])
    expect(written()).toEqual(['before', 'after'])
    expect(commits()).toBe(1)
  })

  it('makes savepoints only once one has thrown that had written', async () => {
    const refusing = (write: (tx: Transaction<Tables>) => Promise<unknown>) =>
      Promise.allSettled([
        transact((tx) => put(tx, `before-${events.length}`)),
        transact(async (tx) => {
          await write(tx)
          throw new AppError('not_found', 'It is not there.')
        }),
      ])
    const unchanged = sql`UPDATE written SET key = 'b' WHERE key = 'none'`
    await refusing((tx) => unchanged.execute(tx))
    await refusing((tx) => sql`${unchanged} RETURNING key`.execute(tx))
    await refusing((tx) => sql`SELECT key FROM written`.execute(tx))
    expect(events.filter((event) => event.startsWith('SAVEPOINT'))).toEqual([])
    expect(commits()).toBe(3)
    const key = sql`(SELECT MIN(key) FROM written)`
    await refusing((tx) => sql`DELETE FROM written WHERE key = ${key} RETURNING key`.execute(tx))
    expect(written()).toHaveLength(4)
    expect(commits()).toBe(4)
  })

  it('undoes one that throws alone', async () => {
    const refused = transact(async (tx) => {
      await put(tx, 'refused')
      throw new TypeError('a defect')
    })
    await expect(refused).rejects.toThrow(TypeError)
    expect(written()).toEqual([])
  })

  it('tells nobody anything before the COMMIT', async () => {
    await Promise.allSettled([
      transact((tx) => put(tx, 'a')).then(() => events.push('told')),
      transact(() => Promise.reject(new Error('refused'))).catch(() => events.push('told')),
      transact((tx) => put(tx, 'b')).then(() => events.push('told')),
    ])
    expect(events.slice(-4)).toEqual(['COMMIT', 'told', 'told', 'told'])
  })

  it('fails all with the error of a COMMIT that fails, those that had been refused too', async () => {
    connection.exec('PRAGMA foreign_keys = ON')
    const settled = await Promise.allSettled([
      transact((tx) => put(tx, 'a')),
      transact(() => Promise.reject(new AppError('not_found', 'It is not there.'))),
      transact(async (tx) => {
        await sql`PRAGMA defer_foreign_keys = ON`.execute(tx)
        await sql`INSERT INTO written (key, parent) VALUES ('b', 'nobody')`.execute(tx)
      }),
    ])
    const failed = { status: 'rejected', reason: { errcode: 787 } }
    expect(settled).toMatchObject([failed, failed, failed])
    expect(written()).toEqual([])
    expect(await transact((tx) => put(tx, 'next'))).toBe('next')
  })

  it('fails all that has run when the database itself rolls back, and then goes on', async () => {
    connection.exec(`INSERT INTO written (key) VALUES ('there')`)
    const settled = await Promise.allSettled([
      transact((tx) => put(tx, 'a')),
      transact((tx) => sql`INSERT OR ROLLBACK INTO written (key) VALUES ('there')`.execute(tx)),
      transact((tx) => put(tx, 'b')),
    ])
    const failed = { status: 'rejected', reason: { errcode: 1555 } }
    expect(settled).toMatchObject([failed, failed, { status: 'fulfilled' }])
    expect(written()).toEqual(['there', 'b'])
    expect(await transact((tx) => put(tx, 'next'))).toBe('next')
  })

  it('fails all when another connection holds the lock, and none has begun', async () => {
    connection.exec('PRAGMA journal_mode = wal')
    const holder = new DatabaseSync(connection.location() ?? '')
    holder.exec('BEGIN IMMEDIATE')
    const begun: string[] = []
    const settled = await Promise.allSettled(
      ['a', 'b'].map((key) => transact(async () => begun.push(key))),
    )
    holder.close()
    const busy = { status: 'rejected', reason: { errcode: 5 } }
    expect(settled).toMatchObject([busy, busy])
    expect(begun).toEqual([])
    expect(await transact((tx) => put(tx, 'next'))).toBe('next')
  })

  it('commits what is short before a long transaction of another user, which then pauses', async () => {
    // Each look at the clock takes a moment. By the machine's, other programs would count as work.
    let now = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 0.3))
    onTestFinished(() => clock.mockRestore())
    const work = (key: string, ms: number) => async (tx: Transaction<Tables>) => {
      now += ms
      await put(tx, key)
      return events.push(key)
    }
    await transact(work('first', 20), 'ann')
    const long = ['a1', 'a2'].map((key) => transact(work(key, 20), 'ann'))
    const short = ['b1', 'b2', 'b3'].map((key) => transact(work(key, 0), 'bob'))
    await Promise.all(short)
    const since = now
    await Promise.all([...long, transact(work('b4', 0), 'bob')])
    // 20 ms each, and three times as long between them.
    expect(now - since).toBeGreaterThan(95)
    expect(events.join(' ')).toMatch(/b1.*b2.*b3.*COMMIT.*a1.*COMMIT.*a2/)
  })

  it('takes at most 64 at a time, and lets what else waits have its turn between', async () => {
    const keys = Array.from({ length: 130 }, (_, index) => `key-${index}`)
    const all = Promise.all(keys.map((key) => transact((tx) => put(tx, key))))
    await new Promise(setImmediate)
    const seen = await sql<{ count: number }>`SELECT COUNT(*) AS count FROM written`.execute(kysely)
    expect(seen.rows).toEqual([{ count: 64 }])
    await all
    expect(written()).toEqual(keys)
    expect(commits()).toBe(3)
  })

  it('runs each in the asynchronous context of its caller', async () => {
    const context = new AsyncLocalStorage<string>()
    const seen = ['a', 'b'].map((name) =>
      context.run(name, () => transact(async () => context.getStore())),
    )
    expect(await Promise.all(seen)).toEqual(['a', 'b'])
  })
})
