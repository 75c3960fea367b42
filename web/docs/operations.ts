import type { ApiDocument, OperationObject } from './api-document.ts'

/** An operation, with the method and the path that it stands under in the document. */
export interface PlacedOperation {
  readonly method: string
  readonly path: string
  readonly operation: OperationObject
}

/** The operations with a tag, in the order of the document. */
export function operationsUnder({ paths }: ApiDocument, tag: string): readonly PlacedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tags.includes(tag))
      .map(([method, operation]) => ({ method, path, operation })),
  )
}

/** The id of the section of a tag. */
export function tagAnchor(tag: string): string {
  return `tag-${tag.replaceAll(' ', '-')}`
}

export function tagTitle(tag: string): string {
  return `${tag.slice(0, 1).toUpperCase()}${tag.slice(1)}`
}
