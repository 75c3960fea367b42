import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openService, type Service } from '../../src/compose/compose.ts'
import { readConfig } from '../../src/config/config.ts'
import { parseFileName } from '../../src/core/files/file-name.ts'
import { createVersion, objectKey, type Version } from '../../src/core/objects/object-key.ts'
import { parseUserId } from '../../src/core/users/user-id.ts'
import { resumablesOf } from '../core/ledger/resumable/fixture.ts'
import { callerNamed } from '../support/caller.ts'
import { contentOf } from '../support/http/incoming-file.ts'
import { never } from '../support/objects.ts'
import { type UserUploads, uploadsOf } from '../support/service/resumables.ts'
import { openTestCore, RETENTION_MS, type TestCore } from '../support/service/test-core.ts'
import { DONE, runCommand } from './run-command.ts'

const ALICE = parseUserId('alice')
const TIME: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const DAY_MS = 24 * 60 * 60_000

let core: TestCore
let uploads: UserUploads

beforeEach(async () => {
  core = await openTestCore()
  await core.users.createUser(ALICE)
  uploads = await uploadsOf(await open(), ALICE)
})
afterEach(() => core[Symbol.asyncDispose]())

function open(): Promise<Service> {
  return openService(readConfig({ BASE_CAPACITY: '1000', MIN_FREE_SPACE: '0' }), {
    ...core,
    retentionMs: RETENTION_MS,
  })
}

const run = (args: string) => runCommand(args, open)

async function json(args: string): Promise<unknown> {
  const { code, out, err } = await run(`${args} --json`)
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return JSON.parse(out)
}

describe('uploads list', () => {
  it('shows the unfinished ones, oldest first, with what has arrived', async () => {
    const first = await uploads.begin('film.mov', 10, 'hello')
    const second = await uploads.begin('b', 20)
    await uploads.begin('finished', 2, 'ok')
    const common = { refusal: null, created_at: TIME, updated_at: TIME, expires_at: TIME }
    expect(await json('uploads list alice')).toEqual({
      uploads: [
        { upload_id: first, name: 'film.mov', state: 'open', offset: 5, length: 10, ...common },
        { upload_id: second, name: 'b', state: 'open', offset: 0, length: 20, ...common },
      ],
      next_cursor: null,
    })
    const { out } = await run('uploads list alice')
    expect(out).toMatch(/^upload_id +name +state +offset +length +refusal +created_at /)
  })

  it('tells of a sealed upload why it is no file', async () => {
    const sealed = resumablesOf(core.ledger, await callerNamed(core.users, ALICE))
    const upload = await sealed.create('a', 4)
    await sealed.append(upload, 4)
    const { epoch = 0 } = (await sealed.finish(upload)) ?? {}
    const { version } = upload
    await core.ledger.endFinish({
      userId: ALICE,
      version,
      epoch,
      refusal: 'capacity_exceeded',
      digest: undefined,
    })
    expect(await json('uploads list alice')).toMatchObject({
      uploads: [{ upload_id: version, state: 'complete', offset: 4, refusal: 'capacity_exceeded' }],
    })
  })

  it('is empty where there is none', async () => {
    expect(await run('uploads list alice')).toEqual({ ...DONE, out: '(none)' })
  })
})

describe('uploads cancel', () => {
  it('says nothing, releases the reservation at once, and can be repeated', async () => {
    const version = await uploads.begin('a', 600, 'hello')
    expect(await json('users show alice')).toMatchObject({ capacity: { reserved: 600 } })
    expect(await run(`uploads cancel alice ${version}`)).toEqual(DONE)
    expect(await run(`uploads cancel alice ${version}`)).toEqual(DONE)
    expect(await json('users show alice')).toMatchObject({ capacity: { reserved: 0 } })
    await expect(uploads.append(version, 5, 'x')).rejects.toMatchObject({
      code: 'upload_gone',
      facts: { outcome: 'cancelled' },
    })
  })
})

describe('uploads release --finished', () => {
  /** Makes the object of a pending upload, as an instance did after the database was copied. */
  async function makeObject(version: Version, content: string): Promise<void> {
    const key = objectKey(ALICE, version)
    await core.objects.put({ key, body: contentOf([Buffer.from(content)]), signal: never() })
  }

  it('forgets uploads whose object is whole, so that no sweep removes it', async () => {
    const finished = await uploads.begin('a', 10, 'hello')
    const cut = await uploads.begin('b', 10, 'hello')
    const begun = await uploads.begin('c', 10)
    await makeObject(finished, 'helloworld')
    await makeObject(cut, 'hello')
    const released = await json('uploads release --finished')
    const key = objectKey(ALICE, finished)
    expect(released).toEqual([
      { user_id: 'alice', upload_id: finished, file_name: 'a', object_key: key, size: 10 },
    ])
    expect(await json('uploads list alice')).toMatchObject({
      uploads: [{ upload_id: cut }, { upload_id: begun }],
    })
    expect(await json('users show alice')).toMatchObject({ capacity: { reserved: 20 } })

    core.clock.now += 8 * DAY_MS
    await run('sweep')
    core.clock.now += DAY_MS
    await run('sweep')
    const signal = never()
    expect(await core.objects.head({ key, signal })).toMatchObject({ size: 10 })
    expect(await core.objects.head({ key: objectKey(ALICE, cut), signal })).toBeUndefined()
    const verified = await run('verify --json')
    expect(verified.out).toContain(
      `"kind":"orphaned_object","user_id":"alice","file_name":null,"object_key":"${key}"`,
    )
    expect(verified.code).toBe(1)
  })

  it('finds uploads that have expired since the copy was made', async () => {
    const version = await uploads.begin('a', 10, 'hello')
    await makeObject(version, 'helloworld')
    core.clock.now += 8 * DAY_MS
    expect(await json('uploads release --finished')).toMatchObject([{ upload_id: version }])
  })

  it('forgets an upload of one request, too, once its lease is over', async () => {
    const version = await beginPlain('a', 5)
    await makeObject(version, 'hello')
    const { code, err, out } = await run('uploads release --finished')
    expect({ code, out }).toEqual({ code: 1, out: '(none)' })
    expect(err).toMatch(
      /may be in progress were left alone: 1\. Stop the service, wait a minute, and try again\.$/,
    )
    core.clock.now += 60_000
    expect(await json('uploads release --finished')).toMatchObject([{ upload_id: version }])
  })

  it('leaves an upload alone that a request works on', async () => {
    const version = await uploads.begin('a', 10, 'hello')
    const claim = {
      ...(await callerNamed(core.users, ALICE)),
      version,
      holder: 'there',
      holderMs: 15_000,
    }
    await core.ledger.claimAppend({ ...claim, offset: 5, tailKey: undefined })
    await makeObject(version, 'helloworld')
    expect(await run('uploads release --finished')).toMatchObject({ code: 1, out: '(none)' })
    expect(await json('uploads list alice')).toMatchObject({
      uploads: [{ state: 'receiving' }],
    })
  })

  it('needs the switch', async () => {
    expect(await run('uploads release')).toEqual({
      code: 2,
      out: '',
      err: 'usage: cloud-repo uploads release --finished',
    })
  })

  async function beginPlain(name: string, bytes: number): Promise<Version> {
    const version = createVersion()
    await core.ledger.begin({
      ...(await callerNamed(core.users, ALICE)),
      version,
      objectKey: objectKey(ALICE, version),
      name: parseFileName(name),
      bytes,
    })
    return version
  }
})
