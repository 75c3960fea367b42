import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openService } from '../../src/compose/compose.ts'
import { readConfig } from '../../src/config/config.ts'
import { ALICE, strayKey } from '../core/verify/fixture.ts'
import { contentOf } from '../support/http/incoming-file.ts'
import { never } from '../support/objects.ts'
import { openTestCore, RETENTION_MS, type TestCore } from '../support/service/test-core.ts'
import { openTestRepository } from '../support/service/test-repository.ts'
import { runCommand, type Services } from './run-command.ts'

let core: TestCore

beforeEach(async () => {
  core = await openTestCore()
  const { upload } = await openTestRepository(core)
  await upload('a', 'hello')
})
afterEach(async () => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  await core[Symbol.asyncDispose]()
})

async function open(): Promise<Services> {
  return openService(readConfig({}), { ...core, retentionMs: RETENTION_MS })
}

const run = (args: string, signal?: AbortSignal) => runCommand(args, open, signal)

async function drift(): Promise<void> {
  await sql`UPDATE quotas SET used_bytes = 6`.execute(core.database.kysely)
}

async function orphan(): Promise<string> {
  const key = strayKey(ALICE)
  await core.objects.put({ key, body: contentOf([Buffer.from('x')]), signal: never() })
  return key
}

const SOUND = [
  ['users', 1],
  ['files', 1],
  ['objects', 1],
  ['uploads', 0],
  ['read_files', 0],
  ['read_bytes', '0 B'],
  ['repaired', 0],
  ['remaining', 0],
] as const

describe('verify', () => {
  it('exits with 0 and a summary when all is sound', async () => {
    const lines = SOUND.map(([name, count]) => `${name.padEnd(10)}  ${count}`)
    expect(await run('verify')).toEqual({ code: 0, out: lines.join('\n'), err: '' })
    expect((await run('verify alice')).code).toBe(0)
  })

  it('prints a line a finding, says how many of each remain, and exits with 1', async () => {
    await drift()
    const key = await orphan()
    const { code, out } = await run('verify')
    expect(code).toBe(1)
    const lines = out.split('\n')
    expect(lines.slice(0, 2)).toEqual([
      'used_bytes        user_id="alice" recorded=6 B found=5 B',
      `orphaned_object   user_id="alice" object_key="${key}"`,
    ])
    expect(lines).toContain('used_bytes       1')
    expect(lines.at(-1)).toBe('remaining        2')
  })

  it('prints no character of a name that a terminal would obey', async () => {
    const name = 'a\u009b31mRED\u009d0;pwned\u009c\u202e'
    const { upload } = await openTestRepository(core)
    const { file } = await upload(name, 'hello')
    await core.objects.remove({ key: file.objectKey, signal: never() })
    const lines = [await run('verify'), await run('verify --json')]
    for (const { out } of lines) expect(out).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u)
    expect(JSON.parse(lines[1]?.out.split('\n')[0] ?? '')).toMatchObject({ file_name: name })
  })

  it('exits with 0 when --repair has mended everything', async () => {
    await drift()
    await orphan()
    const { code, out } = await run('verify --repair')
    expect(code).toBe(0)
    expect(out).toMatch(/^used_bytes .* repaired\norphaned_object .* repaired\nusers /)
    expect(out).toMatch(/repaired +2\nremaining +0$/)
  })

  it('answers with --json in a document a line, the summary last', async () => {
    await drift()
    const { out } = await run('verify alice --json')
    const [finding, summary] = out.split('\n').map((line): unknown => JSON.parse(line))
    expect(finding).toEqual({
      kind: 'used_bytes',
      user_id: 'alice',
      file_name: null,
      object_key: null,
      recorded: 6,
      found: 5,
      repaired: false,
    })
    expect(summary).toMatchObject({ used_bytes: 1, file_count: 0, remaining: 1 })
  })

  it('answers with --metrics in nothing but metrics', async () => {
    await drift()
    vi.useFakeTimers({ now: 1_800_000_000_500, toFake: ['Date'] })
    const { code, out } = await run('verify --metrics')
    expect(code).toBe(1)
    const lines = out.split('\n')
    expect(
      lines.filter((line) => !/^cloud_repository_\w+(\{\w+="\w+"\})? \d+$/.test(line)),
    ).toEqual(lines.filter((line) => /^# (HELP|TYPE) cloud_repository_/.test(line)))
    for (const line of [
      '# TYPE cloud_repository_drift gauge',
      'cloud_repository_drift{kind="used_bytes"} 1',
      'cloud_repository_drift{kind="missing_object"} 0',
      'cloud_repository_verified{of="files"} 1',
      'cloud_repository_verify_repaired 0',
      'cloud_repository_verify_completion_timestamp_seconds 1800000000',
    ]) {
      expect(lines).toContain(line)
    }
  })

  it.each([
    ['--deep', 1],
    ['--sample 1', 1],
    ['--sample 1000000000000', 0],
  ])('reads with %s', async (flags, files) => {
    const { out } = await run(`verify --json ${flags}`)
    expect(JSON.parse(out)).toMatchObject({ read_files: files, read_bytes: files * 5 })
  })

  const NO_COUNT = 'must be a whole number of at least 1'
  it.each([
    ['--sample 0', NO_COUNT],
    ['--sample 1%', NO_COUNT],
    ['--sample x', NO_COUNT],
    ['--deep --sample 2', 'cannot be combined with --deep'],
  ])('refuses %s', async (flags, why) => {
    expect(await run(`verify ${flags}`)).toMatchObject({
      code: 1,
      out: '',
      err: `invalid_parameter: --sample ${why}.`,
    })
  })

  it.each(['--repair=yes', '--repair a b', '--fix'])('is wrongly called with %s', async (flags) => {
    const { code, err } = await run(`verify ${flags}`)
    expect(code).toBe(2)
    expect(err).toContain(
      'usage: cloud-repo verify [user_id] [--repair] [--deep] [--metrics] [--adopt-store] [--sample ...]',
    )
  })

  it('refuses a user of whom there is nothing', async () => {
    expect(await run('verify bob')).toMatchObject({
      code: 1,
      err: 'not_found: User "bob" does not exist and has no objects.',
    })
  })

  it('stops when it is interrupted, and says so', async () => {
    const signal = AbortSignal.abort(new Error('Interrupted.'))
    expect(await run('verify', signal)).toEqual({ code: 1, out: '', err: 'Interrupted.' })
  })

  it('tells now and then how far it is, and never among the results', async () => {
    let now = 0
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 11_000))
    const { out, err } = await run('verify --json')
    expect(out.split('\n')).toHaveLength(1)
    expect(err).toMatch(/^Progress: \d users, 1 objects, 0 files read$/m)
  })
})
