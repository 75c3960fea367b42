import { clientError } from '../errors.ts'
import type { components } from '../generated/api.ts'
import { type Http, segment } from '../http/http.ts'

/** A file of a repository. */
export type StoredFile = components['schemas']['StoredFile']
export type FilePage = components['schemas']['FilePage']

/** The path of a user's files; of the caller's own if `undefined`. */
export function repositoryPath(userId: string | undefined): string {
  return `users/${userId === undefined ? 'me' : segment(userId)}/repo`
}

export async function getFile(http: Http, question: FileQuestion): Promise<StoredFile> {
  const file = await findFile(http, question)
  if (file === undefined) throw clientError('not_found', 'There is no such file.')
  return file
}

/** Reads a listing that begins with the file, because no other request returns one as JSON. */
export async function findFile(
  http: Http,
  { name, userId, signal }: FileQuestion,
): Promise<StoredFile | undefined> {
  const query = { prefix: name, limit: 1 }
  const page = await http.json<FilePage>({ path: repositoryPath(userId), query, signal })
  const [file] = page.files
  return file?.name === name ? file : undefined
}

interface FileQuestion {
  readonly name: string
  readonly userId?: string | undefined
  readonly signal?: AbortSignal | undefined
}
