import { parseFileName } from '../../../src/core/files/file-name.ts'
import type { Version } from '../../../src/core/objects/object-key.ts'
import type { Appended, ResumableUploads } from '../../../src/core/resumable/resumable-uploads.ts'
import type { UserId } from '../../../src/core/users/user-id.ts'
import type { UserStores } from '../../../src/database/users/user-store.ts'
import { authorized, callerNamed } from '../caller.ts'
import { incomingFile } from '../http/incoming-file.ts'
import { never } from '../objects.ts'

/** The resumable uploads of one user, by the use cases, in the fewest words. */
export interface UserUploads {
  /** An upload of `length` bytes that has received `content`. */
  begin(name: string, length: number, content?: string | Uint8Array): Promise<Version>
  append(version: Version, offset: number, content: string | Uint8Array): Promise<Appended>
}

export async function uploadsOf(
  service: { readonly uploads: ResumableUploads; readonly userStore: UserStores },
  userId: UserId,
): Promise<UserUploads> {
  const { uploads, userStore } = service
  const caller = authorized(await callerNamed(userStore, userId))
  const uploadsOfUser: UserUploads = {
    async begin(name, length, content = '') {
      const { version } = await uploads.create({
        subject: caller,
        name: parseFileName(name),
        length,
        metadata: `filename ${Buffer.from(name).toString('base64')}`,
        visibility: undefined,
        precondition: undefined,
        sha256: undefined,
        hasContent: false,
        shutdown: never(),
      })
      if (content.length > 0) await uploadsOfUser.append(version, 0, content)
      return version
    },
    append: (version, offset, content) =>
      uploads.append({
        subject: caller,
        version,
        offset,
        bodySize: Buffer.byteLength(content),
        open: () => ({ ...incomingFile(content), [Symbol.dispose]: () => undefined }),
        signal: never(),
        shutdown: never(),
      }),
  }
  return uploadsOfUser
}
