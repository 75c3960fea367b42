import { isSegment } from '../../shared/file-name.ts'
import { Refusal } from '../../shared/refusal.ts'
import { messages } from '../../messages.ts'
import { assertName } from '../moves/refusals.ts'
import { takenNames } from '../moves/taken-names.ts'
import { words } from '../moves/words.ts'
import type { Page } from '../user-page.ts'
import { SEPARATOR } from '../../shared/folder.ts'

/**
 * Makes a folder by storing its marker, and resolves to it. Rejects with a `Refusal` if a folder cannot have the name, or
 * if it is taken.
 */
export async function makeFolder(page: Page, around: string, name: string): Promise<string> {
  const { client, list, capacity, permissions } = page
  if (!isSegment(name)) throw new Refusal(messages.rename.invalid)
  const folder = around + name + SEPARATOR
  assertName(folder, permissions)
  const { narrow } = permissions
  const taken = await takenNames({ service: client.files, list, narrow }, [folder])
  if (taken.length > 0) throw new Refusal(words.taken(1, name))
  list.put(await client.files.upload(folder, new Blob(), { ifNoneMatch: '*' }))
  capacity.refresh()
  return folder
}
