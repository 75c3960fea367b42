import { join } from 'node:path'
import { type RawBuilder, sql } from 'kysely'
import { expect, test } from 'vitest'
import { createCompiler, type Slot } from '../../src/database/statement.ts'
import { openSqlite } from '../../src/database/sqlite/sqlite.ts'
import { temporaryFolder } from '../support/service/program.ts'

test('a statement is built at its first use only, and each use has its own values', async () => {
  await using opened = new AsyncDisposableStack()
  const file = join(await temporaryFolder(opened), 'compiler.db')
  const database = await openSqlite({ file })
  opened.defer(() => database.close())
  const compile = createCompiler(database.kysely, { one: sql`1` })
  let builds = 0
  const build = (
    slot: Slot<{ readonly value: number | null }>,
    { one }: { one: RawBuilder<unknown> },
  ) => {
    builds += 1
    return sql<{ sum: number | null }>`SELECT ${one} + ${slot('value')} AS sum`
  }
  const sums: unknown[] = []
  for (const value of [1, 2, null])
    sums.push(...(await database.kysely.executeQuery(compile(build)({ value }))).rows)
  expect(sums).toEqual([{ sum: 2 }, { sum: 3 }, { sum: null }])
  expect(builds).toBe(1)
  const other = (slot: Slot<{ readonly value: number }>) => sql`SELECT ${slot('value')} AS other`
  const { rows } = await database.kysely.executeQuery(compile(other)({ value: 4 }))
  expect(rows).toEqual([{ other: 4 }])
})

test('values are numbered if one occurs several times: SQLite searches those for each that is bound', async () => {
  await using opened = new AsyncDisposableStack()
  const file = join(await temporaryFolder(opened), 'compiler.db')
  const database = await openSqlite({ file })
  opened.defer(() => database.close())
  const compile = createCompiler(database.kysely, {})
  type Pair = Slot<{ readonly a: number; readonly b: number }>
  const once = (slot: Pair) => sql`SELECT ${slot('a')} - ${slot('b')} AS result`
  const twice = (slot: Pair) => sql`SELECT ${slot('a')} - ${slot('b')} - ${slot('a')} AS result`
  const all = [compile(once), compile(twice)].map((statement) => statement({ a: 7, b: 2 }))
  expect(all.map((each) => [each.sql, each.parameters])).toEqual([
    ['SELECT ? - ? AS result', [7, 2]],
    ['SELECT ?1 - ?2 - ?1 AS result', [7, 2]],
  ])
  const results = await Promise.all(all.map((each) => database.kysely.executeQuery(each)))
  expect(results.map(({ rows }) => rows)).toEqual([[{ result: 5 }], [{ result: -2 }]])
})
