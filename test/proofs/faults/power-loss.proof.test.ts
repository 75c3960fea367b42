import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createFilesystemStore } from '../../../src/object-store/filesystem/store.ts'
import { freshKey, never } from '../../support/objects.ts'
import { startDemo } from '../../support/service/demo.ts'
import { exitOf, temporaryFolder } from '../../support/service/program.ts'
import {
  missingStrace,
  readTrace,
  straceCommand,
  type SystemCall,
} from '../../support/faults/strace.ts'
import { isSkipped } from '../../support/servers/needs.ts'

const skipped = isSkipped(await missingStrace())

const WRITES = ['write', 'writev', 'pwrite64', 'pwritev', 'sendto', 'sendmsg']
const SYNCS = ['fsync', 'fdatasync']
const RENAMES = ['rename', 'renameat', 'renameat2']
const MKDIRS = ['mkdir', 'mkdirat']
const OTHERS = ['openat', 'symlink']

/** Bytes that requests put under one name: two in pieces, then one that is put as a whole. */
const SIZES = [300_000, 300_000, 4096]

describe.skipIf(skipped)('F07 an upload to the embedded default, seen by its system calls', () => {
  const opened = new AsyncDisposableStack()
  /** Those of the uploads to one name, and of its removal; each ends with its answer. */
  let requests: readonly (readonly SystemCall[])[]
  let all: readonly SystemCall[]
  let DATA_DIR: string
  let mainThread: number | undefined

  beforeAll(async () => {
    const folder = await temporaryFolder(opened)
    DATA_DIR = join(folder, 'made', 'data')
    const trace = join(folder, 'trace')
    const under = straceCommand(trace, [...WRITES, ...SYNCS, ...RENAMES, ...MKDIRS, ...OTHERS])
    const environment = { DATA_DIR, UV_USE_IO_URING: '0' }
    const { process, url, cookie } = await startDemo({ environment, under, opened })
    const file = `${url}/users/me/repo/kept.bin`
    for (const size of SIZES) {
      await fetch(file, { method: 'PUT', body: randomBytes(size), headers: { cookie } })
    }
    await fetch(file, { method: 'DELETE', headers: { cookie } })
    mainThread = process.pid
    process.kill('SIGTERM')
    await exitOf(process)
    all = await readTrace(trace)
    requests = splitAtAnswers(all)
    if (requests.length !== SIZES.length + 1)
      throw new Error(`${requests.length} requests succeeded`)
  })
  afterAll(() => opened.disposeAsync())

  it.each([
    ['a file of a new name', 0],
    ['a file of an existing name', 1],
  ])('writes %s, then syncs it, renames it, syncs its folder', (_name, at) => {
    const calls = requests[at] ?? []
    const folder = join(DATA_DIR, 'objects', 'users', 'demo')
    const isOf = ({ args }: SystemCall) => args.includes(`${folder}/`) && args.includes('.tmp>')
    const wrote = calls.filter((call) => WRITES.includes(call.name) && isOf(call))
    const synced = calls.filter((call) => SYNCS.includes(call.name) && isOf(call))
    const renamed = calls.filter(({ name }) => RENAMES.includes(name))
    const folderSynced = calls.filter((call) => isSyncOf(call, folder))
    expectOrder(wrote, synced)
    expectOrder(synced, renamed)
    expectOrder(renamed, folderSynced)
    expectOrder(folderSynced, committed(calls))
  })

  it('writes a small file to the log of the pack and syncs it, before the database commits', () => {
    const calls = requests[2] ?? []
    const ofPack = calls.filter(({ args }) => args.includes('pack.sqlite-wal>'))
    const wrote = ofPack.filter(({ name }) => WRITES.includes(name))
    const synced = ofPack.filter(({ name }) => SYNCS.includes(name))
    expectOrder(wrote.slice(-1), synced.slice(-1))
    expectOrder(synced, committed(calls))
    expect(calls.filter(({ name }) => RENAMES.includes(name))).toEqual([])
  })

  it.each([
    ['an upload', 0],
    ['an overwrite', 1],
    ['a small overwrite', 2],
    ['a removal', 3],
  ])('syncs what the database wrote for %s before its answer', (_name, at) => {
    const calls = requests[at] ?? []
    const answer = calls.slice(-1)
    expectOrder(
      calls.filter(({ name, args }) => WRITES.includes(name) && isWal(args)),
      committed(calls),
    )
    expectOrder(committed(calls), answer)
  })

  it('never makes the event loop wait for the disk', () => {
    const objects = join(DATA_DIR, 'objects')
    // Before the first request, the start makes the pack.
    const [first = [], ...others] = requests
    const calls = [
      ...first.filter(({ args }) => args.includes(join(objects, 'users'))),
      ...others
        .flat()
        .filter(({ name, args }) => args.includes(objects) && !(name === 'openat' && isPack(args))),
    ]
    // Each is a call that waits for a slow disk.
    const expected = ['openat', 'write', 'fsync', 'symlink', 'rename']
    expect(calls.map(({ name }) => name)).toEqual(expect.arrayContaining(expected))
    expect(calls.filter(({ thread }) => thread === mainThread)).toEqual([])
  })

  it('syncs the folder above a user only for the first upload', () => {
    const users = join(DATA_DIR, 'objects', 'users')
    const count = requests.map((calls) => calls.filter((call) => isSyncOf(call, users)).length)
    expect(count).toEqual([1, 0, 0, 0])
  })

  it('syncs the folder above every folder that it made before the first answer', () => {
    const [answer] = requests[0]?.slice(-1) ?? []
    const made = all
      .filter(({ name }) => MKDIRS.includes(name))
      .map(({ args, ended }) => ({ ended, path: /"([^"]+)"/.exec(args)?.[1] ?? '' }))
      .filter(({ path }) => path.startsWith(dirname(DATA_DIR)))
    expect(made.map(({ path }) => path)).toEqual([
      dirname(DATA_DIR),
      DATA_DIR,
      join(DATA_DIR, 'objects'),
      join(DATA_DIR, 'objects', 'users'),
      join(DATA_DIR, 'objects', 'users', 'demo'),
    ])
    for (const { path, ended } of made) {
      const synced = all.filter((call) => call.began > ended && isSyncOf(call, dirname(path)))
      expect({ path, synced: synced.some((call) => call.ended < (answer?.began ?? 0)) }).toEqual({
        path,
        synced: true,
      })
    }
  })
})

describe.skipIf(skipped)('F07 transactions at once on SQLite, seen by their system calls', () => {
  it('are synced together, before any of them is done', async () => {
    await using opened = new AsyncDisposableStack()
    const folder = await temporaryFolder(opened)
    const trace = join(folder, 'trace')
    const [command = '', ...under] = straceCommand(trace, [...WRITES, ...SYNCS])
    const program = [process.execPath, 'test/database/sqlite/writes-program.ts']
    const args = [...under, ...program, join(folder, 'database.sqlite')]
    await promisify(execFile)(command, args, { env: { UV_USE_IO_URING: '0' } })
    const calls = await readTrace(trace)
    const said = (what: string): number =>
      calls.findIndex(({ name, args }) => name === 'write' && args.includes(`"${what}\\n"`))
    const between = calls.slice(said('begin'), said('done') + 1)
    const logged = between.filter(({ args }) => isWal(args))
    const synced = logged.filter(({ name }) => SYNCS.includes(name))
    expect(synced).toHaveLength(1)
    expectOrder(
      logged.filter(({ name }) => WRITES.includes(name)),
      synced,
    )
    expectOrder(synced, between.slice(-1))
  })
})

describe.skipIf(skipped)('F07 a copy of the pack, seen by its system calls', () => {
  it('syncs its folder after it has removed the last journal, before it ends', async () => {
    await using opened = new AsyncDisposableStack()
    const folder = await temporaryFolder(opened)
    const [from, to, trace] = ['from', 'to', 'trace'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ]
    const store = createFilesystemStore({ directory: from })
    await store.prepare(never())
    await store.put({ key: freshKey(), body: Buffer.from('content'), signal: never() })
    await store.close()
    await mkdir(to)
    const [command = '', ...under] = straceCommand(trace, [...SYNCS, 'unlink', 'unlinkat'])
    const copy = join(to, 'pack.sqlite')
    const program = [
      process.execPath,
      'src/main.ts',
      'pack',
      'copy',
      join(from, 'pack.sqlite'),
      copy,
    ]
    const env = { DATA_DIR: folder, UV_USE_IO_URING: '0' }
    await promisify(execFile)(command, [...under, ...program], { env })
    const calls = await readTrace(trace)
    const ended = calls.filter(({ args }) => args.includes(`"${copy}-journal"`))
    expectOrder(ended, calls.filter((call) => isSyncOf(call, to)).slice(-1))
  })
})

/** The calls up to each answer that says success, its own write included. */
function splitAtAnswers(calls: readonly SystemCall[]): readonly (readonly SystemCall[])[] {
  const answers = calls.filter(
    ({ args }) => args.includes('<TCP') && /"HTTP\/1\.1 20[04] /.test(args),
  )
  return answers.map((answer, index) => {
    const after = answers[index - 1]?.ended ?? -1
    return calls.filter(({ began }) => began > after && began <= answer.began)
  })
}

/** The last sync of the database's log, which is that of the commit. */
function committed(calls: readonly SystemCall[]): readonly SystemCall[] {
  return calls.filter(({ name, args }) => SYNCS.includes(name) && isWal(args)).slice(-1)
}

/** Opening a database waits for no disk. */
function isPack(args: string): boolean {
  return args.includes('pack.sqlite')
}

function isWal(args: string): boolean {
  return args.includes('database.sqlite-wal>')
}

function isSyncOf({ name, args }: SystemCall, path: string): boolean {
  return SYNCS.includes(name) && args.endsWith(`<${path}>`)
}

/** Asserts that there are both, and that all of the first had ended when any of the second began. */
function expectOrder(first: readonly SystemCall[], second: readonly SystemCall[]): void {
  expect(first).not.toEqual([])
  expect(second).not.toEqual([])
  const ended = Math.max(...first.map((call) => call.ended))
  expect(ended).toBeLessThan(Math.min(...second.map(({ began }) => began)))
}
