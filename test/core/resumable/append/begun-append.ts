import { PassThrough } from 'node:stream'
import type { ResumableUploads } from '../../../../src/core/resumable/resumable-uploads.ts'
import type { UserSubject } from '../../../../src/core/auth/subject.ts'
import { incomingFile } from '../../../support/http/incoming-file.ts'
import { appendIn } from '../s3-uploads.ts'

export type Begun = Awaited<ReturnType<typeof beginIn>>

/** An append that has claimed its upload and sent `sent`, or all of its content, but not the end of its body. */
export async function beginIn(
  uploads: ResumableUploads,
  caller: UserSubject,
  { sent, ...append }: Parameters<typeof appendIn>[2] & { readonly sent?: string },
) {
  const content = new PassThrough()
  content.write(sent ?? append.content)
  const begun = Promise.withResolvers<void>()
  const open = () => {
    begun.resolve()
    return { ...incomingFile(''), content, [Symbol.dispose]: () => undefined }
  }
  const appending = appendIn(uploads, caller, { ...append, open })
  await Promise.race([begun.promise, appending])
  return {
    appending,
    async end(rest = ''): Promise<void> {
      content.end(rest)
      await appending
    },
  }
}
