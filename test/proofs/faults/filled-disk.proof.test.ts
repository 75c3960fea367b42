import { randomBytes } from 'node:crypto'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { forEachConcurrent } from '../../../src/core/async/for-each-concurrent.ts'
import { eventually } from '../../support/eventually.ts'
import { fillDisk, missingSmallDisk } from '../../support/faults/small-disk.ts'
import { freePort } from '../../support/servers/local-server.ts'
import { isSkipped } from '../../support/servers/needs.ts'
import type { Demo } from '../../support/service/demo.ts'
import { startOnSmallDisk } from './demo-on-small-disk.ts'

const MIB = 2 ** 20
const ADMIN_TOKEN = randomBytes(20).toString('hex')
/** `MIN_FREE_SPACE`, and what writes that are no uploads leave of it. */
const FLOOR = 8 * MIB
const GROWTH_FLOOR = 6 * MIB
const FILES = 1_000
const REPO = '/users/me/repo'

const skipped = isSkipped(await missingSmallDisk())

interface Account {
  readonly userId: string
  readonly token: string
}

interface Sent {
  readonly method: string
  readonly path: string
  readonly body?: unknown
}

/** Requests that fill the disk of the database, by their number. */
const KINDS: Readonly<Record<string, (at: number) => Sent>> = {
  metadata: (at) => patch(at, { metadata: { data: `${at}`.padEnd(2_000, 'x') } }),
  visibility: (at) => patch(at, { visibility: Math.floor(at / FILES) % 2 ? 'private' : 'users' }),
  rename: (at) => ({
    method: 'POST',
    path: '/users/me/batch',
    body: {
      operations: [
        { op: 'rename', name: nameOf(at), new_name: 'n'.repeat(255), overwrite: true },
        { op: 'rename', name: 'n'.repeat(255), new_name: nameOf(at), overwrite: true },
      ],
    },
  }),
  batch: (at) => ({
    method: 'POST',
    path: '/users/me/batch',
    body: {
      operations: Array.from({ length: 100 }, (_, each) => ({
        op: 'update',
        name: nameOf(at * 100 + each),
        metadata: { data: `${at}`.padEnd(1_900, 'y') },
      })),
    },
  }),
  'overwrite of nothing': (at) => ({ method: 'PUT', path: `${REPO}/${nameOf(at)}`, body: '' }),
  link: (at) => ({
    method: 'POST',
    path: '/users/me/links',
    body: { kind: 'download', name: nameOf(at), label: 'l'.repeat(100) },
  }),
  token: (at) => ({
    method: 'POST',
    path: '/users/me/access-tokens',
    body: { label: `${at}`.padEnd(100, 't') },
  }),
}

function nameOf(at: number): string {
  return `file-${at % FILES}`
}

function patch(at: number, body: object): Sent {
  return { method: 'PATCH', path: `${REPO}/${nameOf(at)}`, body }
}

describe.skipIf(skipped)('a disk that each kind of write has filled', { timeout: 240_000 }, () => {
  let opened: AsyncDisposableStack
  let demo: Demo
  let disk: string
  let adminUrl: string
  let other: Account

  beforeEach(async () => {
    opened = new AsyncDisposableStack()
    const adminPort = `${await freePort()}`
    adminUrl = `http://127.0.0.1:${adminPort}/admin/users`
    const onDisk = await startOnSmallDisk({
      bytes: 64 * MIB,
      settings: (folder) => ({
        DATA_DIR: join(folder, 'data'),
        MIN_FREE_SPACE: `${FLOOR}`,
        ADMIN_PORT: adminPort,
        ADMIN_TOKEN,
        UPLOAD_MEMORY: '64MiB',
      }),
      opened,
    })
    ;({ demo, disk } = onDisk)
    other = await createUser('other')
  }, 60_000)
  afterEach(() => opened.disposeAsync())

  async function createUser(userId: string): Promise<Account> {
    await administer('PUT', `/${userId}`)
    const issued = await administer('POST', `/${userId}/access-tokens`)
    const { access_token: token } = (await issued.json()) as { access_token: string }
    return { userId, token }
  }

  function administer(method: string, path: string, body?: object): Promise<Response> {
    return send(adminUrl, { method, path, body, token: ADMIN_TOKEN })
  }

  function ask({ token }: Account, sent: Sent): Promise<Response> {
    return send(demo.url, { ...sent, token })
  }

  async function freeBytes(): Promise<number> {
    const { bavail, bsize } = await statfs(disk)
    return bavail * bsize
  }

  it.each(Object.keys(KINDS))(
    'F08 accepts deletions and suspensions, and then uploads (%s)',
    async (kind) => {
      const account = await createUser(kind.replaceAll(' ', '-'))
      await forEachConcurrent(
        Array.from({ length: FILES }, (_, at) => at),
        8,
        async (at) => {
          const stored = await ask(account, {
            method: 'PUT',
            path: `${REPO}/${nameOf(at)}`,
            body: 'x',
          })
          expect(stored.status).toBe(200)
        },
      )
      await using fillers = new AsyncDisposableStack()
      const takeSpace = async (name: string, bytes?: number): Promise<void> => {
        const filler = await fillDisk(join(disk, name), bytes)
        fillers.defer(() => filler.remove())
      }
      // A batch of 100 can add 6 MiB, and eight run at once.
      const room = kind === 'batch' ? 24 * MIB : 4 * MIB
      await takeSpace('filler', (await freeBytes()) - GROWTH_FLOOR - room)
      const accepted = await fill(account, kind)
      expect(accepted).toBeGreaterThan(kind === 'batch' ? 3 : 100)
      expect(await freeBytes()).toBeGreaterThan(GROWTH_FLOOR - MIB)

      // Whatever else writes: the rest belongs to what ends and frees something.
      await takeSpace('rest')
      await forEachConcurrent(
        Array.from({ length: FILES / 2 }, (_, at) => at),
        8,
        async (at) => {
          const removed = await ask(account, { method: 'DELETE', path: `${REPO}/${nameOf(at)}` })
          expect(removed.status).toBe(204)
        },
      )
      for (const status of ['suspended', 'active']) {
        expect((await administer('PATCH', `/${other.userId}`, { status })).status).toBe(200)
        expect((await administer('PATCH', `/${account.userId}`, { status })).status).toBe(200)
      }
      const refused = await ask(other, { method: 'PUT', path: `${REPO}/new`, body: 'x' })
      expect(refused.status).toBe(503)
      expect(
        (await ask(account, { method: 'GET', path: `${REPO}/${nameOf(FILES - 1)}` })).status,
      ).toBe(200)

      await fillers.disposeAsync()
      expect((await administer('DELETE', `/${account.userId}`)).status).toBe(202)
      await eventually(async () => {
        const stored = await ask(other, {
          method: 'PUT',
          path: `${REPO}/new`,
          body: randomBytes(MIB),
        })
        expect(stored.status).toBe(200)
      }, 5_000)
      expect(demo.process.exitCode).toBe(null)
    },
  )

  /** Sends requests, fewer at once towards the end, until one that is alone is refused for want of space. */
  async function fill(account: Account, kind: string): Promise<number> {
    let [at, accepted] = [0, 0]
    const work = async (): Promise<void> => {
      for (let isFull = false; !isFull;) {
        if ((at += 1) > 60_000) throw new Error('The disk does not get full')
        const code = await codeOf(await ask(account, requestOf(kind, at)))
        if (code === undefined) accepted += 1
        else if (code === 'insufficient_storage') isFull = true
        else if (code === 'too_many_requests') await delay(20)
        // There are at most so many links and tokens.
        else if (code === 'link_count_exceeded' || code === 'access_token_limit_exceeded') {
          isFull = (await codeOf(await ask(account, requestOf('metadata', at)))) !== undefined
        } else throw new Error(`It is refused with ${code}`)
      }
    }
    await Promise.all(Array.from({ length: 8 }, work))
    return accepted
  }
})

function requestOf(kind: string, at: number): Sent {
  const request = KINDS[kind]
  if (request === undefined) throw new Error(`There is no ${kind}`)
  return request(at)
}

/** That of a refusal. */
async function codeOf(reply: Response): Promise<string | undefined> {
  const text = await reply.text()
  return reply.status < 300 ? undefined : (JSON.parse(text) as { readonly code: string }).code
}

async function send(
  url: string,
  { method, path, body, token }: Sent & { readonly token: string },
): Promise<Response> {
  const isRaw = typeof body === 'string' || body instanceof Uint8Array
  const type = body === undefined || isRaw ? {} : { 'Content-Type': 'application/json' }
  return await fetch(`${url}${path}`, {
    method,
    headers: { ...type, Authorization: `Bearer ${token}` },
    ...(body === undefined ? {} : { body: isRaw ? Buffer.from(body) : JSON.stringify(body) }),
  })
}
