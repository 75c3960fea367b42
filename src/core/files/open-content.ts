import type { Readable } from 'node:stream'
import { AppError } from '../errors.ts'
import type { Version } from '../objects/object-key.ts'
import {
  type ByteRange,
  discardBody,
  type ObjectStore,
  type OpenedObject,
} from '../objects/object-store.ts'
import type { FileVersion } from './file.ts'

export type Extent = 'whole' | ByteRange

/** `elsewhere`: the client gets these bytes from the store itself. */
export type Selection = 'nothing' | Extent | { readonly elsewhere: Extent }

export interface SelectContent {
  /** Decides which bytes of the version that is found are read; all of them by default. May throw. */
  readonly select?: ((file: FileVersion) => Selection) | undefined
  readonly signal: AbortSignal
}

export interface OpenedFile {
  readonly file: FileVersion
  readonly selection: Selection
  /** `undefined` if nothing is read here or `content` is set. Otherwise as `OpenedObject.body`. */
  readonly body: Readable | undefined
  /** The selected bytes, if they are already in memory. */
  readonly content?: Uint8Array | undefined
  readonly release?: OpenedObject['release']
}

interface Content extends SelectContent {
  readonly objects: ObjectStore
  readonly find: () => Promise<FileVersion>
}

/**
 * Opens what `select` chooses of the file that `find` resolves to. If the object is missing, both run again: after an
 * overwrite, the row already has the new object. Rejects with their errors, with `internal_error` if the object has
 * another size, and with `unavailable` (cause `MissingObject`) if the store has no object.
 */
export async function openContent(content: Content): Promise<OpenedFile> {
  const { objects, find, select = () => 'whole', signal } = content
  let missing: Version | undefined
  for (;;) {
    const file = await find()
    const selection = select(file)
    if (selection === 'nothing' || isElsewhere(selection)) {
      return { file, selection, body: undefined }
    }
    const range = selection === 'whole' ? undefined : selection
    const opened = await openObject({ objects, file, range, signal })
    if (opened !== undefined) {
      const { body, release } = opened
      return body instanceof Uint8Array
        ? { file, selection, body: undefined, content: body }
        : { file, selection, body, release }
    }
    if (file.version === missing) throw missingObject(file)
    missing = file.version
  }
}

export function isElsewhere(selection: Selection): selection is { readonly elsewhere: Extent } {
  return typeof selection === 'object' && 'elsewhere' in selection
}

/** The bytes that the client gets, from here or elsewhere. */
export function extentOf(selection: Selection): 'nothing' | Extent {
  return isElsewhere(selection) ? selection.elsewhere : selection
}

type Stored = Pick<FileVersion, 'objectKey' | 'size'>

interface OpenVersion {
  readonly objects: ObjectStore
  readonly file: Stored
  readonly range?: ByteRange | undefined
  readonly signal: AbortSignal
}

/** Opens this version, whatever its name has become. Rejects as `openContent`. */
export async function openVersion(version: OpenVersion): Promise<OpenedObject> {
  const opened = await openObject(version)
  if (opened === undefined) throw missingObject(version.file)
  return opened
}

async function openObject({
  objects,
  file,
  range,
  signal,
}: OpenVersion): Promise<OpenedObject | undefined> {
  const opened = await objects.open({ key: file.objectKey, range, signal })
  if (opened !== undefined && opened.size !== file.size) throw wrongSize(file, opened)
  return opened
}

/** The store reports a file's object as missing: the object is lost, or too few nodes are up to find it. */
export class MissingObject extends Error {
  constructor({ objectKey }: Stored) {
    super(`object ${objectKey} is missing`)
    this.name = 'MissingObject'
  }
}

function missingObject(file: Stored): AppError {
  return new AppError('unavailable', 'The content of this file is currently unavailable.', {
    cause: new MissingObject(file),
  })
}

function wrongSize({ objectKey, size }: Stored, opened: OpenedObject): AppError {
  discardBody(opened)
  return unreadable(`object ${objectKey} has ${opened.size} bytes instead of ${size}`)
}

/** What was read of a whole object has this CRC-32 instead of the recorded one. */
export function wrongChecksum(file: Stored & Pick<FileVersion, 'crc32'>, found: number): AppError {
  return unreadable(`object ${file.objectKey} has CRC-32 ${found} instead of ${file.crc32}`)
}

function unreadable(fault: string): AppError {
  const cause = new Error(fault)
  return new AppError('internal_error', 'The content of this file cannot be read.', { cause })
}
