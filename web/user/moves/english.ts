import { formatCount } from '../../shared/format.ts'

/** In English. They are not in `messages`, all of which the first visit loads. */
export const movesEnglish = {
  title: 'Move',
  action: 'Move here',
  entries: (count: number) => (count === 1 ? '1 entry' : `${formatCount(count)} entries`),
  foldersIn: (folder: string) => `Folders in ${folder}`,
  noFolders: 'There are no folders in here.',
  tooMany: (most: number) => `Only the first ${formatCount(most)} folders are shown.`,
  there: 'Already in this folder. Choose another one.',
  /** Files or folders, of which the first has the name. */
  taken: (count: number, name: string) =>
    count === 1
      ? `There is a file or folder named “${name}” already.`
      : `${formatCount(count)} of these names are taken already, one of them “${name}”.`,
  twice: (name: string) => `Two of them are named “${name}”.`,
  intoItself: 'A folder cannot be moved into itself.',
  makeAction: 'Create',
  folderName: 'Name of the folder',
}

export type MovesMessages = typeof movesEnglish
