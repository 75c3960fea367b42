// Uploads and downloads files with fetch and FormData. Save it as client.mjs. It needs Node.js 20 or newer, but no
// package.json and no packages. Reads BASE_URL and ACCESS_TOKEN from the environment.
//   node client.mjs upload FILE NAME [ETAG]
//   node client.mjs download NAME FILE
// As a library: import { upload, download } from './client.mjs'
import { existsSync, openAsBlob, realpathSync } from 'node:fs'
import { access, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

const TRIES = 5
const MAX_WAIT_SECONDS = 60

/** @typedef {{ baseUrl: string, accessToken: string }} Service */

/** The service refused the request. `problem` is the problem document: branch on `problem.code`. */
export class Refusal extends Error {
  /** @param {number} status @param {string} text */
  constructor(status, text) {
    super(`${status} ${text}`)
    this.name = 'Refusal'
    this.status = status
    /** @type {{ code?: string, available?: number }} */
    this.problem = parseProblem(text)
  }
}

/**
 * Creates or replaces the file with that name. With an etag, replaces only that version.
 * @param {Service} service @param {string} path @param {string} name @param {string} [etag]
 * @returns {Promise<{ name: string, size: number, sha256: string, etag: string }>}
 */
export async function upload(service, path, name, etag) {
  await access(path)
  const form = new FormData()
  // The blob only refers to the file, but the fetch of Node.js reads ahead of the network and may end up holding all
  // of it in memory. For files that do not fit into memory, send the form with node:http.
  form.append('file', await openAsBlob(path), 'file')
  /** @type {Record<string, string>} */
  const headers = etag === undefined ? {} : { 'if-match': `"${etag}"` }
  const response = await retry(() =>
    request(service, name, { method: 'POST', body: form, headers }),
  )
  return /** @type {Promise<any>} */ (response.json())
}

/**
 * Downloads a file. Resumes the download of an earlier attempt or run that was cut off.
 * @param {Service} service @param {string} name @param {string} path
 */
export async function download(service, name, path) {
  const part = `${path}.part`
  const tag = `${path}.etag`
  await retry(async () => {
    const [have, etag] = await Promise.all([sizeOf(part), readFile(tag, 'utf8').catch(() => '')])
    // With If-Range, the service sends the whole file if it has changed.
    const isPartial = have > 0 && etag !== ''
    /** @type {Record<string, string>} */
    const headers = isPartial ? { range: `bytes=${have}-`, 'if-range': etag } : {}
    const response = await request(service, name, { headers })
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

/**
 * Appends the content to the file. Rejects if the content is incomplete.
 * @param {string} path @param {Response} response
 */
async function append(path, { body }) {
  const file = await open(path, 'a')
  try {
    const chunks = /** @type {AsyncIterable<Uint8Array>} */ (body ?? [])
    for await (const chunk of chunks) await file.writeFile(chunk)
  } finally {
    await file.close()
  }
}

/** @param {Service} service @param {string} name @param {RequestInit} init */
function request({ baseUrl, accessToken }, name, init) {
  const headers = { .../** @type {object} */ (init.headers), cookie: `access_token=${accessToken}` }
  return fetch(`${baseUrl}/users/me/repo/${encodeURIComponent(name)}`, { ...init, headers })
}

/**
 * Retries temporary failures after the delay that the service requests, unless that exceeds a minute.
 * @param {() => Promise<Response>} send @param {number} left @returns {Promise<Response>}
 */
async function retry(send, left = TRIES - 1) {
  const response = await send().catch((error) => {
    // Reading or writing the file failed. `fetch` reports a lost connection as a TypeError.
    if (left === 0 || !(error instanceof TypeError)) throw error
  })
  // 416: an earlier run received every byte.
  if (response?.ok || response?.status === 416) return response
  const isTemporary = response === undefined || [408, 429, 503].includes(response.status)
  const seconds = Number(response?.headers.get('retry-after') ?? 1)
  if (response && (!isTemporary || left === 0 || seconds > MAX_WAIT_SECONDS)) {
    throw new Refusal(response.status, await response.text())
  }
  await setTimeout(1000 * seconds)
  return retry(send, left - 1)
}

/** @param {string} text */
function parseProblem(text) {
  try {
    return JSON.parse(text)
  } catch {
    // A proxy in between has answered.
    return {}
  }
}

/** @param {string} path @returns {Promise<number>} */
async function sizeOf(path) {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  )
}

/** @param {unknown} error @returns {string} */
function explain(error) {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof Refusal && error.problem.code === 'capacity_exceeded') {
    return `${error.message}\nfull: ${error.problem.available} bytes are left`
  }
  const { code } = /** @type {{ code?: string }} */ (error.cause ?? {})
  return error.cause === undefined ? error.message : `${error.message}: ${code ?? error.cause}`
}

const USAGE = `usage: node client.mjs upload FILE NAME [ETAG]
       node client.mjs download NAME FILE
The environment variables BASE_URL (such as http://127.0.0.1:3000) and ACCESS_TOKEN must be set.`

/** The program. Returns its exit code. */
async function main() {
  const { BASE_URL: baseUrl, ACCESS_TOKEN: accessToken } = process.env
  const [command, source, target, etag] = process.argv.slice(2)
  const isKnown = command === 'upload' || command === 'download'
  if (!isKnown || !source || !target || !baseUrl || !accessToken) {
    console.error(USAGE)
    return 2
  }
  const service = { baseUrl, accessToken }
  try {
    if (command === 'download') await download(service, source, target)
    else console.log(JSON.stringify(await upload(service, source, target, etag)))
    return 0
  } catch (error) {
    console.error(explain(error))
    return 1
  }
}

// Not if another program imports this file.
const [, started = ''] = process.argv
if (existsSync(started) && pathToFileURL(realpathSync(started)).href === import.meta.url)
  process.exitCode = await main()
