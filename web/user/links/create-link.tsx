import { useState } from 'preact/hooks'
import { Choice } from '../../shared/choice.tsx'
import { CopyField } from '../../shared/copy-field.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { FormDialog } from '../../shared/form-dialog.tsx'
import type { LinkKind } from '../../shared/model.ts'
import { TermField, validityOf } from '../../shared/term-field.tsx'
import { TextField } from '../../shared/text-field.tsx'
import { messages } from '../../messages.ts'
import { linksEnglish } from '../../shared/link-english.ts'
import type { Permissions } from '../permissions.ts'
import type { Page } from '../user-page.ts'

const words = messages.links ?? linksEnglish

const NEEDS = { download: 'read', drop: 'create' } as const

/** The kinds of links that the token may make. */
export function permittedKinds({ may }: Permissions): readonly LinkKind[] {
  return (['download', 'drop'] as const).filter((kind) => may(NEEDS[kind]))
}

/** Offered validity in days; 0 means until revoked. */
const TERMS = [1, 7, 30, 0] as const

export interface CreateLinkProps {
  readonly page: Page
  /** The one file of the link; without it, the user chooses what the link is for. */
  readonly name?: string
  /** What the names of the files begin with, which the user can change. */
  readonly prefix?: string
  /** Called after the link was created, with its address. */
  readonly onCreated: (address: string) => void
  readonly onClose: () => void
}

/** Asks for the terms of a link, and creates it. */
export function CreateLink({ page, name, prefix: begin, onCreated, onClose }: CreateLinkProps) {
  const { client, connection, permissions } = page
  const kinds = permittedKinds(permissions)
  const [kind, setKind] = useState<LinkKind>(kinds[0] ?? 'download')
  const [prefix, setPrefix] = useState(begin ?? permissions.prefix())
  const [label, setLabel] = useState('')
  const [password, setPassword] = useState('')
  const [uses, setUses] = useState('')
  const terms = permissions.terms(TERMS)
  const [days, setDays] = useState<number>(terms.includes(7) ? 7 : 0)

  async function create(): Promise<void> {
    const common = {
      label: label.trim(),
      ...validityOf(days),
      ...(password !== '' && { password }),
      ...(uses.trim() !== '' && { max_uses: Number(uses) }),
    }
    const { secret } = await client.links.create(
      name === undefined
        ? { kind, prefix: permissions.within(prefix), ...common }
        : { kind: 'download', name, ...common },
    )
    // Not `url`: behind a proxy, the page knows better how it was reached.
    onCreated(connection.urlOf(`links/${secret}`))
    // Before the next dialog opens, so that the focus returns to what has opened this one.
    onClose()
  }

  const subject = name === undefined ? {} : { subject: name }
  return (
    <FormDialog
      title={words.create}
      {...subject}
      action={words.createAction}
      submit={create}
      onClose={onClose}
    >
      {name === undefined && (
        <>
          <fieldset class="radios">
            <legend>{words.kind}</legend>
            {kinds.map((each) => {
              const [title = '', hint = ''] = words.kinds[each]
              return (
                <Choice
                  key={each}
                  group="kind"
                  title={title}
                  hint={hint}
                  isChosen={kind === each}
                  onChange={() => setKind(each)}
                />
              )
            })}
          </fieldset>
          <TextField
            label={kind === 'drop' ? words.dropPrefix : words.prefix}
            hint={kind === 'drop' && prefix !== '' ? words.becomes(prefix) : words.prefixHint}
            value={prefix}
            onInput={setPrefix}
          />
        </>
      )}
      <TextField label={words.label} hint={words.labelHint} value={label} onInput={setLabel} />
      <TermField
        label={words.term}
        terms={terms}
        days={days}
        nameOf={words.days}
        onChange={setDays}
      />
      <TextField
        label={words.password}
        hint={words.passwordHint}
        value={password}
        onInput={setPassword}
      />
      <TextField
        label={words.uses}
        hint={words.usesHint}
        value={uses}
        type="number"
        onInput={setUses}
      />
    </FormDialog>
  )
}

/** Shows the address of a new link, once. */
export function CreatedLink({ address, onClose }: { address: string; onClose: () => void }) {
  const [said, setSaid] = useState('')
  return (
    <Dialog title={words.created} onClose={onClose}>
      <p>{words.once}</p>
      <CopyField label={words.link} value={address} words={words} said={said} onSaid={setSaid} />
    </Dialog>
  )
}
