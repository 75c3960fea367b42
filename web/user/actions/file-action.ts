import type { FileUpdate } from '../../../packages/js/src/client.ts'
import { isProblem } from '../../../packages/js/src/errors.ts'
import { failureOf } from '../../shared/error-message.ts'
import type { Point } from '../../shared/dialog.tsx'
import type { FileEntry } from '../../shared/model.ts'
import type { Entry } from '../files/shown-entries.ts'
import { messages } from '../../messages.ts'
import type { Page } from '../user-page.ts'
import type { RowAction } from './row-actions.ts'

export type ActionKind = RowAction | 'open' | 'more'

/** What a user does with one file, or with one folder. */
export interface FileAction {
  readonly kind: ActionKind
  readonly entry: Entry
  /** Where the actions were asked for. */
  readonly at?: Point | undefined
}

export type Act = (kind: ActionKind, entry: Entry, at?: Point) => void

/** What the dialogs of all actions have in common. */
export interface FileActionProps {
  readonly page: Page
  readonly action: FileAction
  readonly onAct: Act
  readonly onClose: () => void
}

/** Updates a file, and no other that has its name by now, perhaps of a user who has signed in meanwhile. */
export async function changeFile(page: Page, file: FileEntry, update: FileUpdate): Promise<void> {
  showChanged(page, file, await page.client.files.update(file.name, update, { ifMatch: file.etag }))
}

export function showChanged({ list, capacity }: Page, file: FileEntry, changed: FileEntry): void {
  if (changed.name !== file.name) list.drop(file.name)
  list.put(changed)
  capacity.refresh()
}

/** Why a file was not changed. */
export function changeProblem(error: unknown): string {
  const isGone = isProblem(error, 'not_found', 'precondition_failed')
  return isGone ? messages.rename.gone : failureOf(error)
}
