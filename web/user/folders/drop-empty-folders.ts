import type { Entry } from '../files/shown-entries.ts'
import type { ManyPage } from '../selection/run-steps.ts'
import { isEmptyFolder } from './folder-check.ts'

/** Removes the folders that are empty now from the list: others may have got files meanwhile. Never rejects. */
export async function dropEmptyFolders(
  { client, list, permissions }: ManyPage,
  entries: readonly Entry[],
): Promise<void> {
  try {
    for (const entry of entries) {
      if (typeof entry !== 'string') continue
      if (await isEmptyFolder(client.files, permissions.narrow(entry))) list.dropFolder(entry)
    }
  } catch {
    // The list asks too, only later.
  }
}
