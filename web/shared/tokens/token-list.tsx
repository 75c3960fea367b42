import { useState } from 'preact/hooks'
import type { Tokens } from '../../../packages/js/src/client.ts'
import { DeleteDialog } from '../delete-dialog.tsx'
import { formatTime } from '../format.ts'
import type { AccessToken, OwnToken } from '../model.ts'
import { Entry, SectionFrame } from '../section.tsx'
import { messages } from '../../messages.ts'
import { IssuedToken } from './issued-token.tsx'
import { IssueToken, type Preset } from './issue-token.tsx'

const words = messages.tokens

export interface TokenListProps {
  /** Those of the user. */
  readonly tokens: Tokens
  /** Oldest first. */
  readonly entries: readonly AccessToken[]
  readonly title?: string
  readonly hint?: string
  /** The label of the button that makes a token. */
  readonly add?: string
  /** What a new token permits unless another choice is made; everything by default. */
  readonly preset?: Preset
  /** The token that makes others, which permit no more and end no later. */
  readonly parent?: OwnToken | undefined
  /** Called after a change, to read the tokens again. */
  readonly onChange: () => void
}

/** The access tokens of a user, newest first, to issue and to revoke. */
export function TokenList(props: TokenListProps) {
  const { tokens, entries, title = words.title, hint, add = words.issue, onChange } = props
  const [isIssuing, setIssuing] = useState(false)
  const [ending, setEnding] = useState<AccessToken>()
  const [secret, setSecret] = useState<string>()
  return (
    <>
      <SectionFrame
        title={title}
        hint={hint}
        empty={words.empty}
        add={add}
        onAdd={() => setIssuing(true)}
      >
        {entries.toReversed().map((token) => (
          <Entry
            key={token.token_id}
            icon="lock"
            name={nameOf(token)}
            details={detailsOf(token)}
            {...(token.revoked_at === null && {
              remove: {
                label: words.revokeNamed(nameOf(token)),
                text: words.revoke,
                run: () => setEnding(token),
              },
            })}
          />
        ))}
      </SectionFrame>
      {isIssuing && (
        <IssueToken {...props} title={add} onIssued={setSecret} onClose={() => setIssuing(false)} />
      )}
      {secret !== undefined && <IssuedToken secret={secret} onClose={() => setSecret(undefined)} />}
      {ending !== undefined && (
        <DeleteDialog
          remove={() => tokens.revoke(ending.token_id)}
          title={words.revokeTitle}
          subject={nameOf(ending)}
          action={words.revoke}
          text={words.revokeText}
          onChange={onChange}
          onClose={() => setEnding(undefined)}
        />
      )}
    </>
  )
}

function nameOf({ label }: AccessToken): string {
  return label === '' ? words.unnamed : label
}

function detailsOf(token: AccessToken): readonly string[] {
  const { created_at: since, expires_at: end, revoked_at: revoked, last_used_at: used } = token
  if (revoked !== null) return [words.revoked(formatTime(revoked))]
  const isOver = end !== null && Date.parse(end) <= Date.now()
  return [
    ...scopeWords(token),
    words.since(formatTime(since)),
    end === null ? words.forEver : (isOver ? words.expired : words.until)(formatTime(end)),
    used === null ? words.unused : words.used(formatTime(used)),
  ]
}

function scopeWords({ scope }: AccessToken): readonly string[] {
  if (scope === null) return [words.everything]
  const { actions, prefix, device_id: device, when_full: whenFull } = scope
  return [
    ...actions.map((action) => words.actions[action]),
    prefix === '' ? '' : words.within(prefix),
    device === null ? '' : words.ofDevice(device),
    whenFull === 'evict_oldest' ? words.evicting : '',
  ]
}
