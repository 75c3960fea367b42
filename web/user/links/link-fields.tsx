import type { ComponentChildren } from 'preact'
import { Choice } from '../../shared/choice.tsx'
import type { LinkEntry, LinkKind } from '../../shared/model.ts'
import { SizeField } from '../../shared/size-field.tsx'
import { TermField } from '../../shared/term-field.tsx'
import { TextField } from '../../shared/text-field.tsx'
import { AS_IT_IS, type LinkDraft } from './link-draft.ts'
import { words } from './words.ts'

/** As long as the service accepts. */
const MAX_LABEL_LENGTH = 200
const MAX_PASSWORD_LENGTH = 200

interface DraftProps {
  /** The link to change; a new one without it. */
  readonly link?: LinkEntry
  readonly draft: LinkDraft
  readonly onChange: (draft: LinkDraft) => void
}

export interface LinkEndProps extends DraftProps {
  /** Offered validity in days; 0 means for ever. */
  readonly terms: readonly number[]
}

/** When a link ends. */
export function LinkEnd({ link, draft, terms, onChange }: LinkEndProps) {
  const end = link?.expires_at ?? null
  return (
    <TermField
      label={words.term}
      terms={
        link === undefined || (end === null && terms.includes(0)) ? terms : [AS_IT_IS, ...terms]
      }
      days={link !== undefined && end === null && draft.days === AS_IT_IS ? 0 : draft.days}
      nameOf={(days) => (days === AS_IT_IS ? words.unchanged(end) : words.days(days))}
      onChange={(days) => onChange({ ...draft, days })}
    />
  )
}

export interface LinkFieldsProps extends DraftProps {
  readonly kind: LinkKind
}

/** The other terms of a link. */
export function LinkFields({ kind, link, draft, onChange }: LinkFieldsProps) {
  const hasPassword = link?.has_password === true
  const change = (changed: Partial<LinkDraft>): void => onChange({ ...draft, ...changed })
  return (
    <>
      {!draft.removesPassword && (
        <TextField
          label={hasPassword ? words.newPassword : words.password}
          hint={hasPassword ? words.passwordKept : words.passwordHint}
          value={draft.password}
          maxLength={MAX_PASSWORD_LENGTH}
          onInput={(password) => change({ password })}
        />
      )}
      {hasPassword && (
        <Choice
          title={words.removePassword}
          hint={words.removePasswordHint}
          isChosen={draft.removesPassword}
          onChange={() => change({ removesPassword: !draft.removesPassword })}
        />
      )}
      <TextField
        label={words.label}
        hint={words.labelHint}
        value={draft.label}
        maxLength={MAX_LABEL_LENGTH}
        onInput={(label) => change({ label })}
      />
      {kind === 'drop' ? (
        <DropLimits link={link} draft={draft} onChange={change} />
      ) : (
        <TextField
          label={words.uses}
          hint={hintOf(words.usesHint, usedOf(link))}
          value={draft.uses}
          type="number"
          onInput={(uses) => change({ uses })}
        />
      )}
    </>
  )
}

interface DropLimitsProps {
  readonly link: LinkEntry | undefined
  readonly draft: LinkDraft
  readonly onChange: (changed: Partial<LinkDraft>) => void
}

/** How much a link takes: without an amount, as much as the service lets it. */
function DropLimits({ link, draft, onChange }: DropLimitsProps): ComponentChildren {
  const { max_files: files, files_left, max_bytes: bytes, bytes_left } = link ?? {}
  return (
    <>
      <TextField
        label={words.maxFiles}
        hint={hintOf(words.usual, receivedOf(files, files_left, words.received))}
        value={draft.files}
        type="number"
        onInput={(typed) => onChange({ files: typed })}
      />
      <SizeField
        label={words.maxBytes}
        hint={hintOf(words.usual, receivedOf(bytes, bytes_left, words.receivedBytes))}
        size={draft.bytes}
        onInput={(typed) => onChange({ bytes: typed })}
      />
    </>
  )
}

function hintOf(...parts: readonly string[]): string {
  return parts.filter(Boolean).join(' ')
}

function usedOf({ max_uses: most, uses_left: left }: Partial<LinkEntry> = {}): string {
  return receivedOf(most, left, words.usesTaken)
}

/** Empty for nothing, and where it is not known. */
function receivedOf(
  most: number | null | undefined,
  left: number | null | undefined,
  say: (received: number) => string,
): string {
  if (typeof most !== 'number' || typeof left !== 'number' || left >= most) return ''
  return say(most - left)
}
