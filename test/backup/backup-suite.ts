import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { issueCookie, runCommand, startService } from '../support/service/running-service.ts'
import { beginUpload, cancelUpload, sendRest } from '../support/http/tus-client.ts'
import { digest } from '../support/objects.ts'

type Settings = Readonly<Record<string, string>>

/** What a service stands on, and the documented ways to back it up. */
export interface BackupBed {
  readonly environment: Settings
  backUpDatabase(): Promise<void>
  backUpObjects(): Promise<void>
  /** Settings of a service on the database's backup, with the objects' backup, or with the live ones. */
  restore(objects: 'backup' | 'live'): Promise<Settings>
  /** Makes all garbage due, as if days had passed. */
  letTimePass(): Promise<void>
}

export type OpenBackupBed = (opened: AsyncDisposableStack) => Promise<BackupBed>

/** F09: what a backup of the database, then of the objects, taken while the service works, gives back. */
export function backupSuite(name: string, open: OpenBackupBed): void {
  // Every command is a process, and a busy machine takes seconds to start one.
  describe(`a backup of ${name}`, { timeout: 240_000 }, () => {
    let opened: AsyncDisposableStack
    let bed: BackupBed
    beforeEach(async () => {
      opened = new AsyncDisposableStack()
      bed = await open(opened)
    })
    afterEach(() => opened.disposeAsync())

    it('F09 under load gives back every file that was acknowledged before it began', async () => {
      const program = { environment: bed.environment, opened }
      const cookie = await issueCookie('ada', program)
      const service = await startService(program)
      const kept = await uploadAll({ url: service.url, cookie, names: namesOf('kept', 20) })
      const load = startLoad({ url: service.url, cookie })
      await load.moved()
      await bed.backUpDatabase()
      await load.moved()
      await bed.backUpObjects()
      await load.moved()
      await load.stop()
      await service.stop()

      const restored = { environment: await bed.restore('backup'), opened }
      const verified = await runCommand('verify --deep --json', restored)
      // What was uploaded after the database was copied, and nothing else.
      const findings = summaryOf(verified.output)
      expect(findings).toMatchObject({ remaining: findings['orphaned_object'] })
      const again = await startService(restored)
      const { url } = again
      for (const [name, sha256] of kept) {
        expect({ name, ...(await get({ url, cookie, name })) }).toEqual({
          name,
          status: 200,
          sha256,
        })
      }
      for (const [name, digests] of load.uploaded) {
        const { status, sha256 } = await get({ url, cookie, name })
        // One of the contents that were sent, or none at all.
        const isRight = status === 200 ? digests.includes(sha256) : status === 404
        expect({ name, status, isRight }).toMatchObject({ isRight: true })
      }
      await again.stop()
    })

    it('F09 of the database alone gives back the files whose objects the store still keeps', async () => {
      const withoutHistory = { HISTORY_LIFETIME: '0' }
      const program = { environment: { ...bed.environment, ...withoutHistory }, opened }
      const cookie = await issueCookie('ada', program)
      const service = await startService(program)
      const { url } = service
      const names = ['kept', 'replaced', 'deleted']
      const before = await uploadAll({ url, cookie, names })
      await bed.backUpDatabase()
      await uploadAll({ url, cookie, names: ['replaced', 'new'] })
      await fetch(`${url}/users/me/repo/deleted`, { method: 'DELETE', headers: { cookie } })
      await service.stop()

      const restored = { environment: await bed.restore('live'), opened }
      const soon = await startService(restored)
      for (const [name, sha256] of before) {
        expect(await get({ url: soon.url, cookie, name })).toEqual({ status: 200, sha256 })
      }
      await soon.stop()

      await bed.letTimePass()
      expect(await runCommand('sweep', program)).toMatchObject({ code: 0 })
      const late = await startService(restored)
      const kept = { status: 200, sha256: before.get('kept') }
      expect(await get({ url: late.url, cookie, name: 'kept' })).toEqual(kept)
      for (const name of ['replaced', 'deleted']) {
        expect((await get({ url: late.url, cookie, name })).status).toBeGreaterThanOrEqual(500)
      }
      expect((await get({ url: late.url, cookie, name: 'new' })).status).toBe(404)
      await late.stop()
      const { code, output } = await runCommand('verify --json', restored)
      expect(code).toBe(1)
      // Both of `replaced` and `new` are objects without a row.
      expect(summaryOf(output)).toMatchObject({
        missing_object: 2,
        orphaned_object: 2,
        remaining: 4,
      })
      expect(output).toMatch(/"kind":"missing_object".*"file_name":"deleted"/)
    })

    it('R36 of the database amid uploads lets them go on, and loses no object of those finished since', async () => {
      const program = { environment: bed.environment, opened }
      const cookie = await issueCookie('ada', program)
      const service = await startService(program)
      const { url } = service
      const [small, large] = [Buffer.from(randomBytes(5000)), Buffer.from(randomBytes(9 * 2 ** 20))]
      const client = { url, cookie }
      const begin = (name: string, content: typeof small, bytes: number) =>
        beginUpload(service, {
          cookie,
          name,
          length: content.length,
          content: content.subarray(0, bytes),
        })
      const finished = await begin('finished', small, 2000)
      const going = await begin('going', small, 3000)
      const cancelled = await begin('cancelled', large, large.length - 1)
      await bed.backUpDatabase()
      expect(await sendRest(client, finished, small)).toEqual({ status: 204, offset: 2000 })
      const ofSmall = { status: 200, sha256: digest(small) }
      expect(await get({ ...client, name: 'finished' })).toEqual(ofSmall)
      expect(await cancelUpload(client, cancelled)).toBe(204)
      await service.stop()

      const restored = { environment: await bed.restore('live'), opened }
      const released = await runCommand('uploads release --finished --json', restored)
      expect(released.code).toBe(0)
      expect(JSON.parse(released.output)).toMatchObject([
        { user_id: 'ada', upload_id: finished, file_name: 'finished', size: 5000 },
      ])
      const isOrphaned = async (): Promise<void> => {
        const { output } = await runCommand('verify --json', restored)
        expect(output).toMatch(
          new RegExp(`"kind":"orphaned_object".*"object_key":"[^"]*${finished}"`),
        )
      }
      const { code, output } = await runCommand('verify --json', restored)
      expect(code).toBe(1)
      expect(output).toMatch(/"kind":"broken_upload".*"file_name":"cancelled"/)
      expect(summaryOf(output)).toMatchObject({ uploads: 2, broken_upload: 1, missing_object: 0 })
      await isOrphaned()

      const again = await startService(restored)
      const later = { url: again.url, cookie }
      expect(await sendRest(later, going, small)).toEqual({ status: 204, offset: 3000 })
      expect(await get({ ...later, name: 'going' })).toEqual(ofSmall)
      expect(await sendRest(later, cancelled, large)).toMatchObject({ status: 410 })
      expect(await sendRest(later, finished, small)).toMatchObject({ status: 404 })
      await again.stop()
      expect(await runCommand('sweep', restored)).toMatchObject({ code: 0 })
      await isOrphaned()
    })
  })
}

function namesOf(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index}`)
}

interface Client {
  readonly url: string
  readonly cookie: string
}

/** Uploads random content to each name and returns its digests. */
async function uploadAll({
  names,
  ...client
}: Client & { readonly names: readonly string[] }): Promise<ReadonlyMap<string, string>> {
  const digests = new Map<string, string>()
  for (const name of names) {
    const content = randomBytes(2000)
    expect(await put({ ...client, name, content })).toBe(200)
    digests.set(name, digest(content))
  }
  return digests
}

async function put(
  upload: Client & { readonly name: string; readonly content: Uint8Array<ArrayBuffer> },
): Promise<number> {
  const { url, cookie, name, content: body } = upload
  const reply = await fetch(`${url}/users/me/repo/${name}`, {
    method: 'PUT',
    headers: { cookie },
    body,
  })
  await reply.arrayBuffer()
  return reply.status
}

async function get({ url, cookie, name }: Client & { readonly name: string }) {
  try {
    const reply = await fetch(`${url}/users/me/repo/${name}`, { headers: { cookie } })
    return { status: reply.status, sha256: digest(new Uint8Array(await reply.arrayBuffer())) }
  } catch {
    return { status: 599, sha256: '' }
  }
}

/** Writes to a few names over and over, deletes some, and makes new ones, until it is stopped. */
function startLoad(client: Client) {
  const uploaded = new Map<string, string[]>()
  const stopping = new AbortController()
  let rounds = 0
  async function run(worker: number): Promise<void> {
    while (!stopping.signal.aborted) {
      for (const name of [`hot-${worker}`, `new-${worker}-${rounds}`]) {
        const content = randomBytes(3000)
        // Before it is sent: what is not acknowledged may have taken effect all the same.
        uploaded.set(name, [...(uploaded.get(name) ?? []), digest(content)])
        await put({ ...client, name, content })
      }
      if (rounds % 3 === 0) {
        const { url, cookie } = client
        await fetch(`${url}/users/me/repo/hot-${worker}`, { method: 'DELETE', headers: { cookie } })
      }
      rounds += 1
    }
  }
  const workers = Promise.all([1, 2, 3].map(run))
  return {
    uploaded,
    /** Resolves when each writer has gone on for some rounds more. */
    moved: async () => {
      const goal = rounds + 9
      await expect.poll(() => rounds, { timeout: 60_000 }).toBeGreaterThan(goal)
    },
    stop: async () => {
      stopping.abort()
      await workers
    },
  }
}

function summaryOf(output: string): Record<string, unknown> {
  return JSON.parse(output.trim().split('\n').at(-1) ?? '') as Record<string, unknown>
}
