import type { Version } from '../../../../src/core/objects/object-key.ts'
import type { RecordAppend } from '../../../../src/core/resumable/resumable-ledger.ts'
import type { Operation } from '../plan/operation.ts'
import type { AppliedCall } from '../world/seam.ts'
import { type Applied, operationOf } from './applied.ts'
import type { LedgerState, ResumableRow } from './ledger-state.ts'
import type { ModelUpload } from './model-upload.ts'
import { demand } from './violation.ts'

/**
 * What a call did to the rows of resumable uploads is what the port promises (I11, I13), and nothing but that call did
 * it. The model follows.
 */
export function applyResumables(applied: Applied, call: AppliedCall): void {
  const { before, after, model } = applied
  if (call.method === 'createResumable' && call.outcome.status === 'fulfilled') {
    noteCreated(applied, call)
  }
  if (call.method === 'recordAppend') assertRecord(applied, call.argument, call.outcome)
  const [old, now] = [rowsOf(before), rowsOf(after)]
  for (const upload of model.uploads.values()) {
    const change = { upload, old: old.get(upload.version), now: now.get(upload.version) }
    assertChange({ ...applied, ...change }, call)
    follow(change)
  }
}

function rowsOf({ resumables }: LedgerState): ReadonlyMap<Version, ResumableRow> {
  return new Map(resumables.map((row) => [row.version, row]))
}

function noteCreated(
  applied: Applied,
  { argument, actor }: Extract<AppliedCall, { readonly method: 'createResumable' }>,
): void {
  const { model } = applied
  const operation = operationOf(applied, actor)
  const { version, userId, userCreatedAt, length } = argument
  demand(operation?.content !== undefined, 'I2', 'an upload was created by no request')
  const { content, action, fileName } = operation
  model.uploads.set(version, {
    version,
    userId,
    userCreatedAt,
    fileName,
    demands: action.kind === 'create' ? action.demands : 'nothing',
    evict: action.kind === 'create' ? action.evict : undefined,
    expiresInMs: action.kind === 'create' ? action.expiresInMs : undefined,
    credential: operation.credential,
    deviceId: operation.deviceId,
    metadataBytes: action.kind === 'create' ? action.metadataBytes : undefined,
    content,
    isDeferred: length === undefined,
    recorded: Buffer.alloc(0),
    told: 0,
    length,
    state: 'pending',
    leaseUntil: 0,
    isMixed: false,
    tailKeys: new Set(),
    putBy: undefined,
    claims: new Map(),
  })
}

interface Change {
  readonly upload: ModelUpload
  readonly old: ResumableRow | undefined
  readonly now: ResumableRow | undefined
}

function follow({ upload, old, now }: Change): void {
  if (now === undefined) {
    if (old?.state === 'pending') upload.state = 'aborted'
    return
  }
  upload.length = now.length_bytes ?? undefined
  upload.state = now.state
  upload.leaseUntil = now.lease_until
}

type AppliedChange = Applied & Change

function assertChange(change: AppliedChange, call: AppliedCall): void {
  const { old, now, upload } = change
  if (old === now || call.method === 'createResumable') return
  // An upload that no append has claimed is deleted where another one is aborted.
  if (old?.state === 'pending' && old.epoch === 0 && now === undefined && call.method === 'abort') {
    assertEnd({ ...change, old, now: { ...old, state: 'aborted' } }, call)
    return
  }
  if (old === undefined || now === undefined) {
    const isEnded = old?.state !== 'pending' || call.method === 'purgeDeletedUsers'
    demand(isEnded, 'I11', `${upload.version} was forgotten while it was pending`)
    return
  }
  demand(now.received_bytes >= old.received_bytes, 'I11', `an offset fell to ${now.received_bytes}`)
  if (now.received_bytes > old.received_bytes) assertProgress({ ...change, old, now }, call)
  if (now.epoch !== old.epoch) assertClaim({ ...change, old, now }, call)
  if (now.state !== old.state) assertEnd({ ...change, old, now }, call)
  const isSealed = now.sealed_at !== null
  demand(isSealed || old.sealed_at === null, 'I11', 'a sealed upload is open again')
  demand(!isSealed || now.received_bytes === now.length_bytes, 'I12', 'sealed before its length')
  const isKept = now.state !== 'pending' || now.lease_until >= old.lease_until
  demand(isKept, 'I11', `a lease was shortened to ${now.lease_until}`)
}

type Changed = Applied & { readonly [K in keyof Change]: NonNullable<Change[K]> }

/** Only a record under the epoch adds bytes: those that its append has received. */
function assertProgress(change: Changed, call: AppliedCall): void {
  const { upload, old, now, clock, uploadLifetimeMs } = change
  const { version } = upload
  const isRecord = call.method === 'recordAppend' && call.argument.version === version
  demand(isRecord, 'I13', `bytes were added by ${call.method}`)
  // A record whose answer was lost may be repeated on behalf of a later request.
  const append = upload.claims.get(call.argument.epoch)?.append
  demand(append !== undefined, 'I13', 'bytes were added by no append')
  const offset = now.received_bytes
  const received = append.bytes.subarray(0, offset - append.from)
  demand(append.from <= old.received_bytes, 'I11', 'recorded bytes beyond a gap')
  demand(offset - append.from <= append.sent, 'I11', `recorded ${offset} before it was received`)
  demand(append.isGood, 'I11', 'recorded bytes of an append that does not count')
  upload.recorded = Buffer.concat([upload.recorded.subarray(0, append.from), received])
  // The database counts whole milliseconds.
  const expiresAt = Math.min(clock() + uploadLifetimeMs, now.ends_at) - 1
  demand(now.lease_until >= expiresAt, 'I11', `its lease ends before ${expiresAt}`)
}

const CLAIMS: ReadonlySet<AppliedCall['method']> = new Set(['claimAppend', 'claimFinish', 'fence'])

/** A claim follows the release, the end or the fencing of the one before (I13). */
function assertClaim(change: Changed, call: AppliedCall): void {
  const { upload, old, now, clock } = change
  const isClaim =
    CLAIMS.has(call.method) && (call.argument as RecordAppend).version === upload.version
  demand(isClaim && now.epoch === old.epoch + 1, 'I13', `an epoch was changed by ${call.method}`)
  const isHeld = old.holder !== null && old.holder_until > clock()
  if (call.method === 'fence') {
    demand(old.sealed_at === null, 'I13', 'a sealed upload was fenced')
    const isPut = isHeld && isInSinglePut(old)
    demand(!isPut, 'I11', 'an upload was given up whose append may still store it')
    return
  }
  demand(!isHeld, 'I13', 'a claim beside another')
  const isLive = old.state === 'pending' && old.lease_until > clock()
  demand(isLive, 'I13', `a claim of an upload that is ${old.state}`)
  const claimer = operationOf(change, call.actor)
  if (claimer !== undefined) upload.claims.set(now.epoch, claimer)
}

/** A record under another epoch changes nothing, and one that is told to count has counted. */
function assertRecord(
  { before, after }: Applied,
  record: RecordAppend,
  outcome: PromiseSettledResult<boolean>,
): void {
  const isCounted = outcome.status === 'fulfilled' && outcome.value
  const [old, now] = [tracesOf(before, record), tracesOf(after, record)]
  if (!isCounted) {
    demand(old.text === now.text, 'I13', 'a record that failed has changed something')
    return
  }
  demand(old.row?.epoch === record.epoch, 'I13', `recorded under the epoch ${record.epoch}`)
  demand(now.row?.received_bytes === record.offset, 'I11', `recorded another offset`)
}

function tracesOf({ resumables, pieces }: LedgerState, { version }: RecordAppend) {
  const row = resumables.find((each) => each.version === version)
  const own = pieces.filter((piece) => piece.version === version)
  return { row, text: JSON.stringify([row, own]) }
}

/** A pending upload ends by its commit, its cancellation, its expiry or a loss, never on doubt. */
function assertEnd(change: Changed, call: AppliedCall): void {
  const { upload, old, now, clock } = change
  demand(old.state === 'pending', 'I2', `an upload that was ${old.state} is ${now.state}`)
  if (now.state === 'committed') {
    const isCommit = call.method === 'commit' && call.argument.version === upload.version
    demand(isCommit && old.sealed_at !== null, 'I2', `committed by ${call.method}, unsealed`)
    return
  }
  if (call.method === 'purgeDeletedUsers') return
  demand(call.method === 'abort', 'I11', `aborted by ${call.method}`)
  const { endedAs, expiredOnly = false } = call.argument
  if (endedAs === 'lost') {
    demand(mayBeLost(change), 'I11', `${upload.version} was given up as lost`)
  } else if (endedAs === 'cancelled') {
    const operation = operationOf(change, call.actor)
    demand(mayCancel(change, operation), 'I11', `${upload.version} was cancelled unasked`)
  } else {
    const isExpired = expiredOnly && old.lease_until <= clock()
    demand(isExpired, 'I11', `${upload.version} was aborted before it expired`)
  }
}

/** Nothing was ever confirmed of it, or its store holds something else than was confirmed. */
function mayBeLost({ upload, old, model }: Changed): boolean {
  return isInSinglePut(old) || isUnsafe(upload, model.damagedKeys)
}

function isInSinglePut({ received_bytes: received, store_state: state }: ResumableRow): boolean {
  return received === 0 && state.includes('"intended"')
}

/** Whether the store may hold other bytes of it than the ledger recorded. */
export function isUnsafe(
  { isMixed, version, tailKeys }: ModelUpload,
  damagedKeys: ReadonlySet<string>,
): boolean {
  if (isMixed || damagedKeys.size === 0) return isMixed
  return [...damagedKeys].some((key) => key.endsWith(version) || tailKeys.has(key))
}

function mayCancel(
  { upload, old, model }: Changed,
  operation: Pick<Operation, 'version' | 'action'> | undefined,
): boolean {
  const isAsked =
    operation?.version === upload.version &&
    (operation.action.kind === 'cancel' || operation.action.kind === 'create')
  const mayHaveWrongDigest =
    upload.demands === 'wrong digest' ||
    (upload.demands === 'right digest' && isUnsafe(upload, model.damagedKeys))
  return isAsked || (mayHaveWrongDigest && old.sealed_at !== null)
}
