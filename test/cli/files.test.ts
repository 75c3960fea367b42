import { afterEach, beforeEach, expect, it } from 'vitest'
import { openService, type Service } from '../../src/compose/compose.ts'
import { readConfig } from '../../src/config/config.ts'
import { parseUserId } from '../../src/core/users/user-id.ts'
import { accountOf, type Account } from '../core/ledger/fixture.ts'
import { callerNamed } from '../support/caller.ts'
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
  return (JSON.parse(out) as { readonly file_name: string }[]).map(({ file_name }) => file_name)
}

it('files list shows the files of a user, also of a suspended one, with units', async () => {
  const { file } = await account.put('a', 3 * 2 ** 19)
  await core.users.setUserStatus(ALICE, 'suspended')
  const json = await run('files list alice --json')
  expect({ ...json, out: JSON.parse(json.out) as unknown }).toEqual({
    code: 0,
    err: '',
    out: [
      {
        file_name: 'a',
        size: 3 * 2 ** 19,
        visibility: file.visibility,
        version: file.version,
        updated_at: new Date(file.updatedAt).toISOString(),
        expires_at: null,
      },
    ],
  })
  expect((await run('files list alice')).out).toContain('  1.5 MiB  ')
  expect(await run('files list nobody')).toMatchObject({ code: 1, out: '' })
})

it('files list goes on by name, and says how', async () => {
  for (const [size, name] of ['a-1', 'a-2', 'b', 'c-1', 'd'].entries())
    await account.put(name, size)
  expect(await run('files list alice --limit 2')).toMatchObject({
    err: 'There are more files; continue with --after a-2',
  })
  expect(await names('files list alice --after a-2')).toEqual(['b', 'c-1', 'd'])
  expect(await names('files list alice --order=-name --after b')).toEqual(['a-2', 'a-1'])
  expect(await names('files list alice --prefix a --contains 2')).toEqual(['a-2'])
  const rolledUp = 'files list alice --delimiter -'
  expect(await names(rolledUp)).toEqual(['a-', 'c-', 'b', 'd'])
  expect((await run(`${rolledUp} --limit 1`)).err).toContain('continue with --after a-')
  expect(await names(`${rolledUp} --after a-`)).toEqual(['c-', 'b', 'd'])
  const bySize = await run('files list alice --order=-size --limit 1')
  expect(bySize).toMatchObject({ out: expect.stringContaining('4 B') as string })
  expect(bySize.err).toContain('or list them by name')
})

it.each([
  ['--order colour', 'order must be one of name, -name'],
  ['--order size --after a', 'after needs an order by name'],
  ['--order size --delimiter -', 'ordered by name'],
  ['--after a/b', 'contains a slash'],
  ['--limit 0', 'limit must be'],
])('files list refuses %s', async (flags, message) => {
  const refused = await run(`files list alice ${flags}`)
  expect(refused).toMatchObject({ code: 1, out: '' })
  expect(refused.err).toContain(message)
})

it('files delete removes a file, once', async () => {
  await account.put('a', 1)
  await core.users.setUserStatus(ALICE, 'suspended')
  expect(await run('files delete alice a')).toEqual(DONE)
  expect(await run('files delete alice a')).toMatchObject({ code: 1, out: '' })
  expect(await names('files list alice')).toEqual([])
  expect((await run('files delete alice a/b')).err).toMatch(/^invalid_file_name: /)
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
