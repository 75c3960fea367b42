import { parseFileName } from '../../../src/core/files/file-name.ts'
import type { Ledger } from '../../../src/database/ledger.ts'
import type { ObjectStore } from '../../../src/core/objects/object-store.ts'
import type { FreeSpace } from '../../../src/core/uploads/free-space.ts'
import type { AppendToUpload } from '../../../src/core/resumable/append/append.ts'
import {
  type Appended,
  createResumableUploads,
  type ResumableUploads,
} from '../../../src/core/resumable/resumable-uploads.ts'
import type { UserSubject } from '../../../src/core/auth/subject.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import { createS3Store } from '../../../src/object-store/s3/store.ts'
import { authorized, callerNamed } from '../../support/caller.ts'
import { FakeS3 } from '../../support/faults/fake-s3.ts'
import { incomingFile } from '../../support/http/incoming-file.ts'
import { never } from '../../support/objects.ts'
import { openTestCore, type TestCore } from '../../support/service/test-core.ts'
import { ampleMemory } from '../../support/upload-memory.ts'

export interface S3Uploads extends AsyncDisposable {
  readonly core: TestCore
  readonly s3: FakeS3
  readonly objects: ObjectStore
  readonly caller: UserSubject
  /** Of one instance, on the bucket and the database or what stands before them; each call makes another. */
  open(objects?: ObjectStore, ledger?: Ledger): ResumableUploads
  /** What the disk says to the next appends. */
  space: FreeSpace['claim']
}

/** Resumable uploads of a user, by the use cases, on SQLite and a bucket in memory. */
export async function openS3Uploads(): Promise<S3Uploads> {
  const core = await openTestCore()
  const s3 = new FakeS3()
  const objects = createS3Store(s3.options())
  const userId = parseUserId('alice')
  await core.users.createUser(userId)
  const opened: S3Uploads = {
    core,
    s3,
    objects,
    caller: authorized(await callerNamed(core.users, userId)),
    space: async () => ({ release: () => undefined }),
    open: (before = objects, ledger = core.ledger) =>
      createResumableUploads({
        ledger,
        objects: before,
        memory: ampleMemory(),
        space: {
          assertSpace: async () => undefined,
          claim: (bytes) => opened.space(bytes),
          hasSpace: () => true,
        },
        maxFileSize: 1000,
      }),
    async [Symbol.asyncDispose]() {
      await objects.close()
      await core[Symbol.asyncDispose]()
    },
  }
  return opened
}

/** An upload that becomes the file `a`. */
export async function createIn(
  uploads: ResumableUploads,
  caller: UserSubject,
  length: number | undefined,
): Promise<Appended & Pick<AppendToUpload, 'version'>> {
  return await uploads.create({
    subject: caller,
    name: parseFileName('a'),
    length,
    metadata: '',
    visibility: undefined,
    precondition: undefined,
    sha256: undefined,
    hasContent: false,
    shutdown: never(),
  })
}

type Append = Pick<AppendToUpload, 'version'> &
  Partial<
    Pick<
      AppendToUpload,
      'offset' | 'length' | 'bodySize' | 'checksum' | 'sha256' | 'shutdown' | 'open'
    >
  >

export async function appendIn(
  uploads: ResumableUploads,
  caller: UserSubject,
  { content, ...append }: Append & { readonly content: string },
): Promise<Appended> {
  return await uploads.append({
    subject: caller,
    offset: 0,
    bodySize: content.length,
    open: () => ({ ...incomingFile(content), [Symbol.dispose]: () => undefined }),
    signal: never(),
    shutdown: never(),
    ...append,
  })
}
