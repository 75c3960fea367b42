import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openService, type Service } from '../../src/compose/compose.ts'
import { ConfigError, readConfig } from '../../src/config/config.ts'
import { parseClientAddress } from '../../src/core/auth/client-address.ts'
import { parseUserId } from '../../src/core/users/user-id.ts'
import { outage } from '../support/faults/faults.ts'
import {
  GARBAGE_DELAY_MS,
  openTestCore,
  RETENTION_MS,
  type TestCore,
} from '../support/service/test-core.ts'
import { openTestRepository } from '../support/service/test-repository.ts'
import { DONE, type Outcome, runCommand, type Services } from './run-command.ts'

const TIME: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const UUID: unknown = expect.stringMatching(/^[0-9a-f-]{36}$/)
const SECRET: unknown = expect.stringMatching(/^crt_.{43}$/)

let core: TestCore
let opened: number
let closed: number

beforeEach(async () => {
  core = await openTestCore()
  opened = 0
  closed = 0
})
afterEach(() => core[Symbol.asyncDispose]())

const SETTINGS = {
  BASE_CAPACITY: '1000',
  DEVICE_CAPACITY: '100',
  DEVICE_MODELS: '{"camera": 200}',
}

async function open(): Promise<Service> {
  opened += 1
  const service = await openService(readConfig(SETTINGS), { ...core, retentionMs: RETENTION_MS })
  const close = async (): Promise<void> => {
    closed += 1
    await service.close()
  }
  return { ...service, close }
}

async function run(
  args: string | readonly string[],
  opening: () => Promise<Services> = open,
): Promise<Outcome> {
  const outcome = await runCommand(args, opening)
  expect(closed).toBe(opened)
  return outcome
}

/** The result of a command that succeeds, as programs read it. */
async function json(args: string): Promise<unknown> {
  const { code, out, err } = await run(`${args} --json`)
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return JSON.parse(out)
}

describe('users', () => {
  it('create makes a user, and finds it the next time', async () => {
    const made = await json('users create alice')
    expect(made).toEqual({
      user_id: 'alice',
      status: 'active',
      created_at: TIME,
      capacity: {
        capacity: 1000,
        used: 0,
        reserved: 0,
        available: 1000,
        file_count: 0,
        state: 'normal',
      },
    })
    expect(await json('users create alice')).toEqual(made)
  })

  it('create makes up an id when none is given', async () => {
    expect(await json('users create')).toMatchObject({
      user_id: UUID,
    })
  })

  it('list goes in the order of ids, page by page', async () => {
    for (const id of ['b', 'a', 'c']) await run(`users create ${id}`)
    const first = await run('users list --limit 2 --json')
    const page = JSON.parse(first.out) as { readonly next_cursor: string }
    expect(page).toMatchObject({ users: [{ user_id: 'a' }, { user_id: 'b' }] })
    expect(await run('users list --limit 2')).toMatchObject({
      code: 0,
      err: `There are more; continue with --cursor ${page.next_cursor}`,
    })
    expect(await json(`users list --cursor ${page.next_cursor}`)).toMatchObject({
      users: [{ user_id: 'c' }],
      next_cursor: null,
    })
    await run('devices add b cam --model camera')
    expect(await json('users list')).toMatchObject({
      users: [
        { user_id: 'a', capacity: { capacity: 1000 } },
        { user_id: 'b', capacity: { capacity: 1200 } },
        { user_id: 'c', capacity: { capacity: 1000 } },
      ],
    })
  })

  it('show tells the use of the capacity', async () => {
    const { upload } = await openTestRepository(core)
    await upload('a', 'hello')
    expect(await json('users show alice')).toMatchObject({
      user_id: 'alice',
      capacity: { capacity: 1000, used: 5, reserved: 0, available: 995, file_count: 1 },
    })
  })

  it('suspend and activate change the status', async () => {
    await run('users create alice')
    expect(await json('users suspend alice')).toMatchObject({ status: 'suspended' })
    expect(await json('users activate alice')).toMatchObject({ status: 'active' })
  })

  it('delete says nothing, and the user is shown as deleted until it is purged', async () => {
    const { upload } = await openTestRepository(core)
    await upload('a', 'hello')
    expect(await run('users delete alice')).toEqual(DONE)
    const left = { status: 'deleted', capacity: { used: 5, file_count: 1 } }
    expect(await json('users show alice')).toMatchObject(left)
    expect((await run('users create alice')).err).toMatch(/^user_exists: /)
    await run('sweep')
    expect((await run('users show alice')).err).toMatch(/^not_found: /)
    expect(await run('users delete alice')).toMatchObject({ code: 1 })
    expect(await json('users create alice')).toMatchObject({
      status: 'active',
      capacity: { used: 0 },
    })
  })
})

describe('webhooks', () => {
  it('parked lists none, retry and discard need one that is parked', async () => {
    expect(await json('webhooks parked')).toEqual({ webhooks: [], next_cursor: null })
    const none = `msg_${'0'.repeat(32)}`
    expect((await run(`webhooks retry ${none}`)).err).toMatch(/^not_found: /)
    expect(await run(`webhooks discard ${none}`)).toEqual(DONE)
  })
})

describe('operators', () => {
  it('add shows the token this once, and list and show do not', async () => {
    const added = await json('operators add dana --role support')
    const dana = { name: 'dana', role: 'support', created_at: TIME }
    expect(added).toEqual({ ...dana, token: expect.stringMatching(/^cro_.{43}$/) as string })
    await json('operators add ben --role viewer')
    const ben = { name: 'ben', role: 'viewer', created_at: TIME }
    expect(await json('operators list')).toEqual({ operators: [ben, dana], next_cursor: null })
    expect(await json('operators show dana')).toEqual(dana)
    expect((await run('operators list')).out).toMatch(/^name +role +created_at\nben .*\ndana /)
    expect((await run('operators add eve --role admin')).out).toMatch(/token +cro_/)
    const { token } = added as { readonly token: string }
    const service = await open()
    expect(await service.operators.findByToken(token, parseClientAddress('::1'))).toMatchObject({
      name: 'dana',
    })
    await service.close()
  })

  it('remove ends one, and fails for another', async () => {
    await json('operators add dana --role viewer')
    expect(await run('operators remove dana')).toEqual(DONE)
    for (const args of ['operators remove dana', 'operators show dana']) {
      expect(await run(args)).toMatchObject({
        code: 1,
        err: expect.stringMatching(/^not_found: /) as string,
      })
    }
  })

  it.each([
    ['operators add dana', 2],
    ['operators add dana --role', 2],
    ['operators add --role viewer', 2],
    ['operators add dana --role owner', 1],
    ['operators add Dana --role viewer', 1],
    ['operators remove', 2],
  ])('%s is refused', async (args, code) => {
    expect(await run(args)).toMatchObject({ code, out: '' })
    expect(await json('operators list')).toEqual({ operators: [], next_cursor: null })
  })
})

describe('tokens', () => {
  beforeEach(() => run('users create alice'))

  it('issue shows the secret this once', async () => {
    const issued = await json('tokens issue alice --label phone --expires-in 60')
    expect(issued).toMatchObject({
      access_token: SECRET,
      label: 'phone',
      expires_at: new Date(core.clock.now + 60_000).toISOString(),
    })
    const listed = await json('tokens list alice')
    expect(listed).toMatchObject({ access_tokens: [{ label: 'phone' }] })
    expect(JSON.stringify(listed)).not.toContain('crt_')
  })

  it('issue gives a token that works, without a label or an end', async () => {
    const issued = await json('tokens issue alice')
    expect(issued).toMatchObject({ label: '', expires_at: null })
    const { access_token } = issued as { access_token: string }
    const { accessTokens } = await open().finally(() => (closed += 1))
    expect(await accessTokens.verify(access_token)).toMatchObject({ userId: 'alice' })
  })

  it('list shows when a token was last used', async () => {
    const { access_token } = (await json('tokens issue alice')) as { access_token: string }
    const { accessTokens } = await open().finally(() => (closed += 1))
    await accessTokens.verify(access_token)
    await accessTokens.recordUses()
    const { access_tokens: tokens } = (await json('tokens list alice')) as {
      readonly access_tokens: readonly { readonly last_used_at: string }[]
    }
    const [listed] = tokens
    // How long ago that was is told by a clock that goes on while the database's stands still.
    const agoMs = core.clock.now - Date.parse(listed?.last_used_at ?? '')
    expect(agoMs).toBeGreaterThanOrEqual(0)
    expect(agoMs).toBeLessThan(10_000)
  })

  it('revoke says nothing, and list shows since when', async () => {
    const { token_id } = (await json('tokens issue alice')) as { token_id: string }
    expect(await run(`tokens revoke alice ${token_id}`)).toEqual(DONE)
    expect(await json('tokens list alice')).toMatchObject({
      access_tokens: [{ revoked_at: TIME }],
    })
  })

  it.each([
    ['90min', 90 * 60],
    ['12h', 12 * 3600],
    ['7d', 7 * 24 * 3600],
    ['86400', 86_400],
  ])('issue lets a token expire in %s', async (duration, seconds) => {
    expect(await json(`tokens issue alice --expires-in ${duration}`)).toMatchObject({
      expires_at: new Date(core.clock.now + seconds * 1000).toISOString(),
    })
  })

  it('issue narrows what a token permits, and list shows it', async () => {
    await run('devices add alice camera')
    const scope = { actions: ['read', 'create'], prefix: 'camera-17/', device_id: 'camera' }
    const flags = '--actions create,read --prefix camera-17/ --device camera'
    expect(await json(`tokens issue alice ${flags}`)).toMatchObject({ scope })
    expect(await json('tokens issue alice')).toMatchObject({ scope: null })
    const { out } = await run('tokens list alice')
    expect(out).toMatch(/ actions +prefix +device_id +when_full /)
    expect(out).toMatch(/ read,create +camera-17\/ +camera +refuse /)
    expect(out).toMatch(/ all +- +- +refuse /)
  })

  it.each([
    ['--actions write', /^invalid_parameter: scope\/actions\/0 must be one of read, create/],
    ['--prefix a//b', /^invalid_parameter: scope\/prefix is not valid/],
    ['--device none', /^not_found: .*no device/],
  ])('issue refuses %s', async (flags, message) => {
    const { code, err } = await run(`tokens issue alice ${flags}`)
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(message) as string })
  })

  it('issue says how to write a duration', async () => {
    const { err } = await run('tokens issue alice --expires-in 7days')
    expect(err).toContain('such as 90min, 24h or 7d, or a number of seconds')
  })

  it.each(['x', '-1', '0', '1.5', '0d', '7m', '1000000d'])(
    'issue refuses to expire in %j seconds',
    async (seconds) => {
      const { code, err } = await run(['tokens', 'issue', 'alice', `--expires-in=${seconds}`])
      expect(code).toBe(1)
      expect(err).toMatch(/^invalid_parameter: /)
    },
  )
})

describe('devices', () => {
  beforeEach(() => run('users create alice'))

  it('add lets a device count by its model or its own bytes, and once', async () => {
    expect(await json('devices add alice cam --model camera')).toMatchObject({
      device_id: 'cam',
      model: 'camera',
      bytes: 200,
    })
    await run('devices add alice cam --model camera')
    await run('devices add alice nas --bytes 1KiB')
    expect(await json('users show alice')).toMatchObject({ capacity: { capacity: 2224 } })
  })

  it('add gives a device a label and a share, which list shows', async () => {
    const words = ['devices', 'add', 'alice', 'cam', '--label', 'Front door', '--share', '1KiB']
    const { out } = await run(words)
    expect(out).toMatch(/^label {7}Front door$/m)
    expect(out).toMatch(/^share {7}1 KiB$/m)
    await run('devices add alice nas --share own')
    expect(await json('devices list alice')).toMatchObject({
      devices: [
        { label: 'Front door', share: 1024 },
        { label: null, share: 'own' },
      ],
    })
    const { err } = await run('devices add alice cam --share half')
    expect(err).toBe(
      'invalid_parameter: "half" is not a share. Use all, own, or a size such as 20GiB.',
    )
  })

  it('users show has a table of what their files take', async () => {
    expect((await run('users show alice')).out).not.toContain('devices')
    await run('devices add alice cam --share own')
    await run('devices add alice nas')
    const { upload } = await openTestRepository(core)
    await upload('a', 'hello')
    const { out } = await run('users show alice')
    expect(out).toMatch(/\nstate {7}normal\n\ndevices\ndevice_id {2}label {2}model {2}bytes /)
    expect(out).toMatch(/\ncam +- +- +100 B +own +0 B +0 B +0 +-\nnas +- +- +100 B +all +0 B /)
    expect(await json('users show alice')).toMatchObject({
      devices: [{ device_id: 'cam', share: 'own', used: 0 }, { device_id: 'nas' }],
    })
  })

  it('remove says nothing, and the device is gone from the list', async () => {
    await run('devices add alice a')
    await run('devices add alice b')
    expect(await run('devices remove alice a')).toEqual(DONE)
    expect(await json('devices list alice')).toMatchObject({
      devices: [{ device_id: 'b', model: null, bytes: 100 }],
    })
  })
})

describe('grants', () => {
  beforeEach(() => run('users create alice'))

  it('add grants bytes for a period', async () => {
    const period = '--starts-at 2027-01-01T00:00:00Z --ends-at 2027-07-01T02:00:00+02:00'
    expect(await json(`grants add alice promotion spring --bytes 2KB ${period}`)).toMatchObject({
      source: 'promotion',
      reference: 'spring',
      bytes: 2000,
      starts_at: '2027-01-01T00:00:00.000Z',
      ends_at: '2027-07-01T00:00:00.000Z',
    })
  })

  it('list shows devices too, and revoke takes a grant away', async () => {
    await run('grants add alice gift 1 --bytes 5')
    await run('devices add alice cam')
    expect(await json('grants list alice')).toMatchObject({
      grants: [{ source: 'device' }, { source: 'gift' }],
    })
    expect(await run('grants revoke alice gift 1')).toEqual(DONE)
    expect(await json('grants list alice')).toMatchObject({ grants: [{ source: 'device' }] })
  })
})

describe('operations', () => {
  it('sweep reports what it did', async () => {
    expect(await json('sweep')).toEqual({
      end: 'complete',
      expired_uploads: 0,
      removed_objects: 0,
      failed_removals: 0,
      forgotten_uploads: 0,
      purged_rows: 0,
    })
  })

  it('sweep waits for one of another instance, says so, and then sweeps', async () => {
    const claim = { name: 'sweep', holder: 'another' } as const
    await core.ledger.acquireLeaderLease({ ...claim, leaseMs: 60_000 })
    const { upload } = await openTestRepository(core)
    await upload('a', 'old')
    await upload('a', 'new')
    const services = async (): Promise<Service> => {
      const opened = await open()
      const sweep: Service['sweeper']['sweep'] = ({ onWait, ...request }) =>
        opened.sweeper.sweep({
          ...request,
          onWait: () => {
            onWait?.()
            // That the other has died is known when its lease has ended.
            core.clock.now += GARBAGE_DELAY_MS
          },
        })
      return { ...opened, sweeper: { ...opened.sweeper, sweep } }
    }
    const { code, out, err } = await run('sweep --json', services)
    expect({ code, err }).toEqual({
      code: 0,
      err: 'Another instance is sweeping. Waiting for it to finish.',
    })
    expect(JSON.parse(out)).toMatchObject({ end: 'complete', removed_objects: 1 })
  })

  it('sweep fails when the object store does', async () => {
    const services = async (): Promise<Service> => {
      const opened = await open()
      const sweep: Service['sweeper']['sweep'] = async (request) => {
        return { ...(await opened.sweeper.sweep(request)), failedRemovals: 64, end: 'gave_up' }
      }
      return { ...opened, sweeper: { ...opened.sweeper, sweep } }
    }
    const { code, out } = await run('sweep --json', services)
    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({ end: 'gave_up', failed_removals: 64 })
  })

  it('migrate opens the services, which is all there is to do', async () => {
    expect(await run('migrate')).toEqual(DONE)
    expect(opened).toBe(1)
  })
})

describe('the output', () => {
  it('output for people is a line a member, or a table', async () => {
    await run('users create alice')
    await run('devices add alice cam --model camera')
    const [shown, listed] = [await run('users show alice'), await run('devices list alice')]
    expect(shown.out).toMatch(/^user_id {5}alice\nstatus {6}active\n/)
    expect(shown.out).toMatch(/\ncapacity {4}1.17 KiB\nused {8}0 B\n/)
    expect(shown.out).toMatch(
      /\navailable {3}1.17 KiB\nfile_count {2}0\nstate {7}normal\n\ndevices\n/,
    )
    expect(listed.out).toMatch(
      /^device_id {2}label {2}model {3}bytes {2}share {2}created_at\ncam {8}- {6}camera {2}200 B {2}all {4}\d{4}/,
    )
  })

  it('says when a list is empty, and is still JSON with --json', async () => {
    expect(await run('users list')).toEqual({ ...DONE, out: '(none)' })
    expect(await json('users list')).toEqual({ users: [], next_cursor: null })
  })
})

describe('exit code 2, without opening anything, for', () => {
  it.each([
    [
      'an unknown command',
      'users rename a b',
      new RegExp(
        '^Unknown command "users rename"\\.\n(usage: cloud-repo users .*\n){6}"cloud-repo --help" ',
      ),
    ],
    ['half a command', 'users', /^Unknown command "users"\.\n(usage: cloud-repo users .*\n){6}"/],
    ['a similar group', 'token list a', /^Unknown .*\n(usage: cloud-repo tokens .*\n){3}"/],
    ['a misspelt command', 'backups a', /^Unknown .*\nusage: cloud-repo backup <directory> .*\n"/],
    [
      'an unknown group',
      'frobnicate',
      /^Unknown .*\nserve, doctor, users, tokens, devices, grants, files, uploads, history, links, webhooks, overview, operators, audit, sweep, .*\n".*"/,
    ],
    ['a missing operand', 'users show', /^usage: cloud-repo users show <user_id>$/],
    ['an operand too many', 'users create a b', /^usage: cloud-repo users create \[user_id\]$/],
    ['an unknown flag', 'users list --all', /--all[^]*\nusage: cloud-repo users list /],
    ['a flag of another command', 'users list --model x', /--model[^]*\nusage: /],
    ['a flag without its value', 'users list --limit', /--limit[^]*\nusage: /],
    ['a value for a switch', 'users list --json=5', /--json[^]*\nusage: /],
    ['an operand without a letter', 'backup ', /^usage: cloud-repo backup <directory> /],
    [
      'a value without a letter',
      'tokens issue alice --prefix=',
      /^usage: cloud-repo tokens issue /,
    ],
    [
      'a grant without bytes',
      'grants add alice gift 1',
      /\nusage: cloud-repo grants add |^usage: /,
    ],
  ])('%s', async (_, args, message) => {
    const { code, out, err } = await run(args)
    expect(err).toMatch(message)
    expect({ code, out, opened }).toEqual({ code: 2, out: '', opened: 0 })
  })
})

describe('exit code 1 for', () => {
  it.each([
    ['an unknown user', 'users show bob', /^not_found: /],
    ['a user id that is none', 'users create me', /^invalid_parameter: /],
    ['an unknown token', 'tokens revoke bob x', /^not_found: /],
    ['an id that no path can have', 'devices remove bob ..', /^invalid_parameter: device_id /],
    ['a prefix that no user id has', 'users list --prefix a/', /^invalid_parameter: prefix /],
    ['a limit out of range', 'users list --limit 1001', /^invalid_parameter: limit /],
    [
      'a time that is none',
      'grants add bob gift 1 --bytes 5 --ends-at tomorrow',
      /^invalid_parameter: ends_at /,
    ],
    ['a size that is none', 'devices add alice a --bytes much', /^invalid_parameter: /],
    ['a reserved source', 'grants add alice device a --bytes 5', /^invalid_parameter: source /],
  ])('%s', async (_, args, message) => {
    const { code, out, err } = await run(args)
    expect(err).toMatch(message)
    expect({ code, out }).toEqual({ code: 1, out: '' })
  })

  it('settings that are wrong, listed', async () => {
    const refuse = (): Promise<Services> =>
      Promise.reject(new ConfigError(['PORT: must be a port']))
    const { code, err } = await run('sweep', refuse)
    expect(code).toBe(1)
    expect(err).toBe('Invalid settings:\n  PORT: must be a port')
  })

  it('a database that fails, with what it said, and closes the services', async () => {
    const failing = async (): Promise<Service> => {
      const services = await open()
      const find = async (): Promise<never> => {
        throw Object.assign(outage(), { cause: new Error('disk I/O error') })
      }
      return { ...services, users: { ...services.users, find } }
    }
    await core.users.createUser(parseUserId('alice'))
    const { code, err } = await run('users show alice', failing)
    expect(code).toBe(1)
    expect(err).toBe('unavailable: An injected fault. (disk I/O error)')
  })
})
