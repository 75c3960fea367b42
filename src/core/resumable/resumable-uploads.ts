import { confirmRefusal } from '../async/confirm-refusal.ts'
import { hasPrefix } from '../auth/scope.ts'
import { actorOf, assertMayContinue, type Subject } from '../auth/subject.ts'
import { isAppError } from '../errors.ts'
import type { File } from '../files/file.ts'
import type { Version } from '../objects/object-key.ts'
import {
  appendBytes,
  type AppendEnd,
  type AppendOptions,
  type AppendToUpload,
} from './append/append.ts'
import { createUpload, type CreateUpload } from './create-upload.ts'
import { assertAddsNothing, emptyAppend, type ResumeUpload } from './append/empty-append.ts'
import { discard } from './abort.ts'
import {
  type FinishRequest,
  type FinishResult,
  finishedBefore,
  finishHeld,
  finishUpload,
} from './finish.ts'
import { finishedUpload, isAsUploaded } from './finished-upload.ts'
import {
  assertUnfinished,
  endedAlready,
  uploadBusy,
  uploadGone,
  uploadNotFound,
  uploadSuperseded,
} from './refusals.ts'
import { namedBy, type NamedUpload } from './named-upload.ts'
import type { NamedResumable, ResumableUpload } from './resumable-ledger.ts'
import type { ResumableOptions } from './resumable-options.ts'
import { DigestCache } from './append/running-digest.ts'
import { RunningAppends } from './append/running-appends.ts'

export interface Appended extends AppendEnd {
  readonly expiresAt: number
  /** Set if the upload is finished. */
  readonly committed: FinishResult | undefined
}

export interface ListUploads {
  readonly subject: Subject
  readonly after: Version | undefined
  readonly limit: number
}

/** A resumable upload, and its file while it is the current version. */
export interface FoundUpload {
  readonly upload: ResumableUpload
  readonly file: File | undefined
}

/**
 * What these methods report about an upload, in a result or a refusal, survives a failover of the database to a
 * synchronous standby: it is committed or confirmed (`ResumableLedger.confirm`) after it was read. `list` acknowledges
 * nothing.
 */
export type ResumableUploads = ReturnType<typeof createResumableUploads>

export function createResumableUploads(options: ResumableOptions) {
  const { ledger } = options
  const running = new RunningAppends(options)
  const digests = new DigestCache()
  const shared: AppendOptions = { ...options, running, digests }

  async function create(request: CreateUpload): Promise<Appended & { readonly version: Version }> {
    const upload = await createUpload(options, request)
    const { version, expiresAt } = upload
    if (request.length !== 0 || request.hasContent) {
      return { version, offset: 0, expiresAt, cut: undefined, committed: undefined }
    }
    const { subject, shutdown } = request
    const named = { subject, version, signal: shutdown, shutdown }
    return { version, ...(await append(emptyAppend(named, 0))) }
  }

  async function append(request: AppendToUpload): Promise<Appended> {
    const found = await takenOver(request, request.signal)
    if (found.state === 'sealed' || found.state === 'finished') {
      await assertAddsNothing(request, found)
      return await finished(request, found)
    }
    assertUnfinished(found)
    const { offset, sealed, cut } = await appendBytes(shared, request, found)
    if (sealed !== undefined) {
      const committed = await finishHeld(shared, request, sealed)
      return { offset, expiresAt: sealed.expiresAt, cut: undefined, committed }
    }
    if (cut === 'fenced') await request.subject.reverify()
    const left = await existing(namedBy(request))
    // The append that took over may have finished the upload. No client waits for the response to this one.
    if (cut === 'fenced' && left.state !== 'finished') assertUnfinished(left)
    return { offset, expiresAt: left.expiresAt, cut, committed: undefined }
  }

  async function finished(request: FinishRequest, upload: ResumableUpload): Promise<Appended> {
    const { state, offset, expiresAt } = upload
    const finish = state === 'finished' ? finishedBefore : finishUpload
    const committed = await finish(shared, request, upload)
    return { offset, expiresAt, cut: undefined, committed }
  }

  async function existing(named: NamedResumable): Promise<ResumableUpload> {
    const found = await ledger.findResumable(named)
    if (found !== undefined) return await current(found, named)
    // The row of a finished upload is deleted after a while, but its file remains.
    const file = named.linkId === undefined ? await ledger.findVersion(named) : undefined
    if (file === undefined || !isAsUploaded(file)) throw uploadNotFound()
    return finishedUpload(file)
  }

  /** Rejects with `upload_gone` for a finished upload whose file is not the current one of its name (I12). */
  async function current(upload: ResumableUpload, named: NamedResumable): Promise<ResumableUpload> {
    if (upload.state !== 'finished') return upload
    const file = await ledger.findVersion(named)
    if (file?.name !== upload.name) throw uploadSuperseded()
    return upload
  }

  /** Stops a running append. */
  async function takenOver(request: NamedUpload, signal: AbortSignal): Promise<ResumableUpload> {
    const named = namedBy(request)
    const found = await existing(named)
    if (found.state !== 'open') return found
    const upload = await running.takeOver(named, found, signal)
    if (upload === undefined) throw uploadNotFound()
    return await current(upload, named)
  }

  async function resume(request: ResumeUpload): Promise<ResumableUpload> {
    const upload = await takenOver(request, request.signal)
    if (upload.state === 'sealed') await finishUpload(shared, request, upload)
    else if (upload.state === 'open' && upload.offset === upload.length)
      await seal(request, upload.offset)
    else return await confirmed(upload)
    return { ...upload, state: 'finished' }
  }

  /** For an upload that is reported as it was read, without a commit since. */
  async function confirmed(upload: ResumableUpload): Promise<ResumableUpload> {
    if (upload.state !== 'finished') assertUnfinished(upload)
    await ledger.confirm()
    return upload
  }

  /** Refusals, too, report what was read: the offset, that the upload has ended, or that there is none. */
  function confirmingRefusal<T>(outcome: Promise<T>): Promise<T> {
    return confirmRefusal(outcome, () => ledger.confirm())
  }

  /** For an upload whose last append recorded all bytes, but did not seal it. */
  async function seal(request: ResumeUpload, offset: number): Promise<void> {
    const { committed } = await append(emptyAppend(request, offset))
    // Another request has taken over, and this one does not know how that ends (I12).
    if (committed === undefined) throw uploadBusy()
  }

  async function find(request: NamedUpload): Promise<FoundUpload> {
    const named = namedBy(request)
    const upload = await existing(named)
    const file = upload.state === 'finished' ? await ledger.findVersion(named) : undefined
    return { upload: await confirmed(upload), file }
  }

  async function permit(request: NamedUpload): Promise<void> {
    const { subject } = request
    try {
      const { upload } = await find(request)
      assertMayContinue(subject, upload)
    } catch (error) {
      // How an upload ended tells a token that there was one, perhaps outside the prefix.
      const isHidden = subject.kind === 'user' && hasPrefix(subject)
      throw isHidden && isAppError(error, 'upload_gone') ? uploadNotFound() : error
    }
  }

  async function cancel(request: NamedUpload): Promise<void> {
    const upload = await existing(namedBy(request))
    // An operator may repeat it. That the upload has ended was only read.
    const isRepeated = request.subject.kind === 'operator' && endedAlready(upload) !== undefined
    if (isRepeated) return await ledger.confirm()
    assertUnfinished(upload)
    if ((await discard(options, upload, 'cancelled')) === 'committed') throw uploadGone('finished')
    await running.endCancelled(request.version)
  }

  return {
    /** See `createUpload`. An empty file is committed immediately, unless an append follows. */
    create: (request: CreateUpload) => confirmingRefusal(create(request)),
    /**
     * Guarantees that the bytes below the returned offset are durable, and that the file is committed if `committed` is
     * set. Stops a running append to the same upload, on any instance. See `appendBytes` and `finishUpload`.
     */
    append: (request: AppendToUpload) => confirmingRefusal(append(request)),
    /**
     * Resolves to the upload with the offset at which to continue. Stops a running append, and finishes an upload that
     * has all its bytes. An offset equal to the length means that the file is committed, and is the current one of the
     * name that the creation gave. Rejects with `not_found` and `upload_gone`, and as `finishUpload` does.
     */
    resume: (request: ResumeUpload) => confirmingRefusal(resume(request)),
    /** Rejects unless the subject may continue the upload, as `find` and `assertMayContinue` do. */
    permit: (upload: NamedUpload) => confirmingRefusal(permit(upload)),
    /** Stops no append. Rejects with `not_found`, and with `upload_gone` if the upload has ended without a file. */
    find: (upload: NamedUpload) => confirmingRefusal(find(upload)),
    /** The account's unfinished uploads, oldest first, as far as their names are within the subject's scope. */
    list({ subject, after, limit }: ListUploads): Promise<readonly ResumableUpload[]> {
      const { prefix } = subject.scope ?? {}
      return ledger.listResumables({ ...actorOf(subject), prefix, after, limit })
    },
    /**
     * Releases the reservation immediately, and ends a running append of this instance. Rejects with `not_found`, and
     * with `upload_gone` if the upload has ended; for an operator, only if it is finished.
     */
    cancel: (upload: NamedUpload) => confirmingRefusal(cancel(upload)),
    /** Stops the appends of this instance that other instances have asked to stop. Call it every second. */
    stopAsked: () => running.stopAsked(),
    /** For a shutdown: all appends stop, record what they have received, and resolve. */
    stopAll: () => running.stopAll(),
    get runningAppends(): number {
      return running.size
    },
  }
}
