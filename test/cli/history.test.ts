import { afterEach, beforeEach, expect, it } from 'vitest'
import { openService, type Service } from '../../src/compose/compose.ts'
import { readConfig } from '../../src/config/config.ts'
import { parseUserId } from '../../src/core/users/user-id.ts'
import { accountOf, type Account } from '../core/ledger/fixture.ts'
import { callerNamed } from '../support/caller.ts'
import { openTestCore, RETENTION_MS, type TestCore } from '../support/service/test-core.ts'
import { runCommand } from './run-command.ts'

const ALICE = parseUserId('alice')
const UNKNOWN = '019ab1c2-7d3e-7c41-9a55-0f6d1b2c3d4e'

let core: TestCore
let account: Account
let service: Service

beforeEach(async () => {
  core = await openTestCore()
  await core.users.createUser(ALICE)
  service = await open()
  const { ledger, userStore: users } = service
  account = accountOf({ ledger, users, ...(await callerNamed(core.users, ALICE)) })
})
afterEach(() => core[Symbol.asyncDispose]())

function open(): Promise<Service> {
  const config = readConfig({ BASE_CAPACITY: '1000', MIN_FREE_SPACE: '0' })
  return openService(config, { ...core, retentionMs: RETENTION_MS })
}

const run = (args: string) => runCommand(args, open)

it('history list shows what was replaced and deleted, newest end first', async () => {
  const { file: first } = await account.put('a', 1)
  const { file: second } = await account.put('a', 2)
  await account.remove('a')
  const { code, out, err } = await run('history list alice --json')
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(JSON.parse(out)).toMatchObject({
    versions: [
      { version: second.version, name: 'a', size: 2, ended_as: 'deleted' },
      { version: first.version, name: 'a', size: 1, ended_as: 'replaced' },
    ],
  })
  const limited = await run('history list alice --limit 1')
  expect(limited.err).toContain('There are more;')
  expect((await run('history list alice --name b')).out).not.toContain(first.version)
  const { file: below } = await account.put('photos/2026/b', 1)
  await account.remove('photos/2026/b')
  const inFolder = await run('history list alice --prefix photos/ --json')
  expect(JSON.parse(inFolder.out)).toMatchObject({ versions: [{ version: below.version }] })
})

it('history restore makes a version current again, and says why it does not', async () => {
  const { file } = await account.put('a', 1)
  await account.put('a', 2)
  const taken = await run(`history restore alice ${file.version}`)
  expect(taken).toMatchObject({ code: 1, err: expect.stringContaining('already exists') as string })
  const beside = await run(`history restore alice ${file.version} --name old/2026/b`)
  expect(beside.code).toBe(0)
  expect(await account.size('old/2026/b')).toBe(1)
  expect(await run(`history restore alice ${UNKNOWN}`)).toMatchObject({ code: 1 })
  expect(await run('history restore alice nonsense')).toMatchObject({
    code: 1,
    err: expect.stringContaining('version is not valid') as string,
  })
})
