import type { LinkChanges } from '../../../packages/js/src/client.ts'
import { Refusal } from '../../shared/refusal.ts'
import type { LinkEntry, LinkKind } from '../../shared/model.ts'
import { bytesOf, NO_SIZE, type TypedSize, typedSize } from '../../shared/typed-size.ts'
import { validityOf } from '../../shared/validity.ts'
import { words } from './words.ts'

/** The terms of a link as they are typed. */
export interface LinkDraft {
  readonly label: string
  /** Until it ends, from now; 0 for never, `AS_IT_IS` for no change. */
  readonly days: number
  /** A new one; empty for none. */
  readonly password: string
  readonly removesPassword: boolean
  readonly uses: string
  readonly files: string
  readonly bytes: TypedSize
}

export const AS_IT_IS = -1

export function emptyDraft(days: number): LinkDraft {
  return {
    label: '',
    days,
    password: '',
    removesPassword: false,
    uses: '',
    files: '',
    bytes: NO_SIZE,
  }
}

export function draftOf({ label, max_uses: uses, max_files, max_bytes }: LinkEntry): LinkDraft {
  return {
    ...emptyDraft(AS_IT_IS),
    label,
    uses: String(uses ?? ''),
    files: String(max_files ?? ''),
    bytes: typedSize(max_bytes),
  }
}

/** The members of a request that creates a link of this kind. Throws a `Refusal` for what is no number. */
export function termsIn(draft: LinkDraft, kind: LinkKind) {
  const { password } = draft
  const { max_uses, max_files, max_bytes } = limitsIn(draft)
  const isDrop = kind === 'drop'
  return {
    label: draft.label.trim(),
    ...validityOf(draft.days),
    ...(password !== '' && { password }),
    ...(!isDrop && max_uses !== null && { max_uses }),
    ...(isDrop && max_files !== null && { max_files }),
    ...(isDrop && max_bytes !== null && { max_bytes }),
  }
}

/** The members of a request that changes the link; none if nothing is to change. Throws as `termsIn` does. */
export function changesIn(draft: LinkDraft, link: LinkEntry): LinkChanges {
  const { days, password, removesPassword } = draft
  const label = draft.label.trim()
  const limits = Object.entries(limitsIn(draft)).filter(
    ([member, value]) => value !== link[member as keyof Limits],
  )
  return {
    ...(label !== link.label && { label }),
    ...(days !== AS_IT_IS && { expires_at: days === 0 ? null : timeIn(days) }),
    ...(removesPassword ? { password: null } : password !== '' && { password }),
    ...Object.fromEntries(limits),
  }
}

interface Limits {
  readonly max_uses: number | null
  readonly max_files: number | null
  readonly max_bytes: number | null
}

function limitsIn({ uses, files, bytes }: LinkDraft): Limits {
  return {
    max_uses: amountIn(uses, Number(uses)),
    max_files: amountIn(files, Number(files)),
    max_bytes: amountIn(bytes.amount, bytesOf(bytes)),
  }
}

function amountIn(text: string, amount: number | undefined): number | null {
  if (text.trim() === '') return null
  if (amount !== undefined && Number.isSafeInteger(amount) && amount > 0) return amount
  throw new Refusal(words.notAmount)
}

const DAY_MS = 24 * 3600 * 1000

function timeIn(days: number): string {
  return new Date(Date.now() + days * DAY_MS).toISOString()
}
