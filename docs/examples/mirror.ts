// Keeps a folder equal to a repository. Reads BASE_URL and ACCESS_TOKEN from the environment.
//   node mirror.ts FOLDER
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { type Change, createClient, isProblem } from '@cloud-repository/client'

const { BASE_URL = '', ACCESS_TOKEN } = process.env
const retry = { tries: Infinity, maxWait: 3600 }
const { files, changes } = createClient({ url: BASE_URL, token: ACCESS_TOKEN, retry })
const [, , folder = 'copy'] = process.argv
await mkdir(folder, { recursive: true })
process.chdir(folder)

while (true) {
  const cursor = await copyAll()
  try {
    for await (const change of changes.follow({ cursor })) await apply(change)
  } catch (error) {
    // The service no longer knows the changes after the cursor.
    if (!isProblem(error, 'cursor_expired')) throw error
  }
}

/** Copies every file, and returns the cursor of the changes since then. */
async function copyAll() {
  const names = new Set<string>()
  let cursor: string | undefined
  for await (const page of files.list({ limit: 1000 }).pages()) {
    // From before the first page was read: following it misses nothing.
    cursor ??= page.changes_cursor
    for (const { name, sha256 } of page.files) {
      names.add(name)
      if ((await digest(name)) !== sha256) await copy(name)
    }
  }
  for (const name of await readdir('.')) if (!names.has(name)) await rm(name)
  return cursor
}

async function apply(change: Change) {
  // A change of the capacity has no file.
  if (change.name === undefined) return
  const { type, name, sha256, previous_name: before } = change
  if (before !== undefined) await rename(before, name).catch(() => undefined)
  if (/deleted|evicted|expired/.test(type)) await rm(name, { force: true })
  else if ((await digest(name)) !== sha256) await copy(name)
}

/** Gets the current content, which can be newer than the change: then another change follows. */
async function copy(name: string) {
  try {
    const { stream } = await files.download(name)
    await writeFile('.part', stream)
    await rename('.part', name)
  } catch (error) {
    // Its own change follows.
    if (!isProblem(error, 'not_found', 'file_changed')) throw error
  }
}

async function digest(name: string) {
  const hash = createHash('sha256')
  try {
    for await (const chunk of createReadStream(name)) hash.update(chunk)
  } catch {
    return undefined
  }
  return hash.digest('hex')
}
