// Uploads and downloads with fetch and FormData. BASE_URL and ACCESS_TOKEN come from the environment.
//   node client.ts upload FILE NAME [ETAG]
//   node client.ts download NAME FILE
import { openAsBlob } from 'node:fs'
import { open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'

const TRIES = 5
const MAX_WAIT_SECONDS = 60

/** Replaces the file of that name, if there is one; with an etag only if it is that version still. */
async function upload(path: string, name: string, etag?: string): Promise<void> {
  const form = new FormData()
  // The blob only refers to the file, but the fetch of Node 24 reads ahead of the network and can come to hold all
  // of it. For files that memory has no room for, send the form with node:http.
  form.append('file', await openAsBlob(path), 'file')
  const headers: Record<string, string> = etag === undefined ? {} : { 'if-match': `"${etag}"` }
  const response = await persist(() => request(name, { method: 'POST', body: form, headers }))
  console.log(await response.text())
}

/** Goes on where an earlier try, or an earlier run, was cut off. */
async function download(name: string, path: string): Promise<void> {
  const part = `${path}.part`
  const tag = `${path}.etag`
  await persist(async () => {
    const [have, etag] = await Promise.all([sizeOf(part), readFile(tag, 'utf8').catch(() => '')])
    // If-Range has the whole file sent when it is another by now.
    const isBegun = have > 0 && etag !== ''
    const headers: Record<string, string> = isBegun
      ? { range: `bytes=${have}-`, 'if-range': etag }
      : {}
    const response = await request(name, { headers })
    if (response.status === 200) {
      await writeFile(part, '')
      await writeFile(tag, response.headers.get('etag') ?? '')
    }
    if (response.ok) await append(part, response)
    return response
  })
  // Whatever was there stayed until the whole content had come.
  await rename(part, path)
  await rm(tag)
}

/** Rejects when the content does not come whole. */
async function append(path: string, { body }: Response): Promise<void> {
  await using file = await open(path, 'a')
  const chunks = (body ?? []) as AsyncIterable<Uint8Array>
  for await (const chunk of chunks) await file.writeFile(chunk)
}

function request(name: string, init: RequestInit): Promise<Response> {
  const { BASE_URL, ACCESS_TOKEN } = process.env
  const headers = { ...(init.headers as object), cookie: `access_token=${ACCESS_TOKEN}` }
  return fetch(`${BASE_URL}/users/me/repo/${encodeURIComponent(name)}`, { ...init, headers })
}

/** Sends again what may work the next time, after as long as the service asks for, if that is a minute at most. */
async function persist(send: () => Promise<Response>, left = TRIES - 1): Promise<Response> {
  const response = await send().catch((error: unknown): undefined => {
    if (left === 0) throw error
  })
  // 416: an earlier run was cut off when all had come.
  if (response?.ok || response?.status === 416) return response
  const isLate = response === undefined || [408, 429, 503].includes(response.status)
  const seconds = Number(response?.headers.get('retry-after') ?? 1)
  if (!isLate || left === 0 || seconds > MAX_WAIT_SECONDS) return await refuse(response)
  await setTimeout(1000 * seconds)
  return persist(send, left - 1)
}

async function refuse(response: Response | undefined): Promise<never> {
  const text = (await response?.text()) ?? '{}'
  console.error(`${response?.status} ${text}`)
  const problem = JSON.parse(text) as { readonly code?: string; readonly available?: number }
  if (problem.code === 'capacity_exceeded') {
    console.error(`full: ${problem.available} bytes are left`)
  }
  process.exit(1)
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  )
}

const [command, source = '', target = '', etag] = process.argv.slice(2)
await (command === 'upload' ? upload(source, target, etag) : download(source, target))
