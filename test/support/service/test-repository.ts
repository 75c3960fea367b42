import type { FreeSpace } from '../../../src/core/uploads/free-space.ts'
import type { UserSubject } from '../../../src/core/auth/subject.ts'
import type { File, Visibility } from '../../../src/core/files/file.ts'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import type { CommittedUpload } from '../../../src/core/uploads/upload-ledger.ts'
import type { Ledger } from '../../../src/database/ledger.ts'
import type { Usage } from '../../../src/core/users/account-ledger.ts'
import type { ObjectStore } from '../../../src/core/objects/object-store.ts'
import type { Precondition } from '../../../src/core/files/precondition.ts'
import type { IncomingFile } from '../../../src/core/uploads/store-content.ts'
import { createRepository, type Repository } from '../../../src/core/repository.ts'
import { parseUserId, type UserId } from '../../../src/core/users/user-id.ts'
import { authorized, callerNamed } from '../caller.ts'
import { faultyStore } from '../faults/faults.ts'
import { incomingFile } from '../http/incoming-file.ts'
import { bytesOf } from '../objects.ts'
import { LEASE_MS, type TestCore } from './test-core.ts'
import type { UploadMemory } from '../../../src/core/memory/upload-memory.ts'
import { ampleMemory } from '../upload-memory.ts'
import { readUsage } from '../read-usage.ts'

export interface TestRepositoryOptions {
  /** Methods that stand in for those of the real ports. */
  readonly ledger?: Partial<Ledger>
  readonly objects?: Partial<ObjectStore>
  readonly memory?: UploadMemory
  readonly space?: FreeSpace | undefined
  readonly maxFileSize?: number
  readonly leaseMs?: number
  /** How often a caller is verified again while a file comes, in milliseconds. */
  readonly reverifyMs?: number
  readonly undoMs?: number
  readonly commitMs?: number
}

interface UploadOptions {
  readonly visibility?: Visibility
  readonly sha256?: string
  readonly precondition?: Precondition
  readonly signal?: AbortSignal
}

/** A repository as its owner uses it, in the fewest words. */
export interface TestRepository {
  readonly repository: Repository
  readonly userId: UserId
  readonly caller: UserSubject
  readonly upload: (
    name: string,
    file: string | IncomingFile,
    options?: UploadOptions,
  ) => Promise<CommittedUpload>
  readonly stat: (name: string, viewer?: UserId) => Promise<File>
  /** The content of a file. */
  readonly read: (name: string, viewer?: UserId) => Promise<string>
  readonly usage: () => Promise<Usage | undefined>
}

export async function createTestUser({ users }: TestCore, id = 'alice'): Promise<UserId> {
  const { user } = await users.createUser(parseUserId(id))
  return user.userId
}

/** Opens the repository of the user `alice`, who is made when missing. */
export async function openTestRepository(
  core: TestCore,
  options: TestRepositoryOptions = {},
): Promise<TestRepository> {
  const { maxFileSize = 2 ** 30, leaseMs = LEASE_MS } = options
  const { reverifyMs = 60_000 } = options
  const userId = await createTestUser(core)
  const caller = authorized(await callerNamed(core.users, userId))
  const viewedBy = (viewer: UserId): UserSubject =>
    viewer === userId ? caller : authorized({ userId: viewer, userCreatedAt: 0 })
  const repository = createRepository({
    ledger: { ...core.ledger, ...options.ledger },
    objects: faultyStore(core.objects, options.objects ?? {}),
    memory: options.memory ?? ampleMemory(),
    ...(options.space && { space: options.space }),
    maxFileSize,
    leaseMs,
    reverifyMs,
    ...(options.undoMs === undefined ? {} : { undoMs: options.undoMs }),
    ...(options.commitMs === undefined ? {} : { commitMs: options.commitMs }),
  })
  return {
    repository,
    userId,
    caller,
    upload: (name, file, { visibility, signal = AbortSignal.timeout(10_000), ...demands } = {}) =>
      repository.upload({
        ...demands,
        subject: caller,
        name: parseFileName(name),
        visibility: () => visibility,
        incoming: typeof file === 'string' ? incomingFile(file) : file,
        signal,
      }),
    stat: (name, viewer = userId) =>
      repository.stat({ userId, name: parseFileName(name), viewer: viewedBy(viewer) }),
    async read(name, viewer = userId) {
      const signal = AbortSignal.timeout(10_000)
      const seen = { viewer: viewedBy(viewer), signal }
      const request = { userId, name: parseFileName(name), ...seen }
      return (await bytesOf((await repository.open(request)).body)).toString()
    },
    usage: () => readUsage(core.ledger, userId),
  }
}

/** A file `a` that holds `old`, and the same repository through ports with faults. */
export async function openOverwrite(core: TestCore, faults: TestRepositoryOptions) {
  const sound = await openTestRepository(core)
  await sound.upload('a', 'old')
  return { ...sound, faulty: await openTestRepository(core, faults) }
}
