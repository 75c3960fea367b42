// Uploads and downloads files with fetch and FormData. Reads BASE_URL and ACCESS_TOKEN from the environment.
//   node client.ts upload FILE NAME [ETAG]
//   node client.ts download NAME FILE
import { openAsBlob } from 'node:fs'
import { open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'

const TRIES = 5
const MAX_WAIT_SECONDS = 60

/** Creates or replaces the file with that name. With an etag, replaces only that version. */
async function upload(path: string, name: string, etag?: string): Promise<void> {
  const form = new FormData()
  // The blob only refers to the file, but the fetch of Node 24 reads ahead of the network and may end up holding all
  // of it in memory. For files that do not fit into memory, send the form with node:http.
  form.append('file', await openAsBlob(path), 'file')
  const headers: Record<string, string> = etag === undefined ? {} : { 'if-match': `"${etag}"` }
  const response = await retry(() => request(name, { method: 'POST', body: form, headers }))
  console.log(await response.text())
}

/** Downloads a file. Resumes the download of an earlier attempt or run that was cut off. */
async function download(name: string, path: string): Promise<void> {
  const part = `${path}.part`
  const tag = `${path}.etag`
  await retry(async () => {
    const [have, etag] = await Promise.all([sizeOf(part), readFile(tag, 'utf8').catch(() => '')])
    // With If-Range, the service sends the whole file if it has changed.
    const isPartial = have > 0 && etag !== ''
    const headers: Record<string, string> = isPartial
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
  // Replace the target only when the download is complete.
  await rename(part, path)
  await rm(tag)
}

/** Appends the content to the file. Rejects if the content is incomplete. */
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

/** Retries temporary failures after the delay that the service requests, unless that exceeds a minute. */
async function retry(send: () => Promise<Response>, left = TRIES - 1): Promise<Response> {
  const response = await send().catch((error: unknown): undefined => {
    if (left === 0) throw error
  })
  // 416: an earlier run received every byte.
  if (response?.ok || response?.status === 416) return response
  const isTemporary = response === undefined || [408, 429, 503].includes(response.status)
  const seconds = Number(response?.headers.get('retry-after') ?? 1)
  if (!isTemporary || left === 0 || seconds > MAX_WAIT_SECONDS) return await fail(response)
  await setTimeout(1000 * seconds)
  return retry(send, left - 1)
}

async function fail(response: Response | undefined): Promise<never> {
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
