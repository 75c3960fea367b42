import type { FileEntry } from '../../shared/model.ts'
import { foldersAround, plainName, SEPARATOR } from '../../shared/folder.ts'
import type { FileList } from '../files/file-list.ts'
import type { Permissions } from '../permissions.ts'
import type { UploadItem, UploadTree } from './upload-item.ts'

/** What the repository has where an upload wants to be. */
export interface Existing {
  readonly file: FileEntry | undefined
  /** Whether a folder has the name of the file. */
  readonly isFolder: boolean
  /** The file that has the name of a folder around it. */
  readonly around?: string | undefined
}

export interface ExistingFilesOptions {
  readonly list: Pick<FileList, 'entries' | 'find' | 'filesIn'>
  readonly permissions: Pick<Permissions, 'may'>
}

/**
 * Finds what an upload would replace. The first look at the files of a chosen folder is one listing of the folder that
 * they share; a later look at one of them asks for it alone, because it may have changed since.
 */
export function createExistingFiles({ list, permissions }: ExistingFilesOptions) {
  const trees = new WeakMap<UploadTree, Promise<KnownFiles | undefined>>()
  const looked = new WeakSet<UploadItem>()

  async function knownIn(item: UploadItem): Promise<KnownFiles | undefined> {
    const { tree } = item
    const isFirst = !looked.has(item)
    looked.add(item)
    if (!isFirst || tree === undefined || !item.name.startsWith(tree.folder)) return undefined
    if (!permissions.may('read')) return undefined
    const known = trees.get(tree) ?? readTree(tree.folder)
    trees.set(tree, known)
    try {
      return await known
    } catch (error) {
      trees.delete(tree)
      looked.delete(item)
      throw error
    }
  }

  async function readTree(folder: string): Promise<KnownFiles | undefined> {
    const files = new Map<string, FileEntry>()
    const above = await list.find(plainName(folder))
    if (above !== undefined) files.set(above.name, above)
    for await (const page of list.filesIn(folder)) {
      for (const file of page.files) files.set(file.name, file)
      if (files.size > MOST_KNOWN && page.next_cursor !== null) return undefined
    }
    return { files, folders: new Set([...files.keys()].flatMap((name) => foldersAround(name))) }
  }

  return async (item: UploadItem): Promise<Existing> => {
    const { name } = item
    const known = await knownIn(item)
    if (known === undefined) {
      const file = await list.find(name)
      return { file, isFolder: list.entries.value.includes(name + SEPARATOR) }
    }
    const { files, folders } = known
    const around = foldersAround(name).map(plainName)
    return {
      file: files.get(name),
      isFolder: folders.has(name + SEPARATOR),
      around: around.find((file) => files.has(file)),
    }
  }
}

interface KnownFiles {
  readonly files: ReadonlyMap<string, FileEntry>
  readonly folders: ReadonlySet<string>
}

/** A folder of more files is asked for each of those that are uploaded. */
const MOST_KNOWN = 2_000
