import { compareNames } from './format.ts'
import type { GatheredFile } from './gathered-file.ts'

/** The chosen files of a field, which lets the user choose the same ones again. Their sizes are known when it resolves. */
export async function takePicked(input: HTMLInputElement): Promise<readonly GatheredFile[]> {
  const picked = [...(input.files ?? [])]
  input.value = ''
  await knowSizes(picked)
  const files = picked.map((content) => ({
    content,
    path: content.webkitRelativePath || content.name,
  }))
  return input.webkitdirectory ? files.toSorted((a, b) => compareNames(a.path, b.path)) : files
}

/** Browsers ask the disk for each size when it is first read, which holds the page for seconds if they are thousands. */
async function knowSizes(files: readonly File[]): Promise<void> {
  let since = performance.now()
  for (const { size } of files) {
    if (size >= 0 && performance.now() - since < HELD_MS) continue
    await new Promise((resolve) => setTimeout(resolve))
    since = performance.now()
  }
}

/** No task of the page should take longer than 50 ms. */
const HELD_MS = 20

/** What is dropped, with all that is in its folders. Call it before the event ends. Leaves out what cannot be read. */
export async function gatherDropped({ items }: DataTransfer): Promise<readonly GatheredFile[]> {
  const entries = Array.from(items, (item) => item.webkitGetAsEntry())
  const files: GatheredFile[] = []
  for (const entry of entries) if (entry !== null) await gather(entry, files)
  return files
}

async function gather(entry: FileSystemEntry, files: GatheredFile[]): Promise<void> {
  try {
    if (isFile(entry)) files.push({ content: await fileOf(entry), path: entry.fullPath })
    if (!isFolder(entry)) return
    const entries = await entriesOf(entry)
    if (entries.length === 0) files.push({ content: new Blob([]), path: `${entry.fullPath}/` })
    for (const below of entries.toSorted(byName)) await gather(below, files)
  } catch {
    // It has been removed or locked since.
  }
}

function byName(a: FileSystemEntry, b: FileSystemEntry): number {
  return compareNames(a.name, b.name)
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile
}

function isFolder(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject))
}

/** Browsers return the entries of a folder in batches, and an empty batch at the end. */
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<readonly FileSystemEntry[]> {
  const reader = folder.createReader()
  const entries: FileSystemEntry[] = []
  for (;;) {
    const batch = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    )
    if (batch.length === 0) return entries
    entries.push(...batch)
  }
}
