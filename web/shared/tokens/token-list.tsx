import { useState } from 'preact/hooks'
import type { IssuedAccessToken, Tokens } from '../../../packages/js/src/client.ts'
import { DeleteDialog } from '../delete-dialog.tsx'
import { deviceName } from '../devices/device.ts'
import { isMarker, plainName } from '../folder.ts'
import { formatTime } from '../format.ts'
import type { AccessToken, DeviceUse, OwnToken } from '../model.ts'
import { Entry, SectionFrame } from '../section.tsx'
import { messages } from '../../messages.ts'
import { IssuedToken } from './issued-token.tsx'
import { IssueToken } from './issue-token.tsx'
import type { Preset } from './presets.ts'
import { words } from './words.ts'

export interface TokenListProps {
  /** Those of the user. */
  readonly tokens: Tokens
  /** Oldest first. */
  readonly entries: readonly AccessToken[]
  /** The devices of the account. */
  readonly devices: readonly DeviceUse[]
  /** The base URL of the service for devices, where it is known. */
  readonly address?: string | undefined
  /** Whether tokens can be neither made nor revoked. */
  readonly isFixed?: boolean
  readonly title?: string
  readonly hint?: string
  /** The label of the button that makes a token. */
  readonly add?: string
  /** What a new token permits unless another choice is made; everything by default. */
  readonly preset?: Preset
  /** The token that makes others, which permit no more. */
  readonly parent?: OwnToken | undefined
  /** Called after a change, to read the tokens again. */
  readonly onChange: () => void
}

/** The access tokens of a user, newest first, to issue and to revoke. */
export function TokenList(props: TokenListProps) {
  const { tokens, entries, devices, title = words.title, hint, preset = 'all', onChange } = props
  const { address, add = words.issue, parent, isFixed = false } = props
  const [isIssuing, setIssuing] = useState(false)
  const [ending, setEnding] = useState<AccessToken>()
  const [issued, setIssued] = useState<IssuedAccessToken>()
  return (
    <>
      <SectionFrame
        title={title}
        hint={hint}
        empty={words.empty}
        add={isFixed ? undefined : add}
        onAdd={() => setIssuing(true)}
      >
        {entries.toReversed().map((token) => (
          <Entry
            key={token.token_id}
            icon="lock"
            name={nameOf(token)}
            details={detailsOf(token, devices)}
            {...(token.revoked_at === null &&
              !isFixed && {
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
        <IssueToken
          tokens={tokens}
          title={add}
          preset={preset}
          devices={devices}
          entries={entries}
          parent={parent}
          onChange={onChange}
          onIssued={setIssued}
          onClose={() => setIssuing(false)}
        />
      )}
      {issued !== undefined && (
        <IssuedToken issued={issued} address={address} onClose={() => setIssued(undefined)} />
      )}
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

function detailsOf(token: AccessToken, devices: readonly DeviceUse[]): readonly string[] {
  const { created_at: since, expires_at: end, revoked_at: revoked, last_used_at: used } = token
  if (revoked !== null) return [words.revoked(formatTime(revoked))]
  const isOver = end !== null && Date.parse(end) <= Date.now()
  return [
    ...scopeWords(token, devices),
    end === null ? words.forEver : (isOver ? words.expired : words.until)(formatTime(end)),
    words.since(formatTime(since)),
    used === null ? words.unused : words.used(formatTime(used)),
  ]
}

function scopeWords({ scope }: AccessToken, devices: readonly DeviceUse[]): readonly string[] {
  if (scope === null) return [words.everything]
  const { actions, prefix, device_id: id, when_full: whenFull } = scope
  const device = devices.find((each) => each.device_id === id)
  return [
    id === null ? '' : words.ofDevice(device === undefined ? id : deviceName(device)),
    prefix === '' ? '' : namesWords(prefix),
    ...actions.map((action) => messages.limits.actions[action]),
    whenFull === 'evict_oldest' ? words.evicting : '',
  ]
}

function namesWords(prefix: string): string {
  return isMarker(prefix) ? words.inFolder(plainName(prefix)) : words.within(prefix)
}
