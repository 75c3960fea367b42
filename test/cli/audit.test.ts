import { afterEach, beforeEach, expect, it } from 'vitest'
import { openService, type Overrides } from '../../src/compose/compose.ts'
import { readConfig } from '../../src/config/config.ts'
import { outage } from '../support/faults/faults.ts'
import { openTestCore, RETENTION_MS, type TestCore } from '../support/service/test-core.ts'
import { runCommand, type Services } from './run-command.ts'

let core: TestCore
beforeEach(async () => {
  core = await openTestCore()
})
afterEach(() => core[Symbol.asyncDispose]())

const open = (overrides: Overrides = {}) =>
  openService(readConfig({ MIN_FREE_SPACE: '0' }), {
    ...core,
    retentionMs: RETENTION_MS,
    ...overrides,
  })
const run = (args: string, opening: () => Promise<Services> = open) => runCommand(args, opening)

async function json<T>(args: string): Promise<T> {
  const { code, out, err } = await run(`${args} --json`)
  expect({ args, code, err }).toEqual({ args, code: 0, err: '' })
  return (out === '' ? undefined : JSON.parse(out)) as T
}

interface Trail {
  readonly actions: readonly Record<string, unknown>[]
}

it('has what commands did, without secrets and names of files', async () => {
  await json('users create alice')
  await json('users create alice')
  const issued = await json<Record<'access_token' | 'token_id', string>>(
    'tokens issue alice --label phone --actions read,create',
  )
  const { access_token: secret, token_id } = issued
  await json('files list alice --prefix diary')
  const { actions } = await json<Trail>('audit --user alice')
  const terms = { token_id, label: 'phone', actions: 'read,create' }
  const byCommand = { user_id: 'alice', operator: null, address: null, request_id: null }
  expect(actions).toMatchObject([
    { ...byCommand, action: 'files.list', details: { files: 0 } },
    { ...byCommand, action: 'access_token.issue', details: terms },
    { ...byCommand, action: 'user.create', details: {} },
  ])
  const text = JSON.stringify(actions)
  expect(text).not.toContain(secret)
  expect(text).not.toContain('diary')
})

it('has what took effect, also if the answer could not be read', async () => {
  const findAccount = () => Promise.reject(outage())
  const opening = () =>
    open({ aroundPorts: (ports) => ({ ...ports, ledger: { ...ports.ledger, findAccount } }) })
  for (const args of ['users create alice', 'users suspend alice']) {
    expect(await run(args, opening)).toMatchObject({ code: 1, out: '' })
  }
  const { actions } = await json<Trail>('audit')
  expect(actions.map(({ action }) => action)).toEqual(['user.set_status', 'user.create'])
})

it('is shown newest first, page by page and of one user', async () => {
  expect((await run('audit')).out).toBe('(none)')
  for (const user of ['alice', 'bob', 'carol']) await json(`users create ${user}`)
  const { code, out, err } = await run('audit --limit 2')
  const [, cursor = ''] = /^There are more; continue with --cursor (\S+)$/.exec(err) ?? []
  expect({ code, isLast: cursor === '' }).toEqual({ code: 0, isLast: false })
  expect((await run(`audit --cursor ${cursor}`)).out).toMatch(/^at .*\n.* alice /)
  expect(out).toMatch(/^at +action +user_id +operator +address +details\n.*carol.*\n.*bob[^\n]*$/)
  expect((await run('audit --user bob')).out.match(/user\.create/g)).toHaveLength(1)
  expect(await run('audit --limit 0')).toMatchObject({ code: 1, out: '' })
  expect(await run('audit --user a.b')).toMatchObject({ code: 1, out: '' })
})

it('does not undo or fail what it cannot record, and says why', async () => {
  const { code, out, err } = await run('users create alice', async () => ({
    ...(await open()),
    auditTrail: { record: () => Promise.reject(outage()), list: async () => [] },
  }))
  expect({ code, err }).toEqual({
    code: 0,
    err: expect.stringMatching(/^The audit trail lacks this action\. unavailable: /) as string,
  })
  expect(out).toContain('alice')
  expect(await json('audit')).toEqual({ actions: [], next_cursor: null })
})
