import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import { digest } from '../support/objects.ts'

/** A user of the drill, with what the service has acknowledged. */
export interface Account {
  readonly userId: string
  readonly cookie: string
  /** SHA-256 by name. */
  readonly files: Map<string, string>
  /** Paths of download links, and the name of their file. */
  readonly links: Map<string, string>
}

const [SMALL, LARGE] = [8_000, 100_000]

/** Every tenth file is too large for the pack. */
const contentOf = (number: number) => randomBytes(number % 10 === 0 ? LARGE : SMALL)

/** Stores files with metadata in folders, overwrites some, and makes links. */
export async function fill(url: string, account: Account, count: number): Promise<void> {
  const names = Array.from({ length: count }, (_, at) => `${at % 7}/file-${at}`)
  await inParallel(names, 4, async (name, at) => put(url, account, { name, number: at }))
  for (const [at, name] of names.slice(0, 12).entries())
    await put(url, account, { name, number: at })
  for (const name of names.slice(0, 3)) {
    const reply = await fetch(`${url}/users/me/links`, {
      method: 'POST',
      headers: { cookie: account.cookie, 'content-type': 'application/json' },
      body: JSON.stringify({ kind: 'download', name }),
    })
    expect(reply.status).toBe(201)
    const { secret } = (await reply.json()) as { readonly secret: string }
    account.links.set(`/links/${secret}`, name)
  }
}

export async function put(
  url: string,
  { cookie, files }: Account,
  { name, number }: { readonly name: string; readonly number: number },
): Promise<void> {
  const content = contentOf(number)
  const reply = await fetch(`${url}/users/me/repo/${name}`, {
    method: 'PUT',
    headers: { cookie, 'file-metadata': JSON.stringify({ number: String(number) }) },
    body: content,
  })
  expect({ name, status: reply.status, body: await reply.text() }).toMatchObject({ status: 200 })
  files.set(name, digest(content))
}

/** Everything that the service says of an account, but for what depends on the time. */
export async function describeAccount(url: string, { cookie }: Account): Promise<unknown> {
  const read = async (path: string): Promise<unknown> => {
    const reply = await fetch(url + path, { headers: { cookie } })
    expect({ path, status: reply.status }).toEqual({ path, status: 200 })
    return await reply.json()
  }
  return {
    files: await read('/users/me/repo?limit=1000'),
    history: await read('/users/me/history?limit=1000'),
    links: await read('/users/me/links?limit=1000'),
    capacity: await read('/users/me/capacity'),
    changes: await read('/users/me/changes?limit=1000'),
  }
}

/** Downloads every file, and by each link. */
export async function expectFiles(url: string, { cookie, files, links }: Account): Promise<void> {
  await inParallel([...files], 4, async ([name, sha256]) => {
    const reply = await fetch(`${url}/users/me/repo/${name}`, { headers: { cookie } })
    const found = digest(new Uint8Array(await reply.arrayBuffer()))
    expect({ name, status: reply.status, found }).toEqual({ name, status: 200, found: sha256 })
  })
  for (const [path, name] of links) {
    const reply = await fetch(`${url}${path}/${name}`)
    const found = digest(new Uint8Array(await reply.arrayBuffer()))
    expect({ name, status: reply.status, found }).toMatchObject({ found: files.get(name) })
  }
}

export async function inParallel<T>(
  items: readonly T[],
  workers: number,
  work: (item: T, at: number) => Promise<void>,
): Promise<void> {
  const entries = items.entries()
  const run = async (): Promise<void> => {
    for (const [at, item] of entries) await work(item, at)
  }
  await Promise.all(Array.from({ length: workers }, run))
}
