import { folderOf } from './folder.ts'

/** The address of the page with this folder open. It is in the fragment, so the browser sends it to no server. */
export function addressOf(folder: string): string {
  const page = location.pathname + location.search
  return folder === '' ? page : `${page}#${new URLSearchParams({ folder }).toString()}`
}

/** The folder that the address of the page has; empty for none. */
export function addressedFolder(): string {
  return folderOf(new URLSearchParams(location.hash.slice(1)).get('folder') ?? '')
}
