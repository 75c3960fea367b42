import { isAppError } from '../errors.ts'
import { isReference } from '../quota/grants.ts'
import type { ContentDescription, FileVersion, SentDescription } from './file.ts'
import { type FileName, parseFileName } from './file-name.ts'
import { mediaTypeOf } from './media-type.ts'
import { NO_METADATA, parseMetadata } from './metadata.ts'
import type { ObjectHead } from '../objects/object-store.ts'

type ObjectMetadata = ObjectHead['metadata']

interface DescribedContent extends SentDescription {
  readonly name: FileName
  readonly deviceId?: string | undefined
}

/**
 * What lets a rebuild restore the file: its name and device, and its media type and metadata if the upload has sent
 * them. Metadata that do not fit are left out. Holds nothing mutable: an old visibility could expose a private file.
 */
export function objectMetadata(content: DescribedContent): ObjectMetadata {
  const { name, mediaType, metadata, deviceId } = content
  const described: Record<string, string> = { name: encoded(name) }
  if (mediaType) described[MEDIA_TYPE] = encoded(mediaType)
  // Not encoded: all its characters may be in a header.
  if (deviceId !== undefined) described[DEVICE] = deviceId
  if (!metadata || metadata === NO_METADATA) return described
  const whole = { ...described, [METADATA]: encoded(metadata) }
  return bytesOf(whole) <= MAX_OBJECT_METADATA_BYTES ? whole : described
}

/** Percent-encoded, the longest name would not fit. */
function encoded(text: string): string {
  return Buffer.from(text).toString('base64url')
}

function decoded(text: string): string {
  return Buffer.from(text, 'base64url').toString()
}

const MEDIA_TYPE = 'media-type'
const METADATA = 'metadata'
const DEVICE = 'device'

/** Amazon S3 counts names and values, MinIO also the prefix of each name; versitygw counts as Amazon S3 does. */
export const MAX_OBJECT_METADATA_BYTES = 2048

export const PREFIX_BYTES = 'x-amz-meta-'.length

/** As MinIO counts. All names and values are ASCII. */
function bytesOf(metadata: ObjectMetadata): number {
  return Object.entries(metadata).reduce(
    (sum, [name, value]) => sum + PREFIX_BYTES + name.length + value.length,
    0,
  )
}

/** The file name in an object's metadata; `undefined` when missing or invalid. */
export function nameIn({ name }: ObjectMetadata): FileName | undefined {
  return readable(() => (name === undefined ? undefined : parseFileName(decoded(name))))
}

/** What else `objectMetadata` has recorded. What is missing or invalid is `null`. */
export function descriptionIn(
  recorded: ObjectMetadata,
): ContentDescription & Pick<FileVersion, 'deviceId'> {
  const { [MEDIA_TYPE]: type, [METADATA]: metadata = '', [DEVICE]: device = '' } = recorded
  return {
    mediaType: readable(() => mediaTypeOf(type && decoded(type))) ?? null,
    metadata: readable(() => parseMetadata(decoded(metadata))) ?? null,
    deviceId: isReference(device) ? device : null,
  }
}

function readable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (isAppError(error)) return undefined
    throw error
  }
}
