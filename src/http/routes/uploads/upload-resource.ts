import type { ResumableUpload } from '../../../core/resumable/resumable-ledger.ts'
import { formatTimestamp } from '../../../core/timestamp.ts'
import { Bytes, OneOf, Text, TextOrNull, Time } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'

export const UPLOAD_ID = '019ab1c2-7b1e-7c3a-9a57-0d6f6d1c2b3a'

/** Schemas of the members that users and operators see of an upload. */
export function uploadSchemas<S extends string>(states: readonly S[]) {
  return {
    upload_id: Text(
      'The id of the upload, and the version of the file once it is finished.',
      UPLOAD_ID,
    ),
    name: Text('The name that the file will have.', 'film.mov'),
    state: OneOf(
      states,
      '`receiving`: an append is running. `complete`: all bytes have arrived, but the file is not stored.',
    ),
    offset: Bytes('Number of durable bytes.', 73_400_320),
    length: Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      description: 'Size of the whole file in bytes; `null` while it is deferred.',
      examples: [1_073_741_824],
    }),
    refusal: TextOrNull('The code of the last refusal to store the file.'),
    created_at: Time('When the upload was created.'),
    updated_at: Time('When the last bytes arrived.'),
    expires_at: Time('When the upload expires unless more bytes arrive.'),
  }
}

export function uploadMembers<S extends string>(upload: ResumableUpload, state: S) {
  const { version, name, offset, length, refusal } = upload
  return {
    upload_id: version,
    name,
    state,
    offset,
    length: length ?? null,
    refusal: refusal ?? null,
    created_at: formatTimestamp(upload.createdAt),
    updated_at: formatTimestamp(upload.updatedAt),
    expires_at: formatTimestamp(upload.expiresAt),
  }
}
