import { useState } from 'preact/hooks'
import type { AccessTokenTerms, Tokens } from '../../../packages/js/src/client.ts'
import { Choice } from '../choice.tsx'
import { FormDialog } from '../form-dialog.tsx'
import type { OwnToken, TokenAction, TokenScope } from '../model.ts'
import { permits, termsWithin, within } from '../token-scope.ts'
import { TermField, validityOf } from '../term-field.tsx'
import { TextField } from '../text-field.tsx'
import { messages } from '../../messages.ts'

const words = messages.tokens

/** Offered validity in days; 0 means until revoked. */
const TERMS = [1, 30, 365, 0] as const

/** What is offered; the API has more combinations. */
const PRESETS = {
  all: undefined,
  camera: ['create'],
  read: ['read'],
  sync: ['read', 'create', 'replace', 'delete'],
} as const satisfies Readonly<Record<string, readonly TokenAction[] | undefined>>

const EVICTING = { when_full: 'evict_oldest' } as const

export type Preset = keyof typeof PRESETS

const PRESET_NAMES = Object.keys(PRESETS) as readonly Preset[]

export interface IssueTokenProps {
  readonly tokens: Tokens
  readonly title: string
  readonly preset?: Preset
  /** The token that makes it, which limits it. */
  readonly parent?: OwnToken | undefined
  readonly onChange: () => void
  readonly onIssued: (secret: string) => void
  readonly onClose: () => void
}

export function IssueToken(props: IssueTokenProps) {
  const { tokens, title, parent, onChange, onIssued, onClose } = props
  const limit = parent?.scope ?? null
  const presets = PRESET_NAMES.filter((name) => isWithin(limit, name))
  const terms = termsWithin(parent, TERMS)
  const [label, setLabel] = useState('')
  const [preset, setPreset] = useState(presets.find((name) => name === props.preset) ?? 'all')
  const [prefix, setPrefix] = useState(limit?.prefix ?? '')
  const [evicts, setEvicts] = useState(false)
  const [days, setDays] = useState<number>(terms.includes(30) ? 30 : 0)

  async function issue(): Promise<void> {
    const actions = PRESETS[preset]
    const ownPrefix = within(limit, prefix)
    const scope = {
      ...(actions && { actions }),
      ...(ownPrefix !== '' && { prefix: ownPrefix }),
      ...(evicts && EVICTING),
    }
    const terms: AccessTokenTerms = {
      label: label.trim(),
      ...validityOf(days),
      ...(Object.keys(scope).length > 0 && { scope }),
    }
    const issued = await tokens.create(terms)
    // First, before anything else can fail: the token is shown only once.
    onIssued(issued.access_token)
    // Before the next dialog opens, so that the focus returns to what has opened this one.
    onClose()
    onChange()
  }

  return (
    <FormDialog title={title} action={words.issueAction} submit={issue} onClose={onClose}>
      <TextField label={words.label} hint={words.labelHint} value={label} onInput={setLabel} />
      <fieldset class="radios">
        <legend>{words.permits}</legend>
        {presets.map((name) => {
          const [title = '', hint = ''] = wordsOf(limit, name)
          return (
            <Choice
              key={name}
              group="permits"
              title={title}
              hint={hint}
              isChosen={preset === name}
              onChange={() => setPreset(name)}
            />
          )
        })}
      </fieldset>
      <TextField label={words.prefix} hint={words.prefixHint} value={prefix} onInput={setPrefix} />
      {mayEvict(limit) && (
        <Choice
          title={words.evicts}
          hint={words.evictsHint}
          isChosen={evicts}
          onChange={() => setEvicts(!evicts)}
        />
      )}
      <TermField
        label={words.term}
        terms={terms}
        days={days}
        nameOf={words.days}
        onChange={setDays}
      />
    </FormDialog>
  )
}

function isWithin(limit: TokenScope | null, preset: Preset): boolean {
  const actions: readonly TokenAction[] = PRESETS[preset] ?? []
  return actions.every((action) => permits(limit, action))
}

function wordsOf(limit: TokenScope | null, preset: Preset): readonly string[] {
  return limit !== null && preset === 'all' ? [words.inherited] : words.presets[preset]
}

function mayEvict(limit: TokenScope | null): boolean {
  const mayPurge = permits(limit, 'delete') && permits(limit, 'history')
  return mayPurge || limit?.when_full === 'evict_oldest'
}
