import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openService, type Service } from '../../src/compose/compose.ts'
import { readConfig } from '../../src/config/config.ts'
import { parseUserId } from '../../src/core/users/user-id.ts'
import { accountOf, type Account } from '../core/ledger/fixture.ts'
import { callerNamed } from '../support/caller.ts'
import { temporaryFolder } from '../support/service/program.ts'
import { openTestRepository } from '../support/service/test-repository.ts'
import { openTestCore, RETENTION_MS, type TestCore } from '../support/service/test-core.ts'
import { DONE, runCommand } from './run-command.ts'

const ALICE = parseUserId('alice')

let core: TestCore
let account: Account

beforeEach(async () => {
  core = await openTestCore()
  await core.users.createUser(ALICE)
  const { ledger, userStore: users } = await open()
  account = accountOf({ ledger, users, ...(await callerNamed(core.users, ALICE)) })
})
afterEach(() => core[Symbol.asyncDispose]())

function open(): Promise<Service> {
  const config = readConfig({ BASE_CAPACITY: '4MiB', MIN_FREE_SPACE: '0' })
  return openService(config, { ...core, retentionMs: RETENTION_MS })
}

const run = (args: string) => runCommand(args, open)

async function names(args: string): Promise<unknown> {
  const { code, out } = await run(`${args} --json`)
  expect(code).toBe(0)
  const { prefixes = [], files } = JSON.parse(out) as Listed
  return [...prefixes, ...files.map(({ name }) => name)]
}

interface Listed {
  readonly prefixes?: readonly string[]
  readonly files: readonly { readonly name: string }[]
}

it('files list shows the files of a user, also of a suspended one, with units', async () => {
  const { file } = await account.put('a', 3 * 2 ** 19)
  await core.users.setUserStatus(ALICE, 'suspended')
  const { out, ...outcome } = await run('files list alice --json')
  expect(outcome).toEqual({ code: 0, err: '' })
  expect(JSON.parse(out)).toMatchObject({
    files: [{ name: 'a', size: 3 * 2 ** 19, version: file.version, expires_at: null }],
    next_cursor: null,
  })
  const at = new Date(file.updatedAt).toISOString()
  expect((await run('files list alice')).out).toBe(
    [
      `name  size     visibility  device_id  version                               updated_at                expires_at`,
      `a     1.5 MiB  private     -          ${file.version}  ${at}  -`,
    ].join('\n'),
  )
  expect(await run('files list nobody')).toMatchObject({ code: 1, out: '' })
})

it('files list goes on with a cursor, in any order', async () => {
  for (const [size, name] of ['a-1', 'a-2', 'b', 'c-1', 'd'].entries())
    await account.put(name, size)
  const rest = async (list: string, limit: number): Promise<unknown> => {
    const { err } = await run(`${list} --limit ${limit}`)
    return await names(`${list} ${err.replace(/^There are more; continue with /, '')}`)
  }
  expect(await rest('files list alice', 2)).toEqual(['b', 'c-1', 'd'])
  expect(await rest('files list alice --order=-name', 3)).toEqual(['a-2', 'a-1'])
  expect(await rest('files list alice --order=-size', 4)).toEqual(['a-1'])
  expect(await names('files list alice --prefix a --contains 2')).toEqual(['a-2'])
  const rolledUp = 'files list alice --delimiter -'
  expect(await names(rolledUp)).toEqual(['a-', 'c-', 'b', 'd'])
  expect(await rest(rolledUp, 1)).toEqual(['c-', 'b', 'd'])
  expect((await run(rolledUp)).out).toMatch(/^name .*\na- {4}- .*\nc- {4}- .*\nb +2 B .*\nd +4 B /)
})

it('files delete removes a file, once', async () => {
  await account.put('a', 1)
  await core.users.setUserStatus(ALICE, 'suspended')
  expect(await run('files delete alice a')).toEqual(DONE)
  expect(await run('files delete alice a')).toMatchObject({ code: 1, out: '' })
  expect(await names('files list alice')).toEqual([])
  expect((await run('files delete alice a//b')).err).toMatch(/^invalid_file_name: /)
})

it('files commands take paths, and show folders', async () => {
  const day = 'camera-17/2026-11-28'
  for (const name of [`${day}/120000.jpg`, `${day}/50% a?b#c.jpg`, 'camera-17/new.jpg', 'camera 1'])
    await account.put(name, 2)
  await account.put('camera-17/', 0)
  const listing = 'files list alice --prefix camera-17/ --delimiter /'
  expect(await names(listing)).toEqual([`${day}/`, 'camera-17/', 'camera-17/new.jpg'])
  expect((await run(listing)).out).toMatch(/^camera-17\/2026-11-28\/ +- +- .*\ncamera-17\/ +0 B/m)
  const withTotals = `${listing} --folder-totals`
  expect((await run(withTotals)).out).toMatch(
    /^camera-17\/2026-11-28\/ +4 B +- .*\ncamera-17\/ +0 B/m,
  )
  const { out } = await run(`${withTotals} --json`)
  expect(JSON.parse(out)).toMatchObject({
    folders: [{ prefix: `${day}/`, file_count: 2, size: 4 }],
  })
  for (const name of [`${day}/120000.jpg`, `${day}/50% a?b#c.jpg`, 'camera-17/'])
    expect(await runCommand(['files', 'delete', 'alice', name], open)).toEqual(DONE)
  expect(await names('files list alice')).toEqual(['camera 1', 'camera-17/new.jpg'])
  for (const name of ['camera-17/../camera 1', './camera 1', '/camera 1', 'camera-17/new.jpg/.']) {
    const { code, err } = await runCommand(['files', 'delete', 'alice', name], open)
    expect(code).toBe(1)
    expect(err).toMatch(/^invalid_file_name: /)
  }
  expect(await names('files list alice')).toHaveLength(2)
})

it('files archive writes a new file, with what begins so, also of a suspended user', async () => {
  const { upload } = await openTestRepository(core)
  await upload('a-1', 'hello')
  await upload('b', 'world')
  await core.users.setUserStatus(ALICE, 'suspended')
  await using opened = new AsyncDisposableStack()
  const folder = await temporaryFolder(opened)
  const file = join(folder, 'a.zip')
  const { out, ...outcome } = await run(`files archive alice ${file} --prefix a --json`)
  expect(outcome).toEqual({ code: 0, err: '' })
  const archive = await readFile(file)
  expect(JSON.parse(out)).toEqual({ file, files: 1, bytes: archive.length })
  expect(archive.includes('hello')).toBe(true)
  expect(archive.includes('world')).toBe(false)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const [action] = await core.ledger.listOperatorActions({
    operator: undefined,
    userId: ALICE,
    after: undefined,
    limit: 1,
  })
  expect(action).toMatchObject({ action: 'files.archive', details: { files: 1 } })
  expect(await run(`files archive alice ${file}`)).toMatchObject({ code: 1 })
  expect(await readFile(file)).toEqual(archive)
})

it('files archive leaves no file of an archive that fails', async () => {
  await using opened = new AsyncDisposableStack()
  const folder = await temporaryFolder(opened)
  const refused = await run(`files archive bob ${join(folder, 'b.zip')}`)
  expect(refused).toMatchObject({ code: 1, out: '' })
  expect(refused.err).toMatch(/^not_found: /)
  // Its object does not exist.
  await account.put('a', 3)
  expect(await run(`files archive alice ${join(folder, 'a.zip')}`)).toMatchObject({ code: 1 })
  expect(await readdir(folder)).toEqual([])
})

it('overview shows all figures, with units or as JSON as the admin API has them', async () => {
  await account.put('a', 3 * 2 ** 20)
  const { today } = await core.ledger.listDailyUsage(1)
  await core.ledger.recordDailyUsage({
    usage: { day: today, users: 1, files: 2, used: 2 ** 30 },
    keptDays: 400,
  })
  const { out, ...outcome } = await run('overview')
  expect(outcome).toEqual({ code: 0, err: '' })
  expect(out).toMatch(/^version +\d+\.\d+\.\d+$/m)
  expect(out).toMatch(/^used +3 MiB$/m)
  expect(out).toMatch(/^parked_webhooks +-$/m)
  expect(out).toMatch(/^alice +active +3 MiB +4 MiB +75 % +1$/m)
  expect(out).toMatch(/^\d{4}-\d\d-\d\d +1 +2 +1 GiB$/m)
  expect(JSON.parse((await run('overview --json')).out)).toMatchObject({
    users: { active: 1, suspended: 0, deleted: 0 },
    used: 3 * 2 ** 20,
    fullest: [{ user_id: 'alice', capacity: { capacity: 4 * 2 ** 20 } }],
    growth: [{ users: 1, files: 2, used: 2 ** 30 }],
  })
})
