import { isAppError } from '../../../../src/core/errors.ts'
import type { BatchOperation } from '../../../../src/core/files/operation.ts'
import { MAX_FILES } from '../plan/parameters.ts'
import type { AppliedCall } from '../world/seam.ts'
import { type Applied, operationOf } from './applied.ts'
import { accountsIn, type DeviceId, reservedBytes, stateAs, userAs } from './device-accounts.ts'
import { perform } from './file-changes.ts'
import { capacityOf, usedBytes } from './model.ts'
import { shareFor } from './shares.ts'
import { demand } from './violation.ts'

type FileCall = Extract<
  AppliedCall,
  { readonly method: 'deleteFile' | 'updateFile' | 'restoreVersion' | 'changeFiles' }
>

export function operationsOf(call: FileCall): readonly BatchOperation[] {
  switch (call.method) {
    case 'deleteFile':
      return [{ ...call.argument, op: 'delete' }]
    case 'updateFile':
      return [{ ...call.argument, op: 'update' }]
    case 'restoreVersion':
      return [{ ...call.argument, op: 'restore' }]
    case 'changeFiles':
      return call.argument.operations
  }
}

/** A batch that is refused for want of room would not fit in the end, and the refusal names one of its operations. */
export function assertBatchRefusal(applied: Applied, call: AppliedCall): void {
  if (call.method !== 'changeFiles' || call.outcome.status === 'fulfilled') return
  const reason: unknown = call.outcome.reason
  if (!isAppError(reason) || OF_NO_OPERATION.has(reason.code)) return
  const { userId, operations } = call.argument
  const index = Number(reason.facts['operation'] ?? -1)
  demand(index >= 0 && index < operations.length, 'I2', `refused for operation ${index}`)
  if (!['capacity_exceeded', 'file_count_exceeded'].includes(reason.code)) return
  const { model } = applied
  const before = model.user(userId)
  const end = model.trying(userId, () => {
    const dated = { ...applied, at: applied.clock() }
    for (const each of operations) perform(dated, { ...each, userId })
  })
  const isFull = (account: DeviceId): boolean => {
    const [old, now] = [userAs(before, account), userAs(end, account)]
    const reserved = reservedBytes(stateAs(applied.after, account), userId)
    if (usedBytes(now) > usedBytes(old)) return usedBytes(now) + reserved > capacityOf(now)
    return now.files.size > old.files.size && capacityOf(now) === 0
  }
  const full = [...accountsIn(end)].filter(isFull)
  const hasFullDevice = full.some((account) => account !== undefined)
  const { credential } = operationOf(applied, call.actor) ?? {}
  const most = Math.max(before.files.size, shareFor(MAX_FILES, credential).all)
  const isOfDevice = reason.facts['limit'] === 'device'
  const isTrue =
    reason.code === 'file_count_exceeded'
      ? end.files.size > most
      : full.length > 0 && isOfDevice === hasFullDevice
  demand(isTrue, 'I5', `a batch that ends with ${usedBytes(end)} bytes is refused`)
}

const OF_NO_OPERATION: ReadonlySet<string> = new Set([
  'access_token_invalid',
  'user_suspended',
  'unavailable',
])
