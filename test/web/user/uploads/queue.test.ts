import { expect, it } from 'vitest'
import { createClient } from '../../../../packages/js/src/client.ts'
import { CloudRepositoryError } from '../../../../packages/js/src/errors.ts'
import { createHttp } from '../../../../packages/js/src/http/http.ts'
import { createCapacityFigures } from '../../../../web/user/capacity-figures.ts'
import { createFileList } from '../../../../web/user/files/file-list.ts'
import { createPermissions } from '../../../../web/user/permissions.ts'
import { createUploads } from '../../../../web/user/uploads/queue.ts'
import type { Transfer } from '../../../../web/user/uploads/transfer.ts'
import { createUnfinishedUploads } from '../../../../web/user/uploads/unfinished-uploads.ts'

/** What a service answers that has no file and much space, by the end of the path. */
const ANSWERS: Readonly<Record<string, object>> = {
  session: { user_id: 'alice', scope: null, expires_at: null },
  capacity: { capacity: 2 ** 30, used: 0, reserved: 0, available: 2 ** 30 },
  repo: { files: [], next_cursor: null },
}

/** Uploads of a user who is signed in. The test ends each attempt to send one. */
async function openUploads(files = [{ content: new Blob(['x']), path: 'a.txt' }]) {
  const asked: string[] = []
  const answer: typeof fetch = (url) => {
    const { pathname } = url as URL
    asked.push(pathname)
    return Promise.resolve(Response.json(ANSWERS[pathname.split('/').at(-1) ?? '']))
  }
  const address = { url: 'http://service', fetch: answer }
  const client = createClient(address)
  const permissions = createPermissions(client)
  await permissions.read()
  const capacity = createCapacityFigures(client, permissions)
  const attempts: PromiseWithResolvers<undefined>[] = []
  const transfer: Transfer = async () => {
    const attempt = Promise.withResolvers<undefined>()
    attempts.push(attempt)
    return attempt.promise
  }
  const uploads = createUploads({
    list: createFileList(client.files, permissions),
    capacity,
    permissions,
    unfinished: createUnfinishedUploads({ reader: client, client, http: createHttp(address) }),
    transfer,
    onUploaded: () => undefined,
    cancel: () => Promise.resolve(),
    isHeld: () => false,
    isOnline: () => true,
  })
  uploads.add(files)
  await expect.poll(() => attempts.length).toBeGreaterThan(0)
  const state = () => uploads.items.value[0]?.state.kind
  return { uploads, attempts, asked, state }
}

function refusedToken(): CloudRepositoryError {
  return new CloudRepositoryError({ code: 'access_token_invalid', detail: 'Revoked.' } as never)
}

it('an upload whose token was refused waits for a sign-in, and the session is asked for', async () => {
  const { uploads, attempts, asked, state } = await openUploads()
  const before = asked.filter((path) => path === '/session').length
  attempts[0]?.reject(refusedToken())
  await expect.poll(state).toBe('signed_out')
  await expect.poll(() => asked.filter((path) => path === '/session').length).toBe(before + 1)
  uploads.resume()
  await expect.poll(() => attempts.length).toBe(2)
})

it('an upload that the token of an earlier session sent is sent again by itself', async () => {
  const { uploads, attempts, state } = await openUploads()
  uploads.resume()
  attempts[0]?.reject(refusedToken())
  await expect.poll(() => attempts.length).toBe(2)
  attempts[1]?.resolve(undefined)
  await expect.poll(state).toBe('done')
})

it('the files of a chosen folder are uploaded below it, together, with the marker of an empty one', async () => {
  const content = new Blob([])
  const paths = ['/Trip/plan.txt', '/alone.txt', '/Trip/empty/', '/Other/a', '/Trip/Day 1/a.jpg']
  const { uploads } = await openUploads(paths.map((path) => ({ content, path })))
  const items = uploads.items.value
  expect(items.map(({ name }) => name)).toEqual([
    'Trip/plan.txt',
    'alone.txt',
    'Trip/empty/',
    'Other/a',
    'Trip/Day 1/a.jpg',
  ])
  expect(items.map(({ tree }) => tree?.folder)).toEqual([
    'Trip/',
    undefined,
    'Trip/',
    'Other/',
    'Trip/',
  ])
  expect(items[0]?.tree).toBe(items[4]?.tree)
  uploads.add([{ content, path: 'Trip/later' }])
  expect(uploads.items.value.at(-1)?.tree).not.toBe(items[0]?.tree)
})
