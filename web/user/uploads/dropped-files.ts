import { folderAt } from '../folders/folder-at.ts'
import type { GatheredFile } from './upload-item.ts'

/**
 * Takes files and folders that are dropped on an element, which has the class `drag-over` while they are above it. They
 * are for the folder whose element, with `data-folder`, they are dropped on.
 */
export function takeDroppedFiles(
  target: HTMLElement,
  onDropped: (files: readonly GatheredFile[], folder: string | undefined) => void,
): void {
  function listen(
    type: 'dragover' | 'dragleave' | 'drop',
    act: (data: DataTransfer, at: EventTarget | null) => void,
  ): void {
    target.addEventListener(type, (event) => {
      const { dataTransfer } = event
      if (dataTransfer?.types.includes('Files') !== true) return
      event.preventDefault()
      target.classList.toggle('drag-over', type === 'dragover')
      act(dataTransfer, event.target)
    })
  }
  listen('dragover', (data) => {
    data.dropEffect = 'copy'
  })
  listen('dragleave', () => undefined)
  listen('drop', (data, at) => {
    // The entries have to be taken before the event ends.
    const entries = Array.from(data.items, (item) => item.webkitGetAsEntry())
    void take(
      entries.filter((entry) => entry !== null),
      folderAt(at)?.dataset['folder'],
    )
  })

  async function take(entries: readonly FileSystemEntry[], folder?: string): Promise<void> {
    const files = await gather(entries)
    if (files.length > 0) onDropped(files, folder)
  }
}

/** The files of folders and their folders. Leaves out what cannot be read. */
async function gather(entries: readonly FileSystemEntry[]): Promise<readonly GatheredFile[]> {
  const files: GatheredFile[] = []
  for (const entry of entries) {
    try {
      if (isFile(entry)) files.push({ content: await fileOf(entry), path: entry.fullPath })
      else if (isFolder(entry)) files.push(...(await gather(await entriesOf(entry))))
    } catch {
      // It has been removed or locked since.
    }
  }
  return files
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
