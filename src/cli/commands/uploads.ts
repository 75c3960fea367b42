import { invalidParameter } from '../../core/errors.ts'
import { isVersion, type Version } from '../../core/objects/object-key.ts'
import { cutPage, parsePageLimit } from '../../core/pagination.ts'
import { formatTimestamp } from '../../core/timestamp.ts'
import type { ResumableUpload } from '../../core/resumable/resumable-ledger.ts'
import type { ReleasedUpload } from '../../core/resumable/upload-administration.ts'
import { unfinishedState } from '../../core/resumable/upload-state.ts'
import { userIdOf, type Command } from '../command.ts'
import { Bytes, type Row } from '../render.ts'

export const UPLOADS: readonly Command[] = [
  {
    words: ['uploads', 'list'],
    operands: ['<user_id>'],
    flags: ['after', 'limit'],
    summary: 'list the unfinished resumable uploads of a user, oldest first',
    run: async ({ uploadAdministration }, { operands, flags, printError }) => {
      const userId = userIdOf(operands)
      const after = flags['after'] === undefined ? undefined : parseUploadId(flags['after'])
      const limit = parsePageLimit(flags['limit'])
      const found = await uploadAdministration.list({ userId, after, limit: limit + 1 })
      const { page, last } = cutPage(found, limit)
      if (last !== undefined) {
        printError(`There are more uploads; continue with --after ${last.version}`)
      }
      return page.map(uploadRow)
    },
  },
  {
    words: ['uploads', 'cancel'],
    operands: ['<user_id>', '<upload_id>'],
    summary: 'cancel an unfinished upload, which releases its reservation',
    run: async ({ uploadAdministration }, { operands }) => {
      const version = parseUploadId(operands[1] ?? '')
      await uploadAdministration.cancel({ userId: userIdOf(operands), version })
      return undefined
    },
  },
  {
    words: ['uploads', 'release'],
    switches: ['finished'],
    required: ['finished'],
    summary: 'after a restore: keep the objects of uploads that were finished since the copy',
    run: async ({ uploadAdministration }, { printError, fail, interruption }) => {
      const rows: Row[] = []
      const { running } = await uploadAdministration.releaseFinished({
        onReleased: (upload) => rows.push(releasedRow(upload)),
        signal: interruption(),
      })
      if (running > 0) {
        printError(
          `Uploads that may be in progress were left alone: ${running}. ` +
            'Stop the service, wait a minute, and try again.',
        )
        fail()
      }
      return rows
    },
  },
]

function parseUploadId(text: string): Version {
  if (isVersion(text)) return text
  throw invalidParameter('upload_id', 'The upload id is not valid.')
}

function uploadRow(upload: ResumableUpload): Row {
  return {
    upload_id: upload.version,
    file_name: upload.name,
    state: unfinishedState(upload),
    offset: new Bytes(upload.offset),
    length: upload.length === undefined ? null : new Bytes(upload.length),
    refusal: upload.refusal ?? null,
    created_at: formatTimestamp(upload.createdAt),
    updated_at: formatTimestamp(upload.updatedAt),
    expires_at: formatTimestamp(upload.expiresAt),
  }
}

function releasedRow({ userId, version, name, objectKey, size }: ReleasedUpload): Row {
  return {
    user_id: userId,
    upload_id: version,
    file_name: name,
    object_key: objectKey,
    size: new Bytes(size),
  }
}
