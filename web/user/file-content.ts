import { type Connection, filePath } from '../shared/connection.ts'
import type { FileEntry } from '../shared/model.ts'

/** What a page needs to show a file, besides the API. */
export interface FileContent {
  /** Downloads the file. */
  downloadUrlOf(file: FileEntry): string
  /** The file as its media type, if the service shows that type; otherwise a download. */
  inlineUrlOf(file: FileEntry): string
}

export function createFileContent(connection: Pick<Connection, 'urlOf'>): FileContent {
  return {
    downloadUrlOf: ({ name }) => connection.urlOf(filePath(name)),
    inlineUrlOf: ({ name }) => connection.urlOf(`${filePath(name)}?inline=true`),
  }
}
