import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkBackup } from '../../src/compose/backup/check-backup.ts'
import { openService } from '../../src/compose/compose.ts'
import { readConfig } from '../../src/config/config.ts'
import type { BackupFinding } from '../../src/core/backup/finding.ts'
import { parseUserId } from '../../src/core/users/user-id.ts'
import { flip } from '../compose/backup/bed.ts'
import { KEEP_COMPILED } from '../support/service/compiled.ts'
import { never } from '../support/objects.ts'
import { exitOf, temporaryFolder } from '../support/service/program.ts'
import {
  runCommand,
  type RunningService,
  startService,
} from '../support/service/running-service.ts'
import {
  type Account,
  describeAccount,
  expectFiles,
  fill,
  inParallel,
  put,
} from './drill-account.ts'

const [USERS, FILES, KILLS] = [20, 250, 50]

/** F09: 20 users with 5,000 files, backed up under load by runs of which 50 are killed, and restored elsewhere. */
describe('a drill', { timeout: 600_000 }, () => {
  const opened = new AsyncDisposableStack()
  let folder: string
  let environment: { readonly DATA_DIR: string }
  let backups: string
  let accounts: readonly Account[]
  let service: RunningService

  beforeAll(async () => {
    folder = await temporaryFolder(opened)
    environment = { DATA_DIR: join(folder, 'live') }
    backups = join(folder, 'backups')
    accounts = await createAccounts(environment)
    service = await startService({ environment, opened })
    await inParallel(accounts, 4, (account) => fill(service.url, account, FILES))
  })
  afterAll(() => opened.disposeAsync())

  const backUp = async (
    ...options: readonly string[]
  ): Promise<Readonly<Record<string, number>>> => {
    const args = ['backup', backups, '--json', ...options].join(' ')
    const { code, output } = await runCommand(args, { environment, opened })
    expect({ code, output }).toMatchObject({ code: 0 })
    // A slow run tells its progress first.
    const result = output.split('\n').find((line) => line.startsWith('{')) ?? ''
    return JSON.parse(result) as Readonly<Record<string, number>>
  }

  async function restoreTo(name: string, options = ''): Promise<{ readonly DATA_DIR: string }> {
    const settings = { DATA_DIR: join(folder, name) }
    const { code, output } = await runCommand(`restore ${backups}${options}`, {
      environment: settings,
      opened,
    })
    expect({ code, output }).toMatchObject({ code: 0 })
    return settings
  }

  it('survives the death of the backup at 50 moments, under load', async () => {
    await using load = startLoad(service.url, accounts)
    const first = await backUp('--keep', '2')
    expect(first['copied']).toBeGreaterThanOrEqual(USERS * (FILES + 12))
    const startedAt = performance.now()
    await backUp('--keep', '2')
    const lastsMs = performance.now() - startedAt
    let killed = 0
    for (let kill = 0; kill < KILLS; kill += 1) {
      if (await killedAfter(Math.random() * lastsMs)) killed += 1
      expect({ kill, findings: await findingsIn(backups) }).toEqual({ kill, findings: [] })
    }
    expect(killed).toBeGreaterThan(KILLS / 2)
    await backUp('--keep', '2')
    await load.stop()
    expect(load.rounds()).toBeGreaterThan(KILLS)
    const restored = await restoreTo('under-load')
    const { code, output } = await runCommand('verify --deep --json', {
      environment: restored,
      opened,
    })
    expect({ code, output }).toMatchObject({ code: 0 })
  })

  /** Resolves to whether it was still running. */
  async function killedAfter(ms: number): Promise<boolean> {
    const child = spawn(process.execPath, ['src/main.ts', 'backup', backups, '--keep', '2'], {
      env: { ...KEEP_COMPILED, ...environment },
      stdio: 'ignore',
    })
    await new Promise((resolve) => setTimeout(resolve, ms))
    child.kill('SIGKILL')
    return (await exitOf(child)) === null
  }

  it('gives back elsewhere all that the service had', async () => {
    await backUp()
    const [one] = accounts
    if (one === undefined) throw new Error('no account')
    for (let number = 0; number < 10; number += 1) {
      await put(service.url, one, { name: `new/file-${number}`, number })
    }
    expect(await backUp()).toMatchObject({ copied: 10 })
    const described = await Promise.all(accounts.map((each) => describeAccount(service.url, each)))
    const environment = await restoreTo('elsewhere')
    const restored = await startService({ environment, opened })
    for (const [at, account] of accounts.entries()) {
      expect(await describeAccount(restored.url, account)).toEqual(described[at])
    }
    await inParallel(accounts, 2, (account) => expectFiles(restored.url, account))
    await put(restored.url, one, { name: 'after', number: 1 })
    await restored.stop()
  })

  it('finds a flipped byte', async () => {
    const [copy = ''] = (await readdir(join(backups, 'copies'))).toSorted().toReversed()
    const user = join(backups, 'objects', 'users', 'user-3')
    const object = (await readdir(user)).find((name) => !name.includes('.')) ?? ''
    for (const file of [
      join(user, object),
      join(backups, 'objects', 'pack.sqlite'),
      join(backups, 'copies', copy, 'database.sqlite'),
    ]) {
      expect(existsSync(file)).toBe(true)
      const undo = await flip(file)
      const { code, output } = await runCommand(`backup ${backups} --check`, {
        environment,
        opened,
      })
      expect({ file, code, output }).toMatchObject({ code: 1 })
      await undo()
    }
    expect(await findingsIn(backups)).toEqual([])
  })
})

async function createAccounts(environment: { readonly DATA_DIR: string }): Promise<Account[]> {
  await using service = await openService(readConfig(environment)).then((opened) => {
    return { ...opened, [Symbol.asyncDispose]: () => opened.close() }
  })
  const accounts: Account[] = []
  for (let user = 0; user < USERS; user += 1) {
    const userId = parseUserId(`user-${user}`)
    await service.users.create(userId)
    const device = {
      deviceId: 'camera',
      model: undefined,
      bytes: 2 ** 20,
      label: 'Hall',
      share: undefined,
    }
    await service.grants.putDevice({ userId, ...device })
    const issued = { userId, label: 'drill', expiresInSeconds: undefined }
    const { secret } = await service.accessTokens.issue(issued)
    const cookie = `access_token=${secret}`
    accounts.push({ userId, cookie, files: new Map(), links: new Map() })
  }
  return accounts
}

/** Overwrites, adds and deletes files of three users that nobody expects anything of. */
function startLoad(url: string, accounts: readonly Account[]) {
  const stopping = new AbortController()
  let rounds = 0
  async function run(account: Account): Promise<void> {
    // What the load has stored is described, but not expected.
    const own = { ...account, files: new Map<string, string>() }
    while (!stopping.signal.aborted) {
      rounds += 1
      await put(url, own, { name: 'load/hot', number: rounds })
      await put(url, own, { name: `load/new-${rounds % 50}`, number: rounds })
      const old = `${url}/users/me/repo/load/new-${(rounds + 25) % 50}`
      await fetch(old, { method: 'DELETE', headers: { cookie: own.cookie } })
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  const running = Promise.all(accounts.slice(0, 3).map(run))
  async function stop(): Promise<void> {
    stopping.abort()
    await running
  }
  return {
    rounds: () => rounds,
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

async function findingsIn(directory: string): Promise<readonly BackupFinding[]> {
  const findings: BackupFinding[] = []
  await checkBackup({
    directory,
    onFinding: (finding) => findings.push(finding),
    onProgress: () => undefined,
    signal: never(),
  })
  return findings
}
