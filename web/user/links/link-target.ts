import type { LinkEntry } from '../../shared/model.ts'
import { isMarker } from '../../shared/folder.ts'

/** What a link is for, by the path of a file, or of a folder with the slash at its end; empty for all files. */
export type LinkPath = string

export function isFolderPath(path: LinkPath): boolean {
  return path === '' || isMarker(path)
}

/** The members of a request that say what a new link is for. */
export type LinkTarget = { readonly name: string } | { readonly prefix: string }

export function targetOf(path: LinkPath): LinkTarget {
  return isFolderPath(path) ? { prefix: path } : { name: path }
}

export function isFor({ name, prefix }: LinkEntry, path: LinkPath): boolean {
  return (isFolderPath(path) ? prefix : name) === path
}

/** A folder as it is typed, with its slash. */
export function typedFolder(text: string): LinkPath {
  const names = text.split('/').map((name) => name.trim())
  const path = names.filter((name) => name !== '').join('/')
  return path === '' ? '' : `${path}/`
}
