import { useState } from 'preact/hooks'
import { Dialog } from '../../shared/dialog.tsx'
import { FormDialog } from '../../shared/form-dialog.tsx'
import { formatTime } from '../../shared/format.ts'
import { messages } from '../../messages.ts'
import { TextField } from '../form-fields.tsx'
import type { AccessToken } from '../model.ts'
import { Entry, SectionFrame, type SectionProps } from './section.tsx'

const words = messages.operator.tokens

export function TokenSection(props: SectionProps) {
  const [isIssuing, setIssuing] = useState(false)
  const [ending, setEnding] = useState<AccessToken>()
  const [secret, setSecret] = useState<string>()
  return (
    <>
      <SectionFrame
        title={words.title}
        empty={words.empty}
        add={words.issue}
        onAdd={() => setIssuing(true)}
      >
        {props.record.tokens.toReversed().map((token) => (
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
        <IssueToken {...props} onIssued={setSecret} onClose={() => setIssuing(false)} />
      )}
      {secret !== undefined && <IssuedToken secret={secret} onClose={() => setSecret(undefined)} />}
      {ending !== undefined && (
        <RevokeToken {...props} token={ending} onClose={() => setEnding(undefined)} />
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
    words.since(formatTime(since)),
    end === null ? words.forEver : (isOver ? words.expired : words.until)(formatTime(end)),
    used === null ? words.unused : words.used(formatTime(used)),
  ]
}

const DAY_SECONDS = 24 * 3600

/** Offered validity in days; 0 means until revoked. */
const TERMS = [1, 30, 365, 0] as const

interface IssueTokenProps extends SectionProps {
  readonly onIssued: (secret: string) => void
  readonly onClose: () => void
}

function IssueToken({ page, path, onChange, onIssued, onClose }: IssueTokenProps) {
  const [label, setLabel] = useState('')
  const [days, setDays] = useState<number>(30)

  async function issue(): Promise<void> {
    const json = { label: label.trim(), ...(days > 0 && { expires_in: days * DAY_SECONDS }) }
    const issued = await page.api.call<{ access_token: string }>(`${path}/access-tokens`, {
      method: 'POST',
      json,
    })
    // First, before anything else can fail: the token is shown only once.
    onIssued(issued.access_token)
    onChange()
  }

  return (
    <FormDialog title={words.issue} action={words.issueAction} submit={issue} onClose={onClose}>
      <TextField label={words.label} hint={words.labelHint} value={label} onInput={setLabel} />
      <fieldset class="radios">
        <legend>{words.term}</legend>
        {TERMS.map((term) => (
          <label key={term} class="radio">
            <input
              type="radio"
              name="term"
              checked={days === term}
              onChange={() => setDays(term)}
            />
            <span>{words.days(term)}</span>
          </label>
        ))}
      </fieldset>
    </FormDialog>
  )
}

/** Shows the token, once. */
function IssuedToken({ secret, onClose }: { secret: string; onClose: () => void }) {
  const [said, setSaid] = useState('')

  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(secret)
      setSaid(words.copied)
    } catch {
      setSaid(words.notCopied)
    }
  }

  return (
    <Dialog title={words.issued} onClose={onClose}>
      <p>{words.once}</p>
      <label for="issued">{messages.signIn.label}</label>
      <div class="link">
        <input
          id="issued"
          class="field"
          readOnly
          value={secret}
          onFocus={(event) => event.currentTarget.select()}
        />
        <button type="button" class="button button-main" onClick={() => void copy()}>
          {words.copy}
        </button>
      </div>
      <p class="said" role="status">
        {said}
      </p>
    </Dialog>
  )
}

interface RevokeTokenProps extends SectionProps {
  readonly token: AccessToken
  readonly onClose: () => void
}

function RevokeToken({ page, path, token, onChange, onClose }: RevokeTokenProps) {
  async function revoke(): Promise<void> {
    const id = encodeURIComponent(token.token_id)
    await page.api.call(`${path}/access-tokens/${id}`, { method: 'DELETE' })
    onChange()
  }

  return (
    <FormDialog
      title={words.revokeTitle}
      subject={nameOf(token)}
      action={words.revoke}
      isGrave
      submit={revoke}
      onClose={onClose}
    >
      <p>{words.revokeText}</p>
    </FormDialog>
  )
}
