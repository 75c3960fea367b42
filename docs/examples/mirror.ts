// Keeps a folder equal to a repository, and deletes everything else in it. Reads BASE_URL and ACCESS_TOKEN from the
// environment.
//   node mirror.ts FOLDER
// Needs Node 22.18 or later, and "type": "module" in package.json.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, readdir, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { type Change, createClient, isProblem } from '@cloud-repository/client'

const { BASE_URL = '', ACCESS_TOKEN } = process.env
const retry = { tries: Infinity, maxWait: 3600 }
const { files, changes } = createClient({ url: BASE_URL, token: ACCESS_TOKEN, retry })
const root = resolve(process.argv[2] ?? 'copy')
/** No file of a repository has a name with such a character. */
const part = join(root, '.part\u007f')
/** The folders that are kept without a file. */
const markers = new Set<string>()
await mkdir(root, { recursive: true })

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
  const digests = new Map<string, string>()
  let cursor: string | undefined
  for await (const page of files.list({ limit: 1000 }).pages()) {
    // From before the first page was read: following it misses nothing.
    cursor ??= page.changes_cursor
    for (const { name, sha256 } of page.files) digests.set(name, sha256)
  }
  markers.clear()
  for (const name of digests.keys()) if (name.endsWith('/')) markers.add(name)
  await removeOthers(root, digests)
  for (const [name, sha256] of digests) await attempt(name, () => copy(name, sha256))
  return cursor
}

async function removeOthers(folder: string, names: ReadonlyMap<string, string>) {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await removeOthers(path, names)
    // Not what a symbolic link leads to.
    else if (!entry.isFile() || !names.has(nameOf(path))) await rm(path)
  }
  await removeEmpty(folder)
}

async function apply(change: Change) {
  // A change of the capacity has no file.
  if (change.name === undefined) return
  const { type, name, sha256, previous_name: before } = change
  await attempt(name, async () => {
    if (before !== undefined) await move(before, name, sha256)
    if (/deleted|evicted|expired/.test(type)) await remove(name)
    else await copy(name, sha256)
  })
}

/** Goes on after a file that this machine does not take, for example because of its name. */
async function attempt(name: string, work: () => Promise<void>) {
  try {
    await work()
  } catch (error) {
    if (isProblem(error)) throw error
    console.error(`${name}: ${String(error)}`)
  }
}

/** Gets the current content, which can be newer than the change: then another change follows. */
async function copy(name: string, sha256: string) {
  const path = pathOf(name)
  if (name.endsWith('/')) {
    markers.add(name)
    await mkdir(path, { recursive: true })
  } else if ((await digest(path)) !== sha256) {
    try {
      const { stream } = await files.download(name)
      await writeFile(part, stream)
      await mkdir(dirname(path), { recursive: true })
      await rename(part, path)
    } catch (error) {
      // Its own change follows.
      if (!isProblem(error, 'not_found', 'file_changed')) throw error
    }
  }
}

async function move(name: string, newName: string, sha256: string) {
  const [path, newPath] = [pathOf(name), pathOf(newName)]
  if (!name.endsWith('/') && (await digest(path)) === sha256) {
    await mkdir(dirname(newPath), { recursive: true })
    await rename(path, newPath)
  }
  await remove(name)
}

async function remove(name: string) {
  const path = pathOf(name)
  markers.delete(name)
  if (!name.endsWith('/')) await rm(path, { force: true })
  await removeEmpty(name.endsWith('/') ? path : dirname(path))
}

/** Removes a folder, and then those around it, unless they have files or a marker. */
async function removeEmpty(folder: string) {
  if (folder === root || markers.has(`${nameOf(folder)}/`)) return
  const isRemoved = await rmdir(folder).then(
    () => true,
    () => false,
  )
  if (isRemoved) await removeEmpty(dirname(folder))
}

/** Where a file belongs, which is in the folder, whatever its name is. */
function pathOf(name: string) {
  const path = join(root, name.replace(/\/$/, ''))
  if (!path.startsWith(root + sep)) throw new RangeError('It would be outside of the folder.')
  return path
}

function nameOf(path: string) {
  return relative(root, path).split(sep).join('/')
}

async function digest(path: string) {
  const hash = createHash('sha256')
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk)
  } catch {
    return undefined
  }
  return hash.digest('hex')
}
